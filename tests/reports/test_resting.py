"""A pass names the assumptions with another value of which the property may fail."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from proofka.model.deployment import ASSUMPTIONS, KNOWN_PROPERTIES, read_deployment, read_properties
from proofka.properties.verdict import Result, Status, TimingLemma
from proofka.reports import wording
from proofka.reports.inherent import table
from proofka.reports.resting import count_of_assumptions, resting
from proofka.reports.terminal import print_brief_verdicts
from tests.checker.test_cli import proofka
from tests.reports import samples

LATEST = 'kafka: "4.0"\ntopic: {replicas: 3, min.insync.replicas: 2}\nconsumer: {group.id: g, %s}\n'


def told(tmp_path: Path, consumer: str, status: Status = Status.HOLDS) -> str:
    file = tmp_path / "d.yaml"
    file.write_text(LATEST % consumer, encoding="utf-8")
    verdicts = (samples.verdict("no-skip", status, required=True),)
    return " ".join(resting(read_deployment(file), Result(verdicts, samples.ENGINE, (), {})))


def test_the_table_names_existing_assumptions_only() -> None:
    for row in table("resting"):
        assumption = ASSUMPTIONS[row["assumption"]]
        assert row["worse"] in assumption.values
        assert row["worse"] != assumption.default
        assert set(row["properties"].split()) <= set(KNOWN_PROPERTIES)


def test_a_group_that_is_assumed_to_have_offsets_is_named(tmp_path: Path) -> None:
    assert "the group has committed offsets from the start (group=established)" in told(
        tmp_path, "auto.offset.reset: latest"
    )
    assert "commit=after" not in told(tmp_path, "auto.offset.reset: latest")
    assert "commit=after" in told(tmp_path, "enable.auto.commit: false")


def test_assumptions_without_effect_or_given_are_not_named(tmp_path: Path) -> None:
    assert "group=" not in told(tmp_path, "auto.offset.reset: earliest")
    assert "group=" not in told(tmp_path, "auto.offset.reset: latest, group: established")
    assert told(tmp_path, "auto.offset.reset: latest", Status.VIOLATED) == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("consumer", "property_", "worse"),
    [
        ("auto.offset.reset: latest", "no-skip", "group=new"),
        ("auto.offset.reset: earliest", "no-skip", "processing=handed-off"),
        ("auto.offset.reset: earliest", "no-skip", "on_processing_error=skip"),
        ("enable.auto.commit: false", "no-skip", "commit=before"),
        ("enable.auto.commit: false", "no-log-duplicate", "on_restart=resend"),
    ],
)
def test_property_fails_with_the_worse_value(consumer: str, property_: str, worse: str, tmp_path: Path) -> None:
    file = tmp_path / "d.yaml"
    file.write_text(LATEST % consumer, encoding="utf-8")
    asked = ("check", file, "--require", property_, "--faults", "1", "--quiet")
    assert proofka(*asked).exit_code == 0
    assert proofka(*asked, "--assume", worse).exit_code == 1


def test_deletion_for_size_is_named_on_the_first_screen(tmp_path: Path) -> None:
    """Semantics 10: no file tells how soon the log reaches retention.bytes."""
    file = tmp_path / "d.yaml"
    for size, is_named in (("1000", True), ("-1", False)):
        text = LATEST.replace("replicas: 3", f"replicas: 3, retention.bytes: {size}") % "auto.offset.reset: earliest"
        file.write_text(text, encoding="utf-8")
        lemma = TimingLemma(("a",), ("b",), "2 > 1")
        verdicts = (samples.verdict("no-skip", Status.HOLDS, required=True, lemmas=(lemma,)),)
        out = Console(file=io.StringIO(), width=200, markup=False, highlight=False)
        result = Result(verdicts, samples.ENGINE, (), {})
        print_brief_verdicts(out, read_deployment(file), result, repair="proofka repair")
        assert isinstance(out.file, io.StringIO)
        screen = out.file.getvalue()
        assert ("before retention.ms expires and before retention.bytes deletes the record" in screen) is is_named
        assert ("consumers read each record before retention.bytes deletes the record" in screen) is is_named


@pytest.mark.parametrize("consumer", ["max.poll.records: 1", "enable.auto.commit: false"])
def test_a_group_that_no_file_gives_is_the_first_assumption(tmp_path: Path, consumer: str) -> None:
    begins = (
        "no-skip holds under assumptions that no file states (--assume): the application sets group.id, which no file "
        "gives (without it, subscribe() and commits fail with InvalidGroupIdException)"
    )
    file = tmp_path / "d.yaml"
    file.write_text(LATEST.replace("group.id: g, ", "") % consumer, encoding="utf-8")
    properties = tmp_path / "consumer.properties"
    properties.write_text(consumer.replace(": ", "="), encoding="utf-8")
    for deployment in (
        read_deployment(file),
        read_properties(kafka="4.0", consumer=properties, assume={"replicas": "3"}),
    ):
        verdicts = (samples.verdict("no-skip", Status.HOLDS, required=True),)
        assert " ".join(resting(deployment, Result(verdicts, samples.ENGINE, (), {}))).startswith(begins)
        (group,) = (one for one in deployment.settings if one.key == "group.id")
        assert wording.origin(group.origin).startswith("assumed")
    assert "group.id" not in told(tmp_path, consumer)


def test_a_consumer_without_need_of_a_group_assumes_none(tmp_path: Path) -> None:
    file = tmp_path / "d.yaml"
    file.write_text(LATEST.replace("group.id: g, ", "") % "sink: transactional", encoding="utf-8")
    assert not any(one.key == "group.id" for one in read_deployment(file).settings)


@pytest.mark.slow
def test_the_short_answer_counts_the_assumptions(tmp_path: Path) -> None:
    file = tmp_path / "d.yaml"
    file.write_text(LATEST % "auto.offset.reset: earliest", encoding="utf-8")
    said = proofka("check", file, "--require", "no-skip", "--faults", "1", "--quiet").output
    assert "under 2 assumptions that no file states" in said


def test_an_assumption_behind_several_properties_counts_once(tmp_path: Path) -> None:
    file = tmp_path / "d.yaml"
    file.write_text(LATEST % "group: established, enable.auto.commit: false", encoding="utf-8")
    verdicts = tuple(samples.verdict(name, Status.HOLDS, required=True) for name in ("no-skip", "no-loss"))
    verdicts += (samples.verdict("no-log-duplicate", Status.HOLDS),)
    deployment, result = read_deployment(file), Result(verdicts, samples.ENGINE, (), {})
    (line,) = resting(deployment, result)
    assert count_of_assumptions(deployment, result) == line.count("=")
