"""The lessons of examples/time: what violates each property there, and from which value of a setting on it holds."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from proofka.checker.budget import Budget
from proofka.checker.check import check, explore
from proofka.checker.thresholds import thresholds
from proofka.model.deployment import Deployment
from proofka.model.deployment.choices import OffsetReset, Sink
from proofka.model.deployment.duration_settings import OF_JAVA
from proofka.model.deployment.implied.commits import offsets_expire
from proofka.model.deployment.yaml_reader import read_deployment
from proofka.model.durations import Quantity
from proofka.properties.verdict import Result, Status, Threshold, Verdict
from tests.deployments import changed

EXAMPLES = Path(__file__).parents[3] / "examples" / "time"


def deployment_of(name: str) -> Deployment:
    return read_deployment(EXAMPLES / f"{name}.yaml")


@cache
def checked(name: str) -> Result:
    return check(deployment_of(name))


def required(name: str) -> Verdict:
    (found,) = [verdict for verdict in checked(name).verdicts if verdict.required]
    return found


@pytest.mark.parametrize(
    ("name", "faults"),
    [
        ("three-retries", {"kill": 1}),
        pytest.param("short-delivery-timeout", {"kill": 1}, marks=pytest.mark.slow),
        pytest.param("short-retention", {"consumer-crash": 1}, marks=pytest.mark.slow),
        pytest.param("lagging-follower-dropped", {"kill": 1, "slow-follower": 1}, marks=pytest.mark.slow),
        ("expired-offsets", {"consumer-crash": 1}),
        pytest.param("slow-workers", {"consumer-crash": 1}, marks=pytest.mark.slow),
        ("flush-ms", {"power-loss": 1}),
    ],
)
def test_violated_with_a_timed_trace(name: str, faults: dict[str, int]) -> None:
    verdict = required(name)
    assert verdict.status is Status.VIOLATED
    assert [dict(cut_set) for cut_set in verdict.cut_sets] == [faults]
    times = [step.at for step in verdict.traces[0].steps]
    assert None not in times
    assert times == sorted(time for time in times if time is not None)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["delivery-timeout", "lagging-follower-kept", "quick-workers", "long-retention"])
def test_holds_in_time(name: str) -> None:
    verdict = required(name)
    assert verdict.status is Status.HOLDS
    assert verdict.lemmas


def test_retention_that_no_outage_comes_near_is_no_part_of_the_model() -> None:
    deployment = deployment_of("long-retention")
    times = replace(deployment.durations, retention=Quantity("retention.ms", 864_000_000, 864_000_000))
    result = check(replace(deployment, durations=times))
    assert [(v.status, v.lemmas) for v in result.verdicts if v.required] == [(Status.HOLDS, ())]


def texts(name: str) -> list[tuple[int | None, str]]:
    return [(step.at, step.text) for step in required(name).traces[0].steps]


@pytest.mark.slow
def test_three_refusals_a_backoff_apart() -> None:
    refused = [at for at, text in texts("three-retries") if "NOT_LEADER" in text]
    assert len(refused) == 3
    assert [later - earlier for earlier, later in pairwise(at for at in refused if at is not None)] == [160, 320]


def test_given_up_when_the_delivery_timeout_is_over() -> None:
    assert [at for at, text in texts("short-delivery-timeout") if "gives up" in text] == [5_000]


@pytest.mark.slow
@pytest.mark.parametrize("reset", ["earliest", "latest", "none"])
def test_records_deleted_unread_are_lost_whatever_the_reset(reset: str) -> None:
    deployment = deployment_of("short-retention")
    result = check(changed(deployment, offset_reset=OffsetReset(reset)))
    (loss,) = [verdict for verdict in result.verdicts if verdict.required]
    assert loss.status is Status.VIOLATED
    deleted = [step.at for step in loss.traces[0].steps if "older than retention.ms" in step.text]
    assert deleted and min(at or 0 for at in deleted) >= 86_400_000


@pytest.mark.slow
def test_earliest_reads_records_again_whose_offsets_a_group_has_forgotten() -> None:
    deployment = deployment_of("expired-offsets")
    result = check(changed(deployment, offset_reset=OffsetReset.EARLIEST))
    assert [verdict.status for verdict in result.verdicts if verdict.required] == [Status.HOLDS]


@pytest.mark.slow
def test_offsets_that_no_outage_outlasts_do_not_expire() -> None:
    deployment = deployment_of("expired-offsets")
    assert offsets_expire(deployment)
    times = replace(deployment.durations, application_restart=Quantity("application_restart", 1_000, 604_799_999))
    kept = replace(deployment, durations=times)
    assert not offsets_expire(kept)
    assert [verdict.status for verdict in check(kept).verdicts if verdict.required] == [Status.HOLDS]


def test_offsets_that_the_sink_keeps_do_not_expire() -> None:
    assert not offsets_expire(changed(deployment_of("expired-offsets"), sink=Sink.TRANSACTIONAL))


def test_flush_ms_changes_nothing() -> None:
    """The same verdicts, with the same ids."""
    with_it = deployment_of("flush-ms")
    (ignored,) = with_it.ignored
    assert (ignored.key, "without log.flush.scheduler.interval.ms none happens" in ignored.reason) == (
        "flush.ms",
        True,
    )
    without = replace(with_it, ignored=())
    assert check(without).verdicts == checked("flush-ms").verdicts


def turning(name: str) -> dict[str, Threshold]:
    run = explore(deployment_of(name), Budget())
    found = thresholds(run, run.verdicts(), Budget(), threading.Event())
    return {one.setting: one for one in found}


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        pytest.param("delivery-timeout", "delivery.timeout.ms", marks=pytest.mark.slow),
        pytest.param("short-delivery-timeout", "delivery.timeout.ms", marks=pytest.mark.slow),
        pytest.param("lagging-follower-kept", "replica.lag.time.max.ms", marks=pytest.mark.slow),
        pytest.param("lagging-follower-dropped", "replica.lag.time.max.ms", marks=pytest.mark.slow),
        pytest.param("short-retention", "retention.ms", marks=pytest.mark.slow),
        pytest.param("expired-offsets", "offsets.retention.minutes", marks=pytest.mark.slow),
    ],
)
def test_thresholds_are_exact_and_hold_against_the_checker(name: str, setting: str) -> None:
    found = turning(name)[setting]
    assert found.holds_at == found.violated_at + 1
    needed, more, allowed = found.because.partition(" > ")
    assert more and f"{setting} {found.holds_at:,}" in needed + allowed
    field = next(field for field, (_, key, _) in OF_JAVA.items() if key == setting)
    for value, status in ((found.holds_at, Status.HOLDS), (found.violated_at, Status.VIOLATED)):
        deployment = deployment_of(name)
        times = replace(deployment.durations, **{field: Quantity(setting, value, value)})
        result = check(replace(deployment, durations=times))
        assert [v.status for v in result.verdicts if v.required] == [status]


@pytest.mark.slow
def test_both_sides_agree_on_the_threshold() -> None:
    """From above and from below it is the same value, where nothing else differs."""
    kept, dropped = turning("lagging-follower-kept"), turning("lagging-follower-dropped")
    setting = "replica.lag.time.max.ms"
    assert kept[setting].holds_at == dropped[setting].holds_at


IDEMPOTENT_LIBRDKAFKA = """
kafka: "4.0"
topic: {replicas: 3, min.insync.replicas: 2}
producer: {client: librdkafka, version: "2.6", settings: {enable.idempotence: true}}
consumer: {group.id: orders, auto.offset.reset: earliest, enable.auto.commit: false}
require: [no-log-duplicate]
assume: {faults: {total: 1}}
"""


@pytest.mark.slow
def test_lemmas_of_a_send_that_may_take_minutes_are_all_monitored(tmp_path: Path) -> None:
    """The timeout of 300 s leaves room for much else, so its contradictions are many: 696 differences are monitored."""
    file = tmp_path / "librdkafka.yaml"
    file.write_text(IDEMPOTENT_LIBRDKAFKA)
    found = {verdict.property: verdict for verdict in check(read_deployment(file)).verdicts}
    assert {verdict.status for verdict in found.values()} <= {Status.HOLDS, Status.VIOLATED}
    assert [dict(cut_set) for cut_set in found["no-log-duplicate"].cut_sets] == [{"cut-off": 1}]
