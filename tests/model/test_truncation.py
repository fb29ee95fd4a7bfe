"""Followers' truncation and their return to the ISR, by era (semantics 8; KIP-101, KIP-279, KIP-320, KAFKA-7128)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proofka.model.deployment import read_properties
from proofka.model.deployment.choices import Acks, OffsetReset
from proofka.model.deployment.truncation import Truncation
from tests.model.scripted import BOUNDS, Scenario, scenario

OF_OLD = [Truncation.HIGH_WATERMARK, Truncation.LAST_EPOCH, Truncation.EPOCHS]
UNFENCED_FETCHES = [*OF_OLD, Truncation.FENCED_QUESTIONS]
UNFENCED = {"zookeeper": True, "old_fetches_count": True, "fenced_may_join": True, "idempotence": False}


def of(truncation: Truncation, **settings: object) -> Scenario:
    return scenario(truncation=truncation, **{**UNFENCED, **settings})


def kill(run: Scenario, broker: int) -> Scenario:
    """Kill the broker, with its known high watermark written down."""
    known = run.high_watermark(broker)
    decides = run.pipeline.deployment.cluster.truncation.high_watermark_decides
    return run.do("kill", broker=broker, **({"checkpointed": known} if decides else {}))


def lose_power(run: Scenario, broker: int, kept: int) -> Scenario:
    """Let the broker lose power and all but so much of its log, with its known high watermark written down."""
    known = min(run.high_watermark(broker), kept)
    decides = run.pipeline.deployment.cluster.truncation.high_watermark_decides
    return run.do("lose_power", broker=broker, kept=kept, **({"checkpointed": known} if decides else {}))


def behind_in_knowledge(run: Scenario) -> Scenario:
    """Return a run in which every broker has the record, but only the leader knows its commit; then the leader dies and
    broker 2 leads."""
    run.produce(0, 1).do("fetch", follower=2, leader=1).do("fetch", follower=3, leader=1)
    run.do("fetch", follower=2, leader=1).do("fetch", follower=3, leader=1).do("acknowledge", batch=0, leader=1)
    return kill(run, 1).do("fence", broker=1).do("apply_metadata", broker=2)


@pytest.mark.parametrize("truncation", UNFENCED_FETCHES)
def test_followers_hear_of_the_high_watermark_when_they_fetch(truncation: Truncation) -> None:
    run = of(truncation).produce(0, 1).do("fetch", follower=2, leader=1).do("fetch", follower=3, leader=1)
    run.do("fetch", follower=2, leader=1).do("fetch", follower=3, leader=1)
    assert [run.high_watermark(broker) for broker in (1, 2, 3)] == [1, 0, 0]
    assert run.do("fetch", follower=3, leader=1).high_watermark(3) == 1


def test_to_0_10_a_follower_drops_records_above_its_own_high_watermark() -> None:
    run = behind_in_knowledge(of(Truncation.HIGH_WATERMARK)).do("apply_metadata", broker=3)
    assert (run.log(2), run.log(3)) == ([0], [])
    assert run.can("fetch", follower=3, leader=2)


def test_a_broker_that_dies_may_have_written_an_older_high_watermark_down() -> None:
    run = of(Truncation.HIGH_WATERMARK).produce(0, 1).replicate(2, 1).replicate(3, 1)
    assert run.high_watermark(1) == 1
    assert [run.can("kill", broker=1, checkpointed=written) for written in (0, 1, 2)] == [True, True, False]
    assert [run.can("lose_power", broker=1, kept=0, checkpointed=written) for written in (0, 1)] == [True, False]
    run.do("kill", broker=1, checkpointed=0).do("fence", broker=1).do("apply_metadata", broker=2)
    assert run.do("restart", broker=1).log(1) == [], "it follows now, and drops what it may not keep"


@pytest.mark.parametrize("truncation", UNFENCED_FETCHES[1:])
def test_from_0_11_on_a_follower_asks_and_keeps_the_records_of_the_leader(truncation: Truncation) -> None:
    run = behind_in_knowledge(of(truncation)).do("apply_metadata", broker=3)
    assert not run.can("fetch", follower=3, leader=2), "it has not asked yet"
    run.do("truncate", follower=3, leader=2)
    assert run.log(3) == [0]
    assert not run.can("truncate", follower=3, leader=2), "it asks once in an epoch"
    assert run.can("fetch", follower=3, leader=2)


def diverged(run: Scenario) -> Scenario:
    """Return a run in which broker 1 has a record that no broker copied; broker 2 leads and appends the retry in its
    place."""
    kill(run.produce(0, 1), 1).do("fence", broker=1).do("apply_metadata", broker=2)
    run.do("apply_metadata", broker=3)
    if run.pipeline.replica(3).reconciled is not None:
        run.do("truncate", follower=3, leader=2)
    return run.do("transmit", batch=0, leader=2).do("append", batch=0, leader=2)


@pytest.mark.parametrize("truncation", UNFENCED_FETCHES)
def test_records_of_the_old_leader_alone_are_dropped(truncation: Truncation) -> None:
    run = diverged(of(truncation)).do("restart", broker=1)
    if truncation is not Truncation.HIGH_WATERMARK:
        run.do("truncate", follower=1, leader=2)
    assert run.log(1) == []


@pytest.mark.parametrize("truncation", [Truncation.LAST_EPOCH, Truncation.EPOCHS])
@pytest.mark.parametrize("mended", [True, False])
def test_a_leader_that_does_not_know_an_epoch_leaves_it_to_the_high_watermark(
    truncation: Truncation, mended: bool
) -> None:
    """Up to 2.0.0; from 2.0.1 on leaders know of their epoch before they append, and answer always (KAFKA-7415)."""
    run = of(truncation, min_insync_replicas=1, unclean_leader_election=True, mends_of_2_0_1=mended)
    kill(kill(run, 2), 3).do("fence", broker=2).do("fence", broker=3)
    run.do("learn_isr", broker=1).produce(0, 1).do("acknowledge", batch=0, leader=1)
    kill(run, 1).do("fence", broker=1).do("restart", broker=2)
    run.do("elect_unclean", broker=2).do("apply_metadata", broker=2)
    run.do("restart", broker=1).do("truncate", follower=1, leader=2)
    assert run.log(1) == ([] if mended else [0])


@pytest.mark.parametrize("truncation", OF_OLD)
@pytest.mark.parametrize(("unclean", "mended"), [(True, False), (False, False), (False, True)])
def test_a_follower_that_is_ahead_goes_back_or_halts(truncation: Truncation, unclean: bool, mended: bool) -> None:
    """Before 2.0.1 brokers rather stopped than drop records where unclean election was off (KAFKA-7414)."""
    settings = {"min_insync_replicas": 1, "unclean_leader_election": unclean, "mends_of_2_0_1": mended}
    run = of(truncation, **settings)
    run.do("become_slow", broker=3).do("become_slow", broker=2).produce(0, 1)
    run.do("shrink_isr", leader=1, follower=3).do("shrink_isr", leader=1, follower=2).do("recover_speed", broker=2)
    for _ in range(3):
        run.do("fetch", follower=2, leader=1)
    lose_power(run, 1, kept=0).do("fence", broker=1).do("restart", broker=1)
    run.do("apply_metadata", broker=1)
    assert (run.leader, run.log(1), run.log(2)) == (1, [], [0])
    if unclean or mended:
        assert run.do("go_back", follower=2, leader=1).log(2) == []
    else:
        run.do("halt", broker=2, leader=1)
        assert not run.value(run.pipeline.replica(2).up)


@pytest.mark.parametrize(
    ("truncation", "mended"),
    [*((how, False) for how in OF_OLD), *((how, True) for how in [*UNFENCED_FETCHES, Truncation.FENCED])],
)
def test_follower_at_the_high_watermark_joins_before_2_0_1(truncation: Truncation, mended: bool) -> None:
    """A new leader may not know how far it is; from then on the start of its epoch counts as well (KAFKA-7128)."""
    run = of(truncation, min_insync_replicas=1, mends_of_2_0_1=mended).do("become_slow", broker=3).produce(0, 1)
    run.do("shrink_isr", leader=1, follower=3).do("fetch", follower=2, leader=1).do("fetch", follower=2, leader=1)
    run.do("acknowledge", batch=0, leader=1).do("move_leader", broker=2).do("apply_metadata", broker=2)
    run.do("recover_speed", broker=3).do("apply_metadata", broker=3)
    if run.pipeline.replica(3).reconciled is not None:
        run.do("truncate", follower=3, leader=2)
    if truncation is Truncation.FENCED:
        run.do("fetch", follower=3, leader=2)
    else:
        run.do("ask", follower=3, leader=2)
        assert run.log(3) == []
    assert run.can("expand_isr", leader=2, follower=3) is not mended


@pytest.mark.parametrize("truncation", list(Truncation))
def test_before_2_1_a_leader_answers_followers_of_a_later_epoch(truncation: Truncation) -> None:
    """The follower knows of the next epoch, its leader does not yet (KIP-320)."""
    run = of(truncation).do("move_leader", broker=2).do("move_leader", broker=1).do("apply_metadata", broker=3)
    if truncation in (Truncation.LAST_EPOCH, Truncation.EPOCHS):
        run.do("truncate", follower=3, leader=1)
    assert run.can("fetch", follower=3, leader=1) is (truncation in OF_OLD)


@pytest.mark.parametrize("truncation", list(Truncation))
def test_before_2_5_a_leader_answers_followers_of_an_earlier_epoch(truncation: Truncation) -> None:
    """The leader knows of the next epoch, its follower does not yet: the session forgets the epoch (KAFKA-9338)."""
    run = of(truncation).do("move_leader", broker=2).do("move_leader", broker=1).do("apply_metadata", broker=1)
    assert run.can("fetch", follower=3, leader=1) is (truncation is not Truncation.FENCED)


@pytest.mark.parametrize(("truncation", "asks"), [(Truncation.EPOCHS, True), (Truncation.FENCED_QUESTIONS, False)])
def test_follower_from_2_1_on_asks_within_one_epoch_only(truncation: Truncation, asks: bool) -> None:
    run = of(truncation).do("move_leader", broker=2).do("apply_metadata", broker=2).do("apply_metadata", broker=3)
    run.do("move_leader", broker=1).do("move_leader", broker=2).do("apply_metadata", broker=2)
    assert run.can("truncate", follower=3, leader=2) is asks
    run.do("apply_metadata", broker=3).do("truncate", follower=3, leader=2)
    assert run.can("fetch", follower=3, leader=2)


def test_a_follower_that_missed_an_epoch_counts_with_its_records_of_the_epoch_before() -> None:
    """KAFKA-9338: the record of epoch 3 is committed with broker 2's copy of another one, and broker 2 drops that."""
    run = of(Truncation.FENCED_QUESTIONS).produce(0, 1).do("fetch", follower=2, leader=1)
    run.do("move_leader", broker=3).do("apply_metadata", broker=3).do("apply_metadata", broker=1)
    run.do("truncate", follower=1, leader=3).do("move_leader", broker=1).do("apply_metadata", broker=1)
    run.do("transmit", batch=0, leader=1).do("append", batch=0, leader=1)
    run.do("apply_metadata", broker=3).do("truncate", follower=3, leader=1)
    run.do("fetch", follower=3, leader=1).do("fetch", follower=3, leader=1).do("fetch", follower=2, leader=1)
    assert (run.epochs(1), run.epochs(2), run.epochs(3)) == ([3], [1], [3])
    run.do("acknowledge", batch=0, leader=1)
    run.do("apply_metadata", broker=2).do("truncate", follower=2, leader=1)
    assert (run.log(2), run.value(run.pipeline.controller.isr[2])) == ([], 1)


