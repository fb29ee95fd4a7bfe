"""What is waited for is waited for long enough: a deadline that nothing can keep would hide what happens after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.check import check
from checker.granted import READ_IN_TIME
from model.deployment import read_deployment
from properties.verdict import Status, Verdict

QUICK_RESTART = """\
kafka: "{kafka}"
topic: {{replicas: 3, min.insync.replicas: 2}}
producer: {{acks: 1, delivery.timeout.ms: 5000, request.timeout.ms: 3000, on_send_error: drop}}
assume: {{broker_restart: {away}, faults: {{total: 1, kill: 1}}}}
bounds: {{records: 1}}
require: [no-acked-loss]
"""

RETENTION = """\
kafka: "4.0"
topic: {{replicas: 1, retention.ms: {retention}}}
producer: {{acks: all}}
consumer: {{group.id: orders, auto.offset.reset: earliest, enable.auto.commit: false}}
assume: {{application_restart: 1s..{away}, poll_interval: 0..{polls}, broker_restart: {broker}, faults: {{{faults}}}}}
bounds: {{records: 1}}
require: [no-loss]
"""


def required(folder: Path, text: str) -> Verdict:
    file = folder / "asked.yaml"
    file.write_text(text, encoding="utf-8")
    (found,) = [verdict for verdict in check(read_deployment(file)).verdicts if verdict.required]
    return found


@pytest.mark.parametrize("kafka", ["3.9", "4.0"])
@pytest.mark.parametrize("away", ["0..0", "1s..5s", "1s..unbounded"])
def test_a_broker_that_is_back_before_its_session_is_over_waits_for_its_end(
    tmp_path: Path, kafka: str, away: str
) -> None:
    verdict = required(tmp_path, QUICK_RESTART.format(kafka=kafka, away=away))
    assert (verdict.status, verdict.cut_sets) == (Status.VIOLATED, ((("kill", 1),),))


def kept_for(retention: str, faults: str, polls: str = "1s", away: str = "1d", broker: str = "1s..1h") -> str:
    return RETENTION.format(retention=retention, faults=faults, polls=polls, away=away, broker=broker)


@pytest.mark.parametrize("faults", ["total: 1, consumer-crash: 1", "total: 1, kill: 1", "total: 0"])
def test_a_poll_that_comes_too_late_needs_no_fault(tmp_path: Path, faults: str) -> None:
    verdict = required(tmp_path, kept_for("600000", faults, polls="unbounded"))
    assert (verdict.status, verdict.cut_sets) == (Status.VIOLATED, ((),))


@pytest.mark.parametrize(("crashes", "status"), [(2, Status.HOLDS), (3, Status.VIOLATED)])
def test_outages_in_a_row_add_up(tmp_path: Path, crashes: int, status: Status) -> None:
    """Sixty hours; each outage takes a day."""
    verdict = required(tmp_path, kept_for("216000000", f"total: {crashes}, consumer-crash: {crashes}"))
    assert verdict.status is status
    assert READ_IN_TIME not in verdict.notes


@pytest.mark.parametrize(("polls", "lost"), [("1s", False), ("2min", True)])
def test_a_record_ages_from_its_own_send(tmp_path: Path, polls: str, lost: bool) -> None:
    """That it may wait in the client for delivery.timeout.ms makes no record older than it is."""
    verdict = required(tmp_path, kept_for("180000", "total: 1, lost-response: 1", polls=polls))
    assert (verdict.cut_sets == ((),)) is lost


def test_outages_of_any_number_can_outlast_any_retention(tmp_path: Path) -> None:
    verdict = required(tmp_path, kept_for("604800000", "consumer-crash: any", away="2d"))
    assert verdict.status is Status.UNKNOWN
    assert any("any number" in note for note in verdict.notes)


@pytest.mark.parametrize(("broker", "assumed"), [("1s..1h", False), ("1s..14d", True), ("1s..unbounded", True)])
def test_a_pass_says_that_outages_of_brokers_are_taken_to_be_short(tmp_path: Path, broker: str, assumed: bool) -> None:
    verdict = required(tmp_path, kept_for("604800000", "total: 1, kill: 1", broker=broker))
    assert verdict.status is Status.HOLDS
    assert (READ_IN_TIME in verdict.notes) is assumed
