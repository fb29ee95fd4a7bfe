"""Groups that take a partition from a member, by client, protocol and release; and a new partition of a group."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import z3

from proofka.model.language import Action, Variable
from proofka.model.pipeline import build
from proofka.model.state.pipeline import Pipeline
from proofka.properties.verdict import Status
from tests.checker.asking import ask
from tests.checker.records import decide, recorded
from tests.model.mutate import Mutation, also, leaves, never

GROUP = {
    "kafka": "4.3",
    "topic.replicas": 1,
    "topic.min.insync.replicas": 1,
    "producer.acks": "all",
    "consumer.group.id": "orders",
    "consumer.enable.auto.commit": False,
    "bounds.log": 2,
}
AUTO = {"consumer.enable.auto.commit": True}
BY_BROKERS = {"consumer.group.protocol": "consumer"}
PREVIEW = {**BY_BROKERS, "kafka": "3.9", "broker.group.coordinator.rebalance.protocols": "classic,consumer"}
COOPERATIVE = {
    "consumer.partition.assignment.strategy": "org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
}
UNAWARE = {"consumer.group": "unaware"}
BY_WORKERS = {"consumer.processing": "handed-off"}
NEW_GROUP = {"consumer.group": "new"}
LATEST, EARLIEST = {"consumer.auto.offset.reset": "latest"}, {"consumer.auto.offset.reset": "earliest"}
LOADED = {"producer.enable.idempotence": False, "broker.inter.broker.protocol.version": "2.0", **AUTO}

LIBRDKAFKA = {"kafka": "3.9", "consumer.client": "librdkafka"}
STORES = {**LIBRDKAFKA, **AUTO, "consumer.enable.auto.offset.store": False}
STICKY = {"consumer.partition.assignment.strategy": "cooperative-sticky"}
FIRST, IN_POLL = {"consumer.commit": "before"}, {"consumer.rebalances": "in-poll"}

REBALANCE, CRASH = {"rebalance": 1}, {"consumer-crash": 1}
LOST = {"rebalance": 1, "lost-commit": 1}


def client(version: str, **more: object) -> dict[str, object]:
    """Return the settings of a client of this release, and of brokers of the same time."""
    of_producer = {"producer.enable.idempotence": False}
    return {"kafka": ".".join(version.split(".")[:2]), "consumer.version": version, **of_producer, **more}


@pytest.mark.parametrize(
    ("prop", "more", "faults", "violated"),
    [
        # Brokers say who has what: up to 4.2 a client lets go while its application works, unless it commits itself.
        ("no-reprocessing", {**BY_BROKERS, "kafka": "4.2"}, REBALANCE, True),
        ("no-reprocessing", {**BY_BROKERS, "consumer.version": "4.2"}, REBALANCE, True),
        ("no-reprocessing", BY_BROKERS, REBALANCE, False),
        ("no-reprocessing", {**BY_BROKERS, **AUTO, "kafka": "4.0"}, REBALANCE, False),
        ("processing-order", {**BY_BROKERS, "consumer.commit": "before", "kafka": "4.2"}, REBALANCE, True),
        ("processing-order", {**BY_BROKERS, "consumer.commit": "before"}, REBALANCE, False),
        # Before 4.3 brokers refuse what a member commits in the epoch that has just been replaced.
        ("no-reprocessing", {**BY_BROKERS, "kafka": "4.2", "consumer.version": "4.3"}, REBALANCE, True),
        # From 4.0 on what is committed is what earlier polls returned; the preview is ahead of the application.
        ("no-skip", {**BY_BROKERS, **AUTO, "kafka": "4.0"}, {**CRASH, **REBALANCE}, False),
        ("no-skip", {**PREVIEW, **AUTO}, CRASH, True),
        ("no-skip", {**PREVIEW, **AUTO}, REBALANCE, False),
        ("no-reprocessing", {**PREVIEW, **AUTO}, REBALANCE, True),
        ("no-skip", {**PREVIEW}, CRASH, False),
        # One client's commit is not sent again, two others fetch on while it is under way.
        ("no-reprocessing", client("3.1.2", **AUTO), LOST, False),
        ("no-reprocessing", client("3.2.0", **AUTO), REBALANCE, False),
        ("no-reprocessing", client("3.2.0", **AUTO), LOST, True),
        ("no-reprocessing", client("3.2.0"), LOST, False),
        ("no-reprocessing", client("3.2.1", **AUTO), REBALANCE, True),
        ("no-reprocessing", client("3.2.2", **AUTO), REBALANCE, True),
        ("no-reprocessing", client("3.2.2"), REBALANCE, False),
        ("no-reprocessing", client("3.2.3", **AUTO), LOST, False),
        ("no-reprocessing", client("3.3.2", **AUTO), LOST, False),
        # Members that keep reading in a rebalance cannot commit in it; nothing is skipped.
        ("no-reprocessing", COOPERATIVE, REBALANCE, True),
        ("no-reprocessing", {**COOPERATIVE, **AUTO}, REBALANCE, True),
        ("no-reprocessing", {**COOPERATIVE, "consumer.commit": "before"}, REBALANCE, False),
        ("exactly-once-effect", {**COOPERATIVE, "consumer.sink": "transactional"}, REBALANCE, False),
        ("no-skip", {**COOPERATIVE, **AUTO}, {**CRASH, **REBALANCE}, False),
        # A thread of librdkafka lets go while the application works, unless it has a rebalance callback. What is
        # stored by then is committed: by default the record in hand.
        ("no-reprocessing", LIBRDKAFKA, REBALANCE, True),
        ("no-reprocessing", {**LIBRDKAFKA, **IN_POLL}, REBALANCE, False),
        # A member that goes on in a rebalance can have its commit refused.
        ("no-reprocessing", {**LIBRDKAFKA, **IN_POLL, **STICKY}, REBALANCE, True),
        ("no-reprocessing", STORES, REBALANCE, True),
        ("no-reprocessing", {**STORES, **IN_POLL}, REBALANCE, False),
        ("no-reprocessing", {**LIBRDKAFKA, **AUTO}, REBALANCE, False),
        ("processing-order", {**LIBRDKAFKA, **AUTO}, REBALANCE, True),
        ("no-skip", {**LIBRDKAFKA, **AUTO}, REBALANCE, False),
        # An application that commits first can have lost the partition by then.
        ("no-reprocessing", {**LIBRDKAFKA, **FIRST}, REBALANCE, True),
        ("no-reprocessing", {**LIBRDKAFKA, **FIRST, **IN_POLL}, REBALANCE, False),
        ("no-reprocessing", {**LIBRDKAFKA, **FIRST, **BY_WORKERS}, REBALANCE, True),
        ("no-reprocessing", {**LIBRDKAFKA, **FIRST, **BY_WORKERS, **IN_POLL}, REBALANCE, False),
        ("no-reprocessing", {**BY_BROKERS, **FIRST, "kafka": "4.2"}, REBALANCE, True),
        ("no-reprocessing", {**BY_BROKERS, **FIRST}, REBALANCE, False),
        # A partition that the group does not know of is read by the reset policy.
        ("no-skip", {**UNAWARE, **LATEST}, CRASH, True),
        ("no-skip", {**UNAWARE, **EARLIEST}, {**CRASH, **REBALANCE}, False),
        ("recoverability", {**UNAWARE, "consumer.auto.offset.reset": "none"}, CRASH, True),
        # A member of a new group that was given nothing has nothing to commit, so the next one starts by the policy.
        # Java's client commits its position all the same.
        ("no-skip", {**LIBRDKAFKA, **NEW_GROUP, **LATEST}, REBALANCE, True),
        ("no-skip", {**NEW_GROUP, **LATEST}, REBALANCE, True),
        ("no-skip", {**NEW_GROUP, **EARLIEST}, REBALANCE, False),
        ("no-skip", {**NEW_GROUP, **LATEST, **AUTO}, REBALANCE, False),
        # Offsets that their coordinator has loaded have an expiry that is over.
        ("no-skip", {**LOADED, **LATEST, "kafka": "2.1.1"}, CRASH, True),
        ("no-skip", {**LOADED, **EARLIEST, "kafka": "2.1.1"}, CRASH, False),
        ("no-skip", {**LOADED, **LATEST, "kafka": "2.2.0"}, CRASH, False),
    ],
)
def test_verdicts(prop: str, more: dict[str, object], faults: dict[str, int], violated: bool) -> None:
    verdict = decide(prop, faults, GROUP, more)
    assert verdict.status in ((Status.VIOLATED,) if violated else (Status.HOLDS, Status.VACUOUS)), verdict.notes


@pytest.mark.parametrize("blocked", [False, True])
def test_franz_go_gives_up_a_partition_at_any_time_unless_an_option_blocks_that(blocked: bool) -> None:
    of_group = {key: value for key, value in GROUP.items() if not key.startswith("consumer.")}
    of_client = {"consumer.client": "franz-go", "consumer.ConsumerGroup": "o", "consumer.DisableAutoCommit": True}
    more = {**of_client, "kafka": "3.9", "consumer.BlockRebalanceOnPoll": blocked}
    expected = Status.HOLDS if blocked else Status.VIOLATED
    assert decide("no-reprocessing", REBALANCE, of_group, more).status is expected


def test_new_partitions_are_found_without_a_fault() -> None:
    verdict = decide("no-skip", CRASH, GROUP, {**UNAWARE, **LATEST})
    assert [dict(cut) for cut in verdict.cut_sets] == [{}]
    assert any("finds out that there is a new partition" in step.text for step in verdict.traces[0].steps)


def _committed(pipeline: Pipeline, _: Action) -> Variable:
    return pipeline.consumer.committed


def _from_the_start(pipeline: Pipeline, _: Action) -> Mapping[Variable, z3.ArithRef]:
    return {pipeline.consumer.position: z3.IntVal(0), pipeline.consumer.position_epoch: z3.IntVal(0)}


@pytest.mark.parametrize(
    ("prop", "more", "mutation", "before", "after"),
    [
        ("no-reprocessing", AUTO, leaves("hand_over", _committed), Status.HOLDS, Status.VIOLATED),
        (
            "no-reprocessing",
            {**BY_BROKERS, "consumer.version": "4.2"},
            never("hand_over_while_processing"),
            Status.VIOLATED,
            Status.HOLDS,
        ),
        (
            "no-reprocessing",
            {**LIBRDKAFKA, **AUTO},
            leaves("hand_over_while_processing", _committed),
            Status.HOLDS,
            Status.VIOLATED,
        ),
        (
            "no-reprocessing",
            {**LIBRDKAFKA, **FIRST},
            never("hand_over_before_commit"),
            Status.VIOLATED,
            Status.HOLDS,
        ),
        (
            "no-skip",
            {**UNAWARE, **LATEST},
            also("restart_consumer_at_end", _from_the_start),
            Status.VIOLATED,
            Status.HOLDS,
        ),
    ],
)
def test_mutation_changes_a_verdict(
    prop: str, more: dict[str, object], mutation: Mutation, before: Status, after: Status
) -> None:
    asked = recorded(prop, REBALANCE, GROUP, more)
    assert ask(asked, prop)[prop].status is before
    assert ask(mutation(build(asked)), prop)[prop].status is after


def test_hand_over_while_processing_is_modelled_only_where_possible() -> None:
    model = build(recorded("no-skip", REBALANCE, GROUP, BY_BROKERS))
    assert not model.pipeline.consumer.late and model.pipeline.consumer.undiscovered is None
    assert "hand_over_while_processing" not in {action.name for action in model.system.actions}
    assert build(recorded("no-skip", CRASH, GROUP, {**BY_BROKERS, "kafka": "4.0"})).pipeline.consumer.late == ()


def test_longest_silence_of_a_member_follows_the_brokers_session() -> None:
    """Worked out by hand: the session and the heartbeats that brokers ask for, whatever the client's defaults are."""
    more = {**BY_BROKERS, "broker.group.consumer.session.timeout.ms": 50_000}
    system = build(recorded("no-skip", {"eviction": 1, "rebalance": 1, "consumer-crash": 1}, GROUP, more)).system
    starts = next(action for action in system.actions if action.name == "restart_consumer")
    needs = {need.clock.name: need.at_least.at_least() for need in system.needs_of(starts) if need.at_least is not None}
    assert needs == {"crashed": 1_000, "replacing": 50_000}
    deadlines = {clock.name: clock.at_most.at_most() for clock in system.clocks if clock.at_most is not None}
    joining = (14 + 3 * 4) * 100
    assert deadlines["taken_over"] == 300_000 + 50_000 + 3_000 + 3 * 5_000 + 2 * 1_000 + joining


def test_longest_delay_until_a_new_partition_is_read() -> None:
    system = build(recorded("no-skip", CRASH, GROUP, UNAWARE)).system
    deadlines = {clock.name: clock.at_most.at_most() for clock in system.clocks if clock.at_most is not None}
    joining = (14 + 3 * 4) * 100
    assert deadlines["discovering"] == 300_000 + 300_000 + 45_000 + 3_000 + joining
    assert deadlines["consumer_back"] == 3_600_000
