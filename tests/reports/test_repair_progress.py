"""The terminal during a search for repairs."""

from __future__ import annotations

import io
from dataclasses import replace
from types import SimpleNamespace

from rich.console import Console

from proofka.model.deployment.changing import strengthenings
from proofka.properties.verdict import CutSet, Status, Trace
from proofka.reports.repair_progress import RepairProgress
from tests.reports import samples

ACKS = next(change for change in strengthenings() if str(change) == "producer.acks=all")


def shown(*, terminal: bool) -> str:
    text = io.StringIO()
    with RepairProgress(Console(file=text, force_terminal=terminal, color_system=None, width=120)) as progress:
        progress.trying([ACKS])
        progress.tried([ACKS], ["no-loss"])
        progress.tried([ACKS], [])
        for needed in (False, True):
            progress.found(SimpleNamespace(changes=[ACKS], mends=["no-acked-loss"], needed=needed))
    return text.getvalue()


def test_tried_and_found_changes_are_printed_once() -> None:
    text = shown(terminal=True)
    assert text.count("producer.acks=all: leaves no-loss") == 1
    assert text.count("found: producer.acks=all; no-acked-loss holds; looking for cheaper repairs") == 1
    assert text.count("found:") == 1


def test_a_file_has_nothing_of_the_search() -> None:
    assert shown(terminal=False) == ""


def told_of(faults: CutSet) -> str:
    """Return the text for the unchanged deployment, told twice, where these faults violate a property."""
    traces = (Trace(faults, (samples.SEND,), "it failed"),)
    verdict = samples.verdict("no-acked-loss", Status.VIOLATED, cut_sets=(faults,), traces=traces)
    text = io.StringIO()
    with RepairProgress(Console(file=text, force_terminal=True, color_system=None, width=200)) as progress:
        for _ in range(2):
            progress.unchanged(replace(samples.HARMLESS, verdicts=(verdict,)))
    return text.getvalue()


def test_a_fault_that_can_be_prevented_is_told_before_any_change_is_tried() -> None:
    text = told_of((("refused-record", 1),))
    assert text.count("found: send records that are smaller than max.message.bytes of the topic") == 1
    assert text.count("a fault that violates no-acked-loss is prevented then") == 1
    assert "found" not in told_of((("kill", 1),))
