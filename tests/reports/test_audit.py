"""An audit on a terminal: its summary at several widths, and its progress."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proofka.properties.audited import AuditProgress, AuditSummary, PropertyCount, Stage
from proofka.properties.verdict import Status
from proofka.reports import wording
from proofka.reports.audit import AuditReport, answer
from proofka.reports.progress import ProgressLine, ProgressLog, describe
from tests.reports.test_terminal import matches, sheet, text_of

KILL, SLOW = (("kill", 1),), (("kill", 1), ("slow-follower", 2))
SUMMARY = AuditSummary(
    deployments=2304,
    rejected=130,
    reasons=(
        (
            "acks: refused by the Java producer 4.0 with ConfigException: acks must be all with idempotence (rule P02)",
            128,
        ),
        ("kafka: \x1b[31mis no release", 2),
    ),
    more_reasons=3,
    systems=96,
    explored=90,
    properties=(
        PropertyCount("no-acked-loss", {Status.VIOLATED: 960, Status.HOLDS: 1344}, 2304, ((KILL, 768), (SLOW, 192)), 4),
        PropertyCount("no-skip", {Status.HOLDS: 2304}, 1, (), 0),
        PropertyCount("recoverability", {Status.HOLDS: 1152, Status.UNKNOWN: 1152}, 0, (), 0),
        PropertyCount("processing-order", {Status.VIOLATED: 2304}, 0, (((), 2304),), 0),
    ),
    worst={Status.VIOLATED: 960, Status.HOLDS: 1344},
    seconds=252.4,
)


def shown(summary: AuditSummary, width: int) -> str:
    out = sheet(width)
    out.print(AuditReport(summary))
    return text_of(out)


@pytest.mark.parametrize("width", [60, 80])
def test_golden(width: int) -> None:
    text = shown(SUMMARY, width)
    assert max(map(len, text.splitlines())) <= width
    assert "\x1b" not in text
    matches(f"audit-{width}.txt", text)


def test_passes_with_known_defects_beside_are_counted() -> None:
    assert "known defects" not in shown(SUMMARY, 80)
    text = " ".join(shown(replace(SUMMARY, with_known_defects=1344), 80).split())
    assert "Of 1,344 deployments, a required property holds that known defects of their releases" in text


def test_statuses_that_nothing_has_take_no_room() -> None:
    assert "vacuous" not in shown(SUMMARY, 80)
    vacuous = replace(SUMMARY.properties[1], statuses={Status.VACUOUS: 7})
    assert "vacuous" in shown(replace(SUMMARY, properties=(vacuous,)), 80)


@pytest.mark.parametrize(
    ("worst", "deployments", "said"),
    [
        ({Status.HOLDS: 2}, 2, "Of 2 deployments, 2 cannot violate any required property within the bounds."),
        ({Status.VACUOUS: 1, Status.UNKNOWN: 1}, 2, "1 could not be decided and 1 can pass only because"),
        ({}, 2, "Of 2 deployments, none requires anything."),
        ({}, 0, "No row could be read as a deployment."),
    ],
)
def test_answers(worst: dict[Status, int], deployments: int, said: str) -> None:
    assert said in answer(replace(SUMMARY, worst=worst, deployments=deployments))


def test_only_a_clean_audit_is_green() -> None:
    def colour(summary: AuditSummary) -> str:
        out = sheet(80, terminal=True)
        out.print(AuditReport(replace(summary, properties=(), reasons=())))
        return "red" if "31m" in text_of(out) else "green" if "32m" in text_of(out) else "yellow"

    assert colour(SUMMARY) == "red"
    clean = replace(SUMMARY, worst={Status.HOLDS: 2304}, rejected=0)
    assert colour(clean) == "green"
    for other in (
        replace(clean, rejected=1),
        replace(clean, deployments=0, worst={}),
        replace(clean, worst={Status.HOLDS: 1, Status.VACUOUS: 1}),
    ):
        assert colour(other) == "yellow"


@pytest.mark.parametrize(
    ("progress", "line"),
    [
        (AuditProgress(Stage.STARTING), "starting Spark"),
        (AuditProgress(Stage.READING), "reading deployments"),
        (AuditProgress(Stage.SIGNING, 12, 1440), "comparing systems: 12 of 1,440 configurations"),
        (AuditProgress(Stage.EXPLORING, 57, 130, 12), "57 of 130 systems explored, 12 violate a required property"),
        (
            AuditProgress(Stage.EXPLORING, 57, 130, 12, 170.0),
            "57 of 130 systems explored, 12 violate a required property, about 3 min left",
        ),
        (AuditProgress(Stage.WRITING), "writing the tables"),
    ],
)
def test_progress(progress: AuditProgress, line: str) -> None:
    assert describe(progress) == line
    watched = sheet(100, terminal=True)
    with ProgressLine(watched) as show:
        show(progress)
    assert line in text_of(watched)
    piped = sheet(100)
    with ProgressLine(piped) as show:
        assert not show.is_shown
        show(progress)
    assert text_of(piped) == ""


@pytest.mark.parametrize(
    ("seconds", "about", "exact"),
    [
        (0.2, "about 10 s", "0 s"),
        (41.0, "about 50 s", "41 s"),
        (60.0, "about 60 s", "1 min 0 s"),
        (95.0, "about 2 min", "1 min 35 s"),
        (5000.0, "about 84 min", "1 h 23 min"),
        (9000.0, "about 2 h", "2 h 30 min"),
    ],
)
def test_times(seconds: float, about: str, exact: str) -> None:
    """Estimated times are rounded up to coarse units."""
    assert wording.about(seconds) == about
    assert wording.duration(seconds) == exact


@pytest.mark.parametrize("stage", Stage)
def test_every_stage_is_told(stage: Stage) -> None:
    assert describe(AuditProgress(stage, 3, 5, 1, 300.0)).endswith("about 5 min left")


def test_a_log_has_a_line_for_each_stage_that_counts() -> None:
    """A short audit prints nothing, and a long audit is not silent."""
    out = sheet(30)
    log = ProgressLog(out, every=3600)
    for stage, done, total in ((Stage.READING, 0, 0), (Stage.EXPLORING, 0, 96), (Stage.EXPLORING, 9, 96)):
        log(AuditProgress(stage, done, total))
    log(AuditProgress(Stage.SPREADING, 1, 2))
    assert text_of(out).splitlines() == [
        describe(AuditProgress(s, d, t)) for s, d, t in ((Stage.EXPLORING, 0, 96), (Stage.SPREADING, 1, 2))
    ]
    out = sheet(30)
    log = ProgressLog(out, every=0)
    for done in range(3):
        log(AuditProgress(Stage.EXPLORING, done, 96))
    assert len(text_of(out).splitlines()) == 3