@pytest.mark.parametrize(("truncation", "asks"), [(Truncation.EPOCHS, True), (Truncation.FENCED_QUESTIONS, False)])
def test_follower_ahead_of_its_leader_asks_within_one_epoch_only_from_2_1_on(
    truncation: Truncation, asks: bool
) -> None:
    """A leader that comes back with less refuses to name its end to a follower of an older epoch (KIP-320)."""
    run = of(truncation, min_insync_replicas=1).do("become_slow", broker=3).do("become_slow", broker=2).produce(0, 1)
    run.do("shrink_isr", leader=1, follower=3).do("shrink_isr", leader=1, follower=2).do("recover_speed", broker=2)
    run.do("fetch", follower=2, leader=1)
    lose_power(run, 1, kept=0).do("fence", broker=1).do("restart", broker=1).do("apply_metadata", broker=1)
    assert (run.leader, run.log(1), run.log(2)) == (1, [], [0])
    assert run.can("go_back", follower=2, leader=1) is asks
    assert not run.can("fetch", follower=2, leader=1), "its offset is out of range"


@pytest.mark.parametrize("truncation", UNFENCED_FETCHES)
def test_a_follower_that_is_told_of_no_leader_stays_with_its_leader(truncation: Truncation) -> None:
    run = of(truncation).do("become_slow", broker=3).produce(0, 1).do("shrink_isr", leader=1, follower=3)
    run.do("become_slow", broker=2).do("shrink_isr", leader=1, follower=2).do("recover_speed", broker=3)
    kill(run, 1).do("fence", broker=1).do("apply_metadata", broker=3).do("restart", broker=1)
    run.do("apply_metadata", broker=1)
    assert run.can("fetch", follower=3, leader=1)


