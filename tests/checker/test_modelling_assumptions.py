"""A modelling assumption is printed where the settings come near to it, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofka.checker.modelling_assumptions import (
    CAUGHT_UP_SOON,
    COMMITS_LAST,
    COORDINATOR_IS_ASKED,
    COORDINATOR_LASTS,
    COORDINATOR_STAYS,
    DELETES_READ_IN_TIME,
    DELETES_WHAT_IS_COMMITTED,
    EPOCHS_SURVIVE,
    ERRORS_BEFORE_THE_END,
    EVERYTHING,
    FETCHED_IN_TIME,
    FETCHES_NAME_INCARNATIONS,
    FORWARDED_IN_ORDER,
    GOES_BACK_TO_THE_END,
    HEARD_IN_TIME,
    INPUT_LASTS,
    KEYS_OF_THEIR_OWN,
    KNOWN_AFTER_DELETION,
    MARKERS_IN_TIME,
    MARKERS_SEEN,
    OFFSETS_HAVE_EPOCHS,
    ONE_CONNECTION,
    PARTITIONS_APART,
    POLLS_WAIT,
    READ_IN_SIZE,
    REMEMBERED,
    REPLACED,
    RESULTS_LAST,
    RETRIES_LAST,
    SENDS_OFTEN,
    SENT_IN_TIME,
    SHUTDOWNS_ARE_REGISTERED,
    Granted,
    assumptions_behind,
)
from proofka.model.deployment import Deployment, read_deployment

POWER_AND_CRASH = {"faults.power-loss": "1", "faults.consumer-crash": "1"}
BY_HAND = {"enable.auto.commit": "false"}

RARELY = {"max.poll.interval.ms": "302400000"}
"""A poll in half of the time for which records are kept."""

ONE = {"replicas": "1", "min.insync.replicas": "1"}
ZOOKEEPER = {"zookeeper.connect": "z:2181"}
COMPACTED = {"cleanup.policy": "compact"}
SOON_GONE = {"retention.ms": "60000"}
GONE_UNREAD = {"retention.ms": "1800000"}
"""Longer than any retry or late request, and shorter than a consumer may take."""

NUMBERED = {"enable.idempotence": "true"}
FEW_RETRIES, IN_TRANSACTIONS = {"retries": "3"}, {"transactional.id": "t"}
TRANSACTIONS = {"topic": COMPACTED, "producer": {"transactional.id": "t"}}
OFTEN_AWAY = {"faults.slow-follower": "any", "slowness": "0..1ms"}

NEAR = [
    (HEARD_IN_TIME, {"broker": {"broker.session.timeout.ms": "2000"}}),
    (HEARD_IN_TIME, {"assume": {"network": "0..7s"}}),
    (FETCHED_IN_TIME, {"broker": {"replica.lag.time.max.ms": "1800"}}),
    (FETCHED_IN_TIME, {"assume": {"network": "0..unbounded"}}),
    (SENT_IN_TIME, {"producer": {"request.timeout.ms": "3800"}}),
    (SENT_IN_TIME, {"producer": {"request.timeout.ms": "4", "linger.ms": "0", "delivery.timeout.ms": "4000"}}),
    (OFFSETS_HAVE_EPOCHS, {"consumer": BY_HAND, "assume": POWER_AND_CRASH}),
    (OFFSETS_HAVE_EPOCHS, {"assume": {**POWER_AND_CRASH, "sink": "transactional"}}),
    (GOES_BACK_TO_THE_END, {"kafka": "3.9", "assume": {"faults.disk-loss": "1", "faults.controller-stall": "1"}}),
    (ONE_CONNECTION, {"producer": {"acks": "0"}, "assume": {"faults.lost-request": "1"}}),
    (FORWARDED_IN_ORDER, {"consumer": {"on_processing_error": "forward"}}),
    (RETRIES_LAST, {"producer": {"retries": "11"}}),
    (RETRIES_LAST, {"producer": {"retries": "152"}}),
    (COORDINATOR_IS_ASKED, {"producer": {**FEW_RETRIES, **IN_TRANSACTIONS}, "assume": {"faults.kill": "1"}}),
    (CAUGHT_UP_SOON, {"assume": {"faults.disk-loss": "1"}}),
    (CAUGHT_UP_SOON, {"topic": ONE, "assume": {"faults.reassignment": "1"}}),
    (EPOCHS_SURVIVE, {"kafka": "3.7.2", "assume": {"faults.power-loss": "1"}}),
    (FETCHES_NAME_INCARNATIONS, {"kafka": "3.5", "assume": {"faults.disk-loss": "1"}}),
    (FETCHES_NAME_INCARNATIONS, {"assume": {"faults.power-loss": "1"}}),
    (SHUTDOWNS_ARE_REGISTERED, {"kafka": "3.9", "assume": {"faults.shutdown": "1"}}),
    (DELETES_WHAT_IS_COMMITTED, {"kafka": "0.11", "topic": SOON_GONE}),
    (REPLACED, {"consumer": RARELY}),
    (POLLS_WAIT, {"consumer": RARELY, "assume": {"faults.consumer-crash": "1"}}),
    (INPUT_LASTS, {"assume": {"faults.producer-crash": "1", "on_restart": "from-acknowledged"}}),
    (COORDINATOR_LASTS, {"producer": {"transactional.id": "t"}}),
    (INPUT_LASTS, {"assume": {"on_restart": "from-acknowledged", "faults.producer-crash": "1"}}),
    (MARKERS_IN_TIME, {"producer": {"transactional.id": "t"}, "assume": {"faults.lost-transaction-state": "1"}}),
    (COORDINATOR_STAYS, {"producer": {"transactional.id": "t"}, "assume": {"faults.kill": "1"}}),
    (COMMITS_LAST, {"assume": {"faults.consumer-crash": "1"}}),
    (ERRORS_BEFORE_THE_END, {"assume": {"faults.slow-follower": "2"}}),
    (PARTITIONS_APART, {"producer": {"client": "librdkafka", "enable.idempotence": "true"}}),
    (PARTITIONS_APART, {"kafka": "2.7.0", "producer": {"enable.idempotence": "true"}}),
    (REMEMBERED, {"producer": {"client": "franz-go"}, "assume": {"faults.kill": "2"}}),
    (SENDS_OFTEN, {"kafka": "2.4", "producer": NUMBERED}),
    (KNOWN_AFTER_DELETION, {"topic": GONE_UNREAD, "assume": {"faults.kill": "1"}}),
    (RESULTS_LAST, {"consumer": BY_HAND, "assume": {"sink": "kafka"}}),
    (DELETES_READ_IN_TIME, {"topic": COMPACTED, "assume": {"faults.kill": "any"}}),
    (MARKERS_SEEN, {**TRANSACTIONS, "assume": OFTEN_AWAY}),
    (KEYS_OF_THEIR_OWN, {**TRANSACTIONS, "kafka": "3.1.1"}),
    (KEYS_OF_THEIR_OWN, {**TRANSACTIONS, "kafka": "3.2.0"}),
]

FAR = [
    (HEARD_IN_TIME, {}),
    (HEARD_IN_TIME, {"broker": {"broker.session.timeout.ms": "2101"}}),
    (FETCHED_IN_TIME, {}),
    (FETCHED_IN_TIME, {"broker": {"replica.lag.time.max.ms": "1801"}}),
    (SENT_IN_TIME, {}),
    (SENT_IN_TIME, {"producer": {"request.timeout.ms": "3801"}}),
    (OFFSETS_HAVE_EPOCHS, {"assume": POWER_AND_CRASH}),
    (OFFSETS_HAVE_EPOCHS, {"consumer": BY_HAND, "assume": {"faults.kill": "1", "faults.consumer-crash": "1"}}),
    (GOES_BACK_TO_THE_END, {"kafka": "4.0", "assume": {"faults.disk-loss": "1", "faults.controller-stall": "1"}}),
    (GOES_BACK_TO_THE_END, {"kafka": "3.9", "assume": {"faults.disk-loss": "1"}}),
    (GOES_BACK_TO_THE_END, {"kafka": "3.9", "assume": {"faults.kill": "1"}}),
    (FORWARDED_IN_ORDER, {"consumer": {"on_processing_error": "skip"}}),
    (FORWARDED_IN_ORDER, {"consumer": {"on_processing_error": "forward"}, "assume": {"faults.kill": "1"}}),
    (RETRIES_LAST, {}),
    (RETRIES_LAST, {"producer": {"retries": "10"}}),
    (RETRIES_LAST, {"producer": {"retries": "153"}}),
    (RETRIES_LAST, {"producer": {"acks": "0"}}),
    (COORDINATOR_IS_ASKED, {"producer": FEW_RETRIES, "assume": {"faults.kill": "1"}}),
    (COORDINATOR_IS_ASKED, {"producer": IN_TRANSACTIONS, "assume": {"faults.kill": "1"}}),
    (
        COORDINATOR_IS_ASKED,
        {"producer": {**FEW_RETRIES, **IN_TRANSACTIONS}, "assume": {"faults.lost-request": "1"}},
    ),
    (
        COORDINATOR_IS_ASKED,
        {"kafka": "3.5", "producer": {**FEW_RETRIES, **IN_TRANSACTIONS}, "assume": {"faults.kill": "1"}},
    ),
    (CAUGHT_UP_SOON, {"assume": {"faults.power-loss": "1"}}),
    (CAUGHT_UP_SOON, {"topic": ONE, "assume": {"faults.disk-loss": "1"}}),
    (EPOCHS_SURVIVE, {"kafka": "3.7", "assume": {"faults.kill": "1"}}),
    (EPOCHS_SURVIVE, {"kafka": "3.8", "assume": {"faults.power-loss": "1"}}),
    (FETCHES_NAME_INCARNATIONS, {"kafka": "3.4", "assume": {"faults.disk-loss": "1"}}),
    (FETCHES_NAME_INCARNATIONS, {"kafka": "3.9", "broker": ZOOKEEPER, "assume": {"faults.disk-loss": "1"}}),
    (FETCHES_NAME_INCARNATIONS, {"topic": ONE, "assume": {"faults.disk-loss": "1"}}),
    (FETCHES_NAME_INCARNATIONS, {"assume": {"faults.kill": "1"}}),
    (SHUTDOWNS_ARE_REGISTERED, {"kafka": "3.9", "assume": {"faults.kill": "1"}}),
    (SHUTDOWNS_ARE_REGISTERED, {"kafka": "4.0", "assume": {"faults.shutdown": "1"}}),
    (SHUTDOWNS_ARE_REGISTERED, {"kafka": "3.9", "broker": ZOOKEEPER, "assume": {"faults.shutdown": "1"}}),
    (DELETES_WHAT_IS_COMMITTED, {"kafka": "0.11"}),
    (DELETES_WHAT_IS_COMMITTED, {"kafka": "1.0", "topic": SOON_GONE}),
    (DELETES_WHAT_IS_COMMITTED, {"kafka": "0.11", "topic": {**SOON_GONE, **ONE}}),
    (REPLACED, {}),
    (POLLS_WAIT, {"assume": {"faults.consumer-crash": "1"}}),
    (POLLS_WAIT, {"consumer": RARELY, "assume": {"faults.lost-request": "1", "faults.total": "1"}}),
    (REPLACED, {"consumer": RARELY, "assume": {"poll_interval": "0..3d"}}),
    (INPUT_LASTS, {"assume": {"faults.producer-crash": "1", "on_restart": "resend"}}),
    (INPUT_LASTS, {"assume": {"faults.kill": "1", "on_restart": "from-sent"}}),
    (COORDINATOR_LASTS, {}),
    (COORDINATOR_LASTS, {"producer": {"transactional.id": "t"}, "assume": {"faults.lost-transaction-state": "1"}}),
    (MARKERS_IN_TIME, {}),
    (COORDINATOR_STAYS, {"assume": {"faults.kill": "1"}}),
    (COORDINATOR_STAYS, {"producer": {"transactional.id": "t"}, "assume": {"faults.producer-crash": "1"}}),
    (COMMITS_LAST, {"assume": {"faults.kill": "1"}}),
    (ERRORS_BEFORE_THE_END, {"producer": {"enable.idempotence": "false"}, "assume": {"faults.slow-follower": "2"}}),
    (ERRORS_BEFORE_THE_END, {"assume": {"faults.consumer-crash": "1"}}),
    (ERRORS_BEFORE_THE_END, {"kafka": "3.5", "assume": {"faults.slow-follower": "2"}}),
    (COMMITS_LAST, {"assume": {"sink": "transactional"}}),
    (RESULTS_LAST, {"assume": {"sink": "transactional"}}),
    (MARKERS_SEEN, {"topic": COMPACTED, "assume": OFTEN_AWAY}),
    (MARKERS_SEEN, {**TRANSACTIONS, "assume": {"faults.slow-follower": "9", "slowness": "0..1ms"}}),
    (MARKERS_SEEN, {**TRANSACTIONS, "assume": {"faults.kill": "any"}}),
    (KEYS_OF_THEIR_OWN, {**TRANSACTIONS, "kafka": "3.1.2"}),
    (KEYS_OF_THEIR_OWN, {**TRANSACTIONS, "kafka": "3.2.1"}),
    (KEYS_OF_THEIR_OWN, {"producer": {"transactional.id": "t"}, "kafka": "3.2.0"}),
    (DELETES_READ_IN_TIME, {"topic": COMPACTED, "assume": {"faults.kill": "any", "keys": "updated"}}),
    (DELETES_READ_IN_TIME, {"topic": COMPACTED, "assume": {"faults.lost-request": "1"}}),
    (REMEMBERED, {"producer": {"client": "franz-go"}, "assume": {"faults.lost-request": "2"}}),
    (REMEMBERED, {"producer": {"delivery.timeout.ms": "2147483647"}, "assume": {"faults.kill": "2"}}),
    (SENDS_OFTEN, {"kafka": "2.4"}),
    (SENDS_OFTEN, {"kafka": "2.5", "producer": NUMBERED}),
    (SENDS_OFTEN, {"kafka": "2.4", "producer": NUMBERED, "topic": {"retention.ms": "-1"}}),
    (SENDS_OFTEN, {"kafka": "2.4", "producer": {**NUMBERED, "producer_id": "new"}, "topic": GONE_UNREAD}),
    (KNOWN_AFTER_DELETION, {"assume": {"faults.kill": "1"}}),
    (KNOWN_AFTER_DELETION, {"topic": GONE_UNREAD, "assume": {"faults.lost-response": "1"}}),
    (KNOWN_AFTER_DELETION, {"topic": SOON_GONE, "assume": {"faults.kill": "1"}}),
    (KNOWN_AFTER_DELETION, {"topic": {**GONE_UNREAD, **ONE}, "assume": {"faults.kill": "1"}}),
    (INPUT_LASTS, {"producer": {"on_restart": "from-acknowledged"}, "assume": {"faults.kill": "1"}}),
    (PARTITIONS_APART, {}),
    (PARTITIONS_APART, {"producer": {"client": "librdkafka"}}),
    (
        PARTITIONS_APART,
        {"kafka": "2.7.0", "producer": {"enable.idempotence": "true"}, "assume": {"faults.failure-elsewhere": "1"}},
    ),
    (ONE_CONNECTION, {"producer": {"acks": "1"}, "assume": {"faults.lost-request": "1"}}),
    (ONE_CONNECTION, {"producer": {"acks": "0"}, "assume": {"faults.kill": "1"}}),
]


SIZE = {"retention.bytes": "1"}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"topic": SIZE}, True),
        ({"broker": {"log.retention.bytes": "0"}}, True),
        ({}, False),
        ({"topic": {"retention.bytes": "-1"}, "broker": {"log.retention.bytes": "1"}}, False),
        ({"topic": {**SIZE, **COMPACTED}}, False),
        ({"topic": {**SIZE, "cleanup.policy": "'compact,delete'"}}, True),
    ],
)
def test_pass_assumes_that_records_are_read_before_retention_by_size(
    tmp_path: Path, said: dict[str, object], expected: bool
) -> None:
    deployment = deployment_of(tmp_path, said)
    for reads in (False, True):
        texts = [one.text for one in assumptions_behind(deployment, "no-loss", reads=reads, in_time=False)]
        assert (READ_IN_SIZE.text in texts) is (reads and expected)


def said_of(granted: Granted, deployment: Deployment) -> set[str]:
    names = granted.properties or {"no-acked-loss", "recoverability"}
    return {one.text for name in names for one in assumptions_behind(deployment, name, reads=False, in_time=True)}


def deployment_of(folder: Path, said: dict[str, object]) -> Deployment:
    kafka = said.get("kafka", "4.0")
    parts = [f'kafka: "{kafka}"']
    for section in ("topic", "broker", "producer", "consumer"):
        settings = said.get(section, {})
        assert isinstance(settings, dict)
        if section == "topic":
            settings = {"replicas": 3, "min.insync.replicas": 2, **settings}
        parts += [f"{section}: {{{', '.join(f'{key}: {value}' for key, value in settings.items())}}}"]
    assume = said.get("assume", {})
    assert isinstance(assume, dict)
    file = folder / "deployment.yaml"
    file.write_text("\n".join(parts) + "\n", encoding="utf-8")
    return read_deployment(file, assume)


@pytest.mark.parametrize(("granted", "said"), NEAR)
def test_assumption_is_printed_where_it_could_be_wrong(
    tmp_path: Path, granted: Granted, said: dict[str, object]
) -> None:
    assert granted.text in said_of(granted, deployment_of(tmp_path, said))


@pytest.mark.parametrize(("granted", "said"), FAR)
def test_assumption_is_not_printed_elsewhere(tmp_path: Path, granted: Granted, said: dict[str, object]) -> None:
    assert granted.text not in said_of(granted, deployment_of(tmp_path, said))


def test_nothing_is_left_out() -> None:
    assert {granted.text for granted, _ in NEAR} == {granted.text for granted in EVERYTHING}


@pytest.mark.parametrize("granted", [one for one in EVERYTHING if one.properties is not None])
def test_assumption_is_printed_for_its_properties_only(tmp_path: Path, granted: Granted) -> None:
    said = next(said for one, said in NEAR if one is granted)
    others = assumptions_behind(deployment_of(tmp_path, said), "no-acked-loss", reads=True, in_time=True)
    assert granted.text not in {one.text for one in others}


def test_pass_without_timing_needs_no_assumption_about_time(tmp_path: Path) -> None:
    deployment = deployment_of(tmp_path, {"assume": {"faults.disk-loss": "1"}})
    for in_time in (False, True):
        said = {one.text for one in assumptions_behind(deployment, "no-acked-loss", reads=False, in_time=in_time)}
        assert (CAUGHT_UP_SOON.text in said) is in_time
