"""The terminal during a search for repairs."""

from __future__ import annotations

import io
from types import SimpleNamespace

from rich.console import Console

from model.deployment.changing import strengthenings
from reports.repair_progress import RepairProgress

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