@pytest.mark.parametrize("truncation", OF_OLD)
@pytest.mark.parametrize("mended", [True, False])
def test_before_2_0_1_a_follower_that_missed_an_epoch_drops_nothing(truncation: Truncation, mended: bool) -> None:
    """Broker 2 led meanwhile, and the leader of before has dropped what the follower still has (KAFKA-7164)."""
    run = of(truncation, mends_of_2_0_1=mended).produce(0, 1).do("fetch", follower=3, leader=1)
    run.do("move_leader", broker=2).do("apply_metadata", broker=2).do("apply_metadata", broker=1)
    if truncation is not Truncation.HIGH_WATERMARK:
        run.do("truncate", follower=1, leader=2)
    run.do("transmit", batch=0, leader=2).do("append", batch=0, leader=2).do("fetch", follower=1, leader=2)
    run.do("move_leader", broker=1).do("apply_metadata", broker=1).do("apply_metadata", broker=3)
    assert run.epochs(1) == [2]
    if mended and truncation is not Truncation.HIGH_WATERMARK:
        run.do("truncate", follower=3, leader=1)
    # Brokers of 0.11 to 1.1 ask for the end of an epoch that the leader never had, and go by the high watermark: 0.
    assert run.epochs(3) == ([] if mended else [1])
    assert run.can("fetch", follower=3, leader=1), "a follower that is told nothing new fetches on from its end"


@pytest.mark.parametrize(
    ("truncation", "mended"),
    [
        (Truncation.EPOCHS, True),
        (Truncation.EPOCHS, False),
        (Truncation.FENCED_QUESTIONS, True),
        (Truncation.FENCED, True),
    ],
)
def test_a_follower_stays_with_a_leader_that_comes_back_with_less(truncation: Truncation, mended: bool) -> None:
    """Told that nobody leads it changes nothing, in 2.0.1 as well; what it makes of the same leader again is mended."""
    run = of(truncation, min_insync_replicas=1, mends_of_2_0_1=mended, unclean_leader_election=True)
    run.do("become_slow", broker=3).produce(0, 1).do("fetch", follower=2, leader=1).do("become_slow", broker=2)
    run.do("shrink_isr", leader=1, follower=3).do("shrink_isr", leader=1, follower=2)
    lose_power(run, 1, kept=0).do("fence", broker=1).do("apply_metadata", broker=2)
    run.do("restart", broker=1).do("apply_metadata", broker=1).do("notice", broker=1)
    run.do("transmit", batch=0, leader=1).do("append", batch=0, leader=1).do("recover_speed", broker=2)
    if truncation is Truncation.FENCED:
        assert not run.can("fetch", follower=2, leader=1), "it is of an older epoch"
        return
    assert run.can("fetch", follower=2, leader=1), "nobody has told it of the new epoch"
    run.do("apply_metadata", broker=2)
    assert run.can("fetch", follower=2, leader=1) is not mended
    if mended:
        assert run.do("truncate", follower=2, leader=1).log(2) == []
    else:
        assert (run.do("fetch", follower=2, leader=1).epochs(2), run.epochs(1)) == ([1], [3])


@pytest.mark.parametrize("checks", [True, False])
@pytest.mark.parametrize(("policy", "to"), [(OffsetReset.EARLIEST, 0), (OffsetReset.LATEST, 0)])
def test_a_consumer_that_knows_no_epochs_notices_only_the_end_of_a_log(
    checks: bool, policy: OffsetReset, to: int
) -> None:
    settings = {"consumer_checks_epochs": checks, "consumer_knows_epochs": checks, "offset_reset": policy}
    run = of(Truncation.FENCED, min_insync_replicas=1, unclean_leader_election=True, **settings)
    run.do("kill", broker=2).do("kill", broker=3).do("fence", broker=2).do("fence", broker=3).do("learn_isr", broker=1)
    run.produce(0, 1).do("acknowledge", batch=0, leader=1).do("poll", leader=1, count=1).do("kill", broker=1)
    run.do("fence", broker=1).do("restart", broker=2).do("elect_unclean", broker=2).do("apply_metadata", broker=2)
    if checks:
        run.do("seek_to_divergence", leader=2)
    else:
        run.do("reset_beyond_end", leader=2)
    assert run.value(run.pipeline.consumer.position) == to


@pytest.mark.parametrize("checks", [True, False])
def test_a_consumer_that_knows_no_epochs_reads_on_where_another_log_is_as_long(checks: bool) -> None:
    settings = {"consumer_checks_epochs": checks, "consumer_knows_epochs": checks}
    run = of(Truncation.FENCED, min_insync_replicas=1, unclean_leader_election=True, **settings)
    run.do("kill", broker=2).do("kill", broker=3).do("fence", broker=2).do("fence", broker=3).do("learn_isr", broker=1)
    run.produce(0, 1).do("acknowledge", batch=0, leader=1).do("poll", leader=1, count=1).do("kill", broker=1)
    run.do("fence", broker=1).do("restart", broker=2).do("elect_unclean", broker=2).do("apply_metadata", broker=2)
    run.produce(1, 2).do("acknowledge", batch=1, leader=2)
    goes_back = "seek_to_divergence" if checks else "reset_beyond_end"
    assert run.can(goes_back, leader=2) is checks, "record 2 stands where record 1 was read"


@pytest.mark.parametrize(
    ("kafka", "truncation", "mended"),
    [
        ("0.10.2", Truncation.HIGH_WATERMARK, False),
        ("0.11.0", Truncation.LAST_EPOCH, False),
        ("1.1.1", Truncation.LAST_EPOCH, False),
        ("2.0", Truncation.EPOCHS, False),
        ("2.0.1", Truncation.EPOCHS, True),
        ("2.1", Truncation.FENCED_QUESTIONS, True),
        ("2.4", Truncation.FENCED_QUESTIONS, True),
        ("2.4.1", Truncation.FENCED_QUESTIONS, True),
        ("2.5.0", Truncation.FENCED, True),
        ("4.0", Truncation.FENCED, True),
    ],
)
def test_each_release_has_its_era(kafka: str, truncation: Truncation, mended: bool) -> None:
    deployment = read_properties(kafka=kafka, assume={"replicas": "3"})
    assert (deployment.cluster.truncation, deployment.cluster.mends_of_2_0_1) == (truncation, mended)


@pytest.mark.parametrize("truncation", list(Truncation))
def test_to_0_10_a_committed_record_stays_beside_another_one_at_its_offset(truncation: Truncation) -> None:
    """Two power losses: who lost the record leads; who kept it knows that it was committed (KIP-101, scenario 2)."""
    bounds = replace(BOUNDS, records=3)
    run = of(truncation, replicas=2, min_insync_replicas=1, acks=Acks.LEADER, bounds=bounds)
    for batch in (0, 1):
        run.produce(batch, 1).do("acknowledge", batch=batch, leader=1).replicate(2, 1)
    lose_power(lose_power(run, 2, kept=1), 1, kept=2).do("fence", broker=1).do("fence", broker=2)
    run.do("restart", broker=2).do("apply_metadata", broker=2).produce(2, 2)
    run.do("restart", broker=1)
    if truncation is not Truncation.HIGH_WATERMARK:
        run.do("truncate", follower=1, leader=2)
    run.do("fetch", follower=1, leader=2)
    assert run.log(2) == [0, 2]
    assert run.log(1) == ([0, 1] if truncation is Truncation.HIGH_WATERMARK else [0, 2])
