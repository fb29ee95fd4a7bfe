"""The clocks of the model: every deadline and every need, in ms, and the conditions under which each clock runs.

The values are those of a Kafka 4.0 deployment with nothing but defaults, worked out by hand; docs/semantics.md says
what each is made of.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
import z3

from proofka.checker.cone import FreeVariables
from proofka.model.deployment import Deployment, read_properties
from proofka.model.deployment.choices import Acks, OnRestart, Processing, ProducerId
from proofka.model.deployment.compaction import Compaction, Keys
from proofka.model.deployment.explored import FaultBudget
from proofka.model.deployment.release import parse_release
from proofka.model.deployment.sequencing import sequencing_of
from proofka.model.deployment.transactional import Transactional
from proofka.model.durations import Duration, Quantity
from proofka.model.faults import ONCE, REPLACES_MEMBER, Fault
from proofka.model.language import Action, Need, TransitionSystem
from proofka.model.pipeline import build
from tests.checker.asking import assuming
from tests.checker.plain_evaluator import holds
from tests.deployments import changed
from tests.model.scripted import Scenario

FOUND_DEAD = (Fault.KILL, Fault.SLOW_FOLLOWER, Fault.CUT_OFF, Fault.LEADER_MOVE, Fault.CONSUMER_CRASH)
"""Faults after which every connection that breaks is seen to be broken."""

ALL = tuple(kind for kind in Fault if kind not in REPLACES_MEMBER | ONCE)
"""All but those of which tests/model/test_membership.py speaks: they take the consumer's clocks apart."""


def defaults(kinds: Iterable[Fault] = ALL, kafka: str = "4.0", **assume: str) -> Deployment:
    """Read three replicas and one record with the release's defaults."""
    said = {"replicas": "3", "elr": "off", "bounds.records": "1"}
    return assuming(read_properties(kafka=kafka, assume={**said, **assume}), kinds, 2)


DEFAULTS = build(defaults()).system
SEEN_AT_ONCE = build(defaults(FOUND_DEAD)).system
REQUESTS_ARE_LOST = build(defaults((*FOUND_DEAD, Fault.LOST_REQUEST))).system
BEFORE_4 = build(defaults(kafka="3.9")).system
WITHOUT_ACKS = build(changed(defaults(), acks=Acks.NONE, idempotence=False)).system

DEADLINES = {
    "sendable_at_once": 1_805,
    "sendable": 5_205,
    "sendable_when_noticed": 65_205,
    "sendable_beside_silent": 41_205,
    "sendable_when_silence_is_noticed": 101_205,
    "unnoticed": 60_000,
    "arriving": 100,
    "answering": 100,
    "held_up": 30_100,
    "pending": 120_000,
    "late": 600_000,
    "resolving": 100,
    "unheard": 13_475,
    "news": 500,
    "fetching": 1_900,
    "lagging": 60_600,
    "caught_up": 4_600,
    "returning": None,
    "stopping": 300_000,
    "slow": None,
    "cut_off": None,
    "consumer_back": 3_600_000,
}
"""Clock -> by when its condition ends; None where nothing limits it."""

UNNOTICED = {
    "unnoticed",
    "sendable_when_noticed",
    "sendable_beside_silent",
    "sendable_when_silence_is_noticed",
}
"""Deadlines where a connection can be dead and nobody knows."""

NEVER_DUE = {"backoff", "blocked", "behind", "busy", "in_flight", "away", "consumer_away"}
"""Clocks that only say how long something has to be waited for."""

NEEDS = {
    "give_up": ("busy", 120_000),
    "refuse_send": ("blocked", 60_000),
    "transmit": ("backoff", 80),
    "time_out_at_broker": ("in_flight", 29_900),
    "shrink_isr": ("behind", 26_400),
    "fence": ("unheard", 6_900),
    "restart": ("away", 1_000),
    "restart_consumer": ("consumer_away", 1_000),
    "restart_consumer_at_end": ("consumer_away", 1_000),
}
"""Action -> the clock it needs, and what that must show at least."""


def deadlines(system: TransitionSystem) -> dict[str, set[int | None]]:
    found: dict[str, set[int | None]] = {}
    for clock in system.clocks:
        if clock.at_most is not None:
            found.setdefault(clock.name, set()).add(clock.at_most.at_most())
    return found


def needs(system: TransitionSystem) -> dict[str, set[tuple[str, int | None]]]:
    """Return the clocks and least times that each action needs, in ms."""
    found: dict[str, set[tuple[str, int | None]]] = {}
    for action in system.actions:
        for need in waits_of(system, action):
            assert need.at_least is not None
            found.setdefault(action.name, set()).add((need.clock.name, need.at_least.at_least()))
    return found


def waits_of(system: TransitionSystem, action: Action) -> list[Need]:
    """Return the needs of an action, without its upper limits."""
    own = system.needs_of(action)
    assert all((need.at_least is None) is (need.at_most is not None) for need in own)
    return [need for need in own if need.at_most is None]


def too_late_after(system: TransitionSystem) -> dict[str, set[tuple[str, int | None]]]:
    """Return the clocks and times after which actions cannot happen, in ms."""
    found: dict[str, set[tuple[str, int | None]]] = {}
    for (name, _), own in system.needs.items():
        for need in own:
            if need.at_most is not None:
                found.setdefault(name, set()).add((need.clock.name, need.at_most.at_most()))
    return found


def wrong_needs(system: TransitionSystem) -> list[str]:
    """Return the actions with a need that differs from the expected need."""
    found = needs(system)
    needing = [action for action in system.actions if action.name in NEEDS]
    incomplete = {action.name for action in needing if len(waits_of(system, action)) != 1}
    return [name for name, need in NEEDS.items() if found.get(name) != {need} or name in incomplete]


# --- how long -------------------------------------------------------------------------------------------------------


def test_every_deadline() -> None:
    assert deadlines(DEFAULTS) == {name: {value} for name, value in DEADLINES.items()}


def test_every_need() -> None:
    assert wrong_needs(DEFAULTS) == []
    assert needs(DEFAULTS).keys() == NEEDS.keys()


def test_consumer_without_a_commit_must_have_crashed_before_the_first_commit() -> None:
    """A poll, the interval and two messages, a coordinator found again, and the crash: 405.4 s and an hour."""
    offsets_last = build(deleting_unread(set(ALL) - {Fault.LOST_OFFSETS})).system
    assert too_late_after(offsets_last) == {"restart_consumer": {("uncommitted", 4_005_400)}}
    assert too_late_after(DELETING_UNREAD) == {}, "what was committed may be lost"
    nothing_away = (Fault.SLOW_FOLLOWER, Fault.LEADER_MOVE, Fault.CONSUMER_CRASH)
    found = too_late_after(build(deleting_unread(nothing_away)).system)
    assert found == {"restart_consumer": {("uncommitted", 3_905_200)}}
    assert too_late_after(DEFAULTS) == {}, "it decides nothing where records do not get too old"


def test_a_connection_that_breaks_is_noticed_at_once_unless_a_fault_hides_it() -> None:
    """No answer within request.timeout.ms is all a client sees of a machine without power, or of a lost message."""
    assert deadlines(SEEN_AT_ONCE) == {name: {value} for name, value in DEADLINES.items() if name not in UNNOTICED}


@pytest.mark.parametrize("silent", [Fault.POWER_LOSS, Fault.DISK_LOSS])
def test_each_fault_by_which_a_broker_falls_silent(silent: Fault) -> None:
    found = deadlines(build(defaults((*FOUND_DEAD, silent))).system)
    del found["resolving"], found["late"]
    assert found.items() <= {name: {value} for name, value in DEADLINES.items()}.items()
    assert {"unnoticed", "sendable_beside_silent", "sendable_when_silence_is_noticed"} <= found.keys()


@pytest.mark.parametrize("hidden", [Fault.LOST_REQUEST, Fault.LOST_RESPONSE, Fault.DELAYED_REQUEST])
def test_each_fault_that_hides_a_broken_connection(hidden: Fault) -> None:
    """Other requests arrive soon; the client notices a lost request in time, and sends the record again."""
    found = deadlines(build(defaults((*FOUND_DEAD, hidden))).system)
    assert (found["arriving"], found["unnoticed"], found["sendable"]) == ({100}, {60_000}, {5_205})
    assert found["sendable_when_noticed"] == {65_205}
    assert "sendable_beside_silent" not in found


def pauses(deployment: Deployment) -> set[int]:
    """Return the times that transmitting waits for after a failure, in ms."""
    transmitting = (own for (name, _), own in build(deployment).system.needs.items() if name == "transmit")
    return {need.at_least.at_least() for own in transmitting for need in own if need.at_least is not None}


def test_each_retry_waits_twice_as_long_as_the_one_before() -> None:
    """From 3.7 on, less a fifth, and never longer than retry.backoff.max.ms (KIP-580)."""
    thrice = changed(defaults(), retries=3)
    assert pauses(thrice) == {80, 160, 320}
    longest = replace(thrice.durations, retry_backoff_max=Quantity("retry.backoff.max.ms", 250, 250))
    assert pauses(replace(thrice, durations=longest)) == {80, 160, 200}
    assert pauses(defaults()) == {80}, "nobody counts the attempts"
    constant = replace(thrice.durations, retry_backoff_max=Quantity("retry.backoff.max.ms", 90, 90))
    assert pauses(replace(thrice, durations=constant)) == {90}, "what cannot grow is not chosen at random"


def test_before_4_a_broker_that_comes_back_unfenced_had_no_session_left() -> None:
    """The controller refuses the broker while the session of its former incarnation lasts (6.4)."""
    found = needs(BEFORE_4)
    assert found.pop("restart_before_fenced") == {("away", 1_000), ("unheard", 6_900)}
    assert found == {name: {need} for name, need in NEEDS.items()}


def test_without_acks_a_record_is_done_once_it_is_written() -> None:
    deployment = changed(defaults(), acks=Acks.NONE, idempotence=False)
    run = Scenario(deployment).do("send", batch=0)
    assert "busy()" in running(run)
    assert "busy()" not in running(run.do("transmit", batch=0, leader=1))


def test_backoffs_were_exact_before_they_grew() -> None:
    system = build(defaults(kafka="3.6")).system
    assert needs(system)["transmit"] == {("backoff", 100)}


@pytest.mark.parametrize(
    ("assume", "clock", "most"),
    [
        ({"network": "0..1s"}, "unheard", 14_375),
        ({"network": "0..1s"}, "arriving", 1_000),
        ({"network": "0..1s"}, "held_up", 31_000),
        ({"network": "0..1s"}, "sendable", 15_105),
        ({"network": "0..1s"}, "fetching", 10_000),
        ({"network": "0..1s"}, "sendable_at_once", 18_005),
        ({"metadata": "2s"}, "news", 2_000),
        ({"metadata": "2s"}, "sendable_when_silence_is_noticed", 102_705),
        ({"election": "5s"}, "unheard", 17_475),
        ({"broker_restart": "1s..1min"}, "returning", 78_075),
        ({"application_restart": "10s"}, "consumer_back", 10_000),
        ({"slowness": "0..40s"}, "slow", 40_000),
        ({"cut_off": "0..7s"}, "cut_off", 11_600),
        ({"network": "0..unbounded"}, "arriving", None),
    ],
)
def test_an_assumption_moves_a_deadline(assume: dict[str, str], clock: str, most: int | None) -> None:
    assert deadlines(build(defaults(**assume)).system)[clock] == {most}


@pytest.mark.parametrize(
    ("assume", "action", "least"),
    [
        ({"network": "0..1s"}, "fence", 6_000),
        ({"network": "0..1s"}, "shrink_isr", 21_000),
        ({"network": "0..unbounded"}, "fence", 0),
        ({"broker_restart": "30s..1min"}, "restart", 30_000),
        ({"application_restart": "10s"}, "restart_consumer", 10_000),
    ],
)
def test_an_assumption_moves_a_need(assume: dict[str, str], action: str, least: int) -> None:
    assert {value for _, value in needs(build(defaults(**assume)).system)[action]} == {least}


# --- since when -----------------------------------------------------------------------------------------------------


def running(run: Scenario) -> set[str]:
    """Return the clocks that run now, except those of records that the application can send at any time."""
    others = [clock for clock in run.model.system.clocks if clock.name != "blocked"]
    return {str(clock) for clock in others if holds(clock.runs, run.state)}


def test_nothing_is_due_at_first() -> None:
    assert running(Scenario(defaults())) == set()


def test_a_leader_that_fell_silent_and_leads_on_may_have_left_followers_waiting() -> None:
    """Such waiting exists before 4.0 only (6.4), and only where a leader can fall silent."""
    assert deadlines(BEFORE_4)["fetching_after_silence"] == {31_900}
    for system in (DEFAULTS, build(defaults((*FOUND_DEAD, Fault.CONTROLLER_STALL), kafka="3.9")).system):
        assert deadlines(system)["fetching"] == {1_900}
        assert "fetching_after_silence" not in deadlines(system)
    run = Scenario(defaults(kafka="3.9")).produce(0, 1).do("lose_power", broker=1, kept=0)
    run.do("restart_before_fenced", broker=1).do("apply_metadata", broker=1)
    assert "fetching_after_silence(follower=2, leader=1)" in running(run)
    assert "fetching(follower=2, leader=1)" not in running(run)


def test_before_2_5_a_leader_that_fell_silent_and_leads_again_may_have_left_followers_waiting() -> None:
    """A follower stays with it that is told that nobody leads, and its fetch has no answer until it times out (8)."""
    for kafka, waits in (("2.0.1", True), ("2.0", True), ("2.4", True), ("2.5", False)):
        run = Scenario(defaults(kafka=kafka)).produce(0, 1).do("become_slow", broker=2).do("become_slow", broker=3)
        run.do("shrink_isr", leader=1, follower=2).do("shrink_isr", leader=1, follower=3)
        at = {} if kafka in ("2.4", "2.5") else {"checkpointed": 0}
        run.do("lose_power", broker=1, kept=0, **at).do("fence", broker=1).do("apply_metadata", broker=2)
        run.do("restart", broker=1).do("apply_metadata", broker=1).do("recover_speed", broker=2)
        assert ("fetching_after_silence(follower=2, leader=1)" in running(run)) is waits
        assert "fetching(follower=2, leader=1)" not in running(run)


def test_one_change_of_the_isr_waits_for_another() -> None:
    pair = deadlines(build(defaults(replicas="2")).system)
    assert (pair["lagging"], pair["caught_up"]) == ({45_600}, {2_300})


def test_the_clocks_of_a_send() -> None:
    run = Scenario(defaults()).do("send", batch=0)
    pending = {"busy()", "pending(batch=0)"}
    assert running(run) == pending | {"sendable_at_once(batch=0)"}
    run.do("transmit", batch=0, leader=1)
    sent = pending | {"in_flight(leader=1)"}
    assert running(run) == sent | {"arriving(batch=0)"}
    run.do("append", batch=0, leader=1)
    fetching = {"fetching(follower=2, leader=1)", "fetching(follower=3, leader=1)"}
    behind = {"behind(leader=1, follower=2)", "behind(leader=1, follower=3)"}
    assert running(run) == sent | fetching | behind
    run.replicate(2, 1).replicate(3, 1)
    assert running(run) == sent | {"answering(batch=0)"}
    run.do("acknowledge", batch=0, leader=1)
    assert running(run) == set()


def test_the_clocks_of_a_retry() -> None:
    run = Scenario(defaults()).do("send", batch=0).do("transmit", batch=0, leader=1).do("lose_request", batch=0)
    pending = {"busy()", "pending(batch=0)"}
    assert running(run) == pending | {"in_flight(leader=1)", "unnoticed(broker=1)"}
    run.do("notice", broker=1)
    other = {
        "backoff(batch=0, leader=2)",
        "backoff(batch=0, leader=3)",
    }  # that do not lead in this epoch
    assert running(run) == pending | {"backoff(batch=0, leader=1)", "sendable(batch=0)"} | other
    assert "backoff(batch=0, leader=1)" not in running(run.do("transmit", batch=0, leader=1))


def test_nothing_is_due_over_a_dead_connection_before_that_is_noticed() -> None:
    run = Scenario(defaults((Fault.LOST_REQUEST,), **{"bounds.records": "2"}))
    run.do("send", batch=0).do("transmit", batch=0, leader=1).do("send", batch=1)
    assert "sendable_at_once(batch=1)" in running(run)
    run.do("lose_request", batch=0)
    pending = {"busy()", "pending(batch=0)", "pending(batch=1)"}
    assert running(run) == pending | {"in_flight(leader=1)", "unnoticed(broker=1)"}
    run.do("notice", broker=1)
    assert "sendable(batch=0)" in running(run)


def test_a_connection_may_be_broken_where_the_lost_request_was_given_up() -> None:
    run = Scenario(defaults((Fault.LOST_REQUEST,), **{"bounds.records": "2"}))
    run.do("send", batch=0).do("transmit", batch=0, leader=1).do("lose_request", batch=0).do("give_up", batch=0)
    assert "sendable_when_noticed(batch=1)" in running(run.do("send", batch=1))


def test_after_a_silent_death_it_matters_whom_the_producer_has_to_talk_to() -> None:
    """The leader that it knows is there; the next one it has to find, and the dead one may be asked first."""
    run = Scenario(defaults()).do("lose_power", broker=3, kept=0).do("send", batch=0)
    assert "sendable_at_once(batch=0)" in running(run)
    run = Scenario(defaults(**{"bounds.records": "2"})).do("send", batch=0).do("lose_power", broker=1, kept=0)
    run.do("fence", broker=1).do("apply_metadata", broker=2)
    assert "sendable_when_silence_is_noticed(batch=0)" in running(run)
    run.do("transmit", batch=0, leader=2).do("append", batch=0, leader=2)
    assert "sendable_at_once(batch=1)" in running(run.do("send", batch=1))


def test_a_producer_that_asks_for_an_id_may_ask_a_dead_broker() -> None:
    again = changed(defaults(**{"bounds.sends": "2"}), on_restart=OnRestart.RESEND)
    run = Scenario(again).do("send", batch=0).do("crash_producer").do("lose_power", broker=3, kept=0)
    run.do("send", batch=1)
    assert "sendable_when_silence_is_noticed(batch=1)" in running(run)
    assert "pending(batch=1)" not in running(run)


def test_a_cut_off_broker_can_mislead_a_producer_for_as_long_as_it_is_cut_off() -> None:
    """The broker names the former leader; a broker that takes itself for the leader gets requests."""
    run = Scenario(defaults()).do("send", batch=0).do("cut_off", broker=3).do("kill", broker=1).do("fence", broker=1)
    run.do("apply_metadata", broker=2)
    assert not any(clock.startswith("sendable") for clock in running(run))
    assert any(
        clock.startswith("sendable") for clock in running(run.do("reconnect", broker=3).do("apply_metadata", broker=3))
    )
    run = Scenario(defaults()).do("cut_off", broker=1).do("fence", broker=1).do("apply_metadata", broker=2)
    assert any(clock.startswith("sendable") for clock in running(run.do("send", batch=0)))


def test_dead_connection_is_noticed_only_once() -> None:
    run = Scenario(defaults()).do("send", batch=0).do("transmit", batch=0, leader=1).do("lose_power", broker=1, kept=0)
    run.do("fence", broker=1).do("apply_metadata", broker=2).do("notice", broker=1)
    assert "sendable_beside_silent(batch=0)" in running(run)


def test_a_request_waits_for_the_isr_no_longer_than_its_client_allows() -> None:
    """A leader that is cut off does not know that its followers have gone."""
    run = Scenario(defaults()).do("cut_off", broker=1).do("fence", broker=1)
    run.do("apply_metadata", broker=2).do("apply_metadata", broker=3)
    run.do("send", batch=0).do("transmit", batch=0, leader=1).do("append", batch=0, leader=1)
    assert "held_up(batch=0)" in running(run)
    assert "held_up(batch=0)" not in running(run.do("time_out_at_broker", batch=0, leader=1))


def test_a_full_buffer_blocks_the_send_that_it_fails() -> None:
    run = Scenario(defaults())
    (clock,) = [clock for clock in run.model.system.clocks if clock.name == "blocked"]
    assert holds(clock.runs, run.state)
    assert not holds(clock.runs, run.do("send", batch=0).state)


def test_the_clocks_of_a_death() -> None:
    run = Scenario(defaults()).do("kill", broker=1)
    assert running(run) == {"away(broker=1)", "unheard(broker=1)"}
    run.do("fence", broker=1)
    gone = {"away(broker=1)", "returning(broker=1)"}
    assert running(run) == gone | {"news(broker=2)", "news(broker=3)"}
    run.do("apply_metadata", broker=2)
    assert {"behind(leader=2, follower=1)", "behind(leader=2, follower=3)"} <= running(run)
    run.do("restart", broker=1)
    assert not gone & running(run)


def test_the_clocks_of_a_slow_follower() -> None:
    run = Scenario(defaults()).do("become_slow", broker=3)
    assert {"slow(broker=3)", "behind(leader=1, follower=3)"} <= running(run)
    assert "lagging(follower=3, leader=1)" not in running(run), "it is known to have the whole log"
    run.produce(0, 1)
    assert "lagging(follower=3, leader=1)" in running(run)
    run.do("shrink_isr", leader=1, follower=3)
    assert "lagging(follower=3, leader=1)" not in running(run)
    assert "slow(broker=3)" not in running(run.do("recover_speed", broker=3))
    assert "behind(leader=1, follower=3)" in running(run), "until the leader knows that it has caught up"


def test_a_broker_that_is_cut_off_is_unheard_until_it_is_heard_again() -> None:
    run = Scenario(defaults()).do("cut_off", broker=2)
    assert {"cut_off(broker=2)", "unheard(broker=2)"} <= running(run)
    assert not {"cut_off(broker=2)", "unheard(broker=2)"} & running(run.do("reconnect", broker=2))


def test_the_clock_of_a_consumer_that_is_away() -> None:
    run = Scenario(defaults()).do("crash_consumer")
    assert running(run) == {"consumer_away()", "consumer_back()"}


# --- the whole ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("system", [DEFAULTS, SEEN_AT_ONCE, REQUESTS_ARE_LOST, BEFORE_4])
def test_needs_are_about_declared_clocks(system: TransitionSystem) -> None:
    declared = {clock.key: clock for clock in system.clocks}
    for own in system.needs.values():
        for need in own:
            assert need.clock.runs.eq(declared[need.clock.key].runs)


@pytest.mark.parametrize("system", [DEFAULTS, SEEN_AT_ONCE, REQUESTS_ARE_LOST, BEFORE_4])
def test_needs_are_about_the_action_itself(system: TransitionSystem) -> None:
    """Each need names the clock of the action's own batch, broker or pair of brokers."""
    for action in system.actions:
        for need in waits_of(system, action):
            assert need.clock.arguments.items() <= action.arguments.items()


def deployment_with_workers() -> Deployment:
    return changed(defaults(), processing=Processing.HANDED_OFF)


def deleting_unread(kinds: Iterable[Fault] = ALL) -> Deployment:
    """Read brokers that delete records an hour after their write; a consumer is away for an hour at most."""
    kept = Quantity("retention.ms", 3_600_000, 3_600_000)
    return replace(defaults(kinds), durations=replace(defaults(kinds).durations, retention=kept))


DELETING_UNREAD = build(deleting_unread()).system


def deleting_numbers() -> Deployment:
    """Read the same with brokers and client 2.3, where each broker deletes by itself and forgets the producers of
    deleted records."""
    known = sequencing_of(parse_release("2.3"), parse_release("2.3"))
    return changed(deleting_unread(), sequencing=known, producer_id=ProducerId.NEW)


DELETING_NUMBERS = build(deleting_numbers()).system


def compacted(kinds: Iterable[Fault] = ALL) -> Deployment:
    """Read a topic that keeps tombstones for an hour after the cleaner's first pass over them."""
    kept = Quantity("delete.retention.ms", 3_600_000, 3_600_000)
    times = replace(defaults(kinds).durations, delete_retention=kept)
    careful = Compaction(below_high_watermark=True, horizon_from_cleaning=True)
    return changed(defaults(kinds), durations=times, compaction=careful, keys=Keys.DELETED)


COMPACTED = build(compacted()).system


def compacted_with_transactions() -> Deployment:
    """Read a topic that keeps markers for an hour; a slow follower can take longer. The cleaner waits for a minute."""
    few = changed(compacted(), faults=FaultBudget(2, (("slow-follower", 1), ("transaction-timeout", 1))), replicas=2)
    rules = Transactional(1, verified=True, epoch_each=False, first_is_zero=False, read_committed=True)
    lag = Quantity("min.compaction.lag.ms", 60_000, 60_000)
    return changed(
        few,
        kafka=(3, 1, 0),
        bounds=replace(few.bounds, records=1, log=3, producer_epochs=4),
        durations=replace(few.durations, compaction_lag=lag),
        idempotence=True,
        transactional=rules,
    )


WITH_TRANSACTIONS = build(compacted_with_transactions()).system

QUICK_RESTARTS = [build(defaults(kafka=kafka, broker_restart="0..1s")).system for kafka in ("3.9", "4.0")]
"""A broker could be back before its session is over."""


@pytest.mark.parametrize("system", [DEFAULTS, REQUESTS_ARE_LOST, BEFORE_4, WITHOUT_ACKS])
def test_only_clocks_read_the_history(system: TransitionSystem) -> None:
    remembered = {variable.name for variable in system.history}
    free = FreeVariables()
    for action in system.actions:
        read = free.of(action.guard).union(*(free.of(value) for value in action.updates.values()))
        assert not read & remembered
        assert all(z3.is_int_value(action.updates[v]) for v in system.history if v in action.updates)
    assert remembered <= frozenset().union(*(free.of(clock.runs) for clock in system.clocks))


def not_both(one: z3.BoolRef, other: z3.BoolRef, system: TransitionSystem) -> bool:
    """Tell whether no state makes both conditions true."""
    solver = z3.Solver()
    solver.add(system.domain, one, other)
    return bool(solver.check() == z3.unsat)


@pytest.mark.parametrize(
    "system",
    [
        DEFAULTS,
        SEEN_AT_ONCE,
        BEFORE_4,
        DELETING_UNREAD,
        DELETING_NUMBERS,
        COMPACTED,
        WITH_TRANSACTIONS,
        *QUICK_RESTARTS,
    ],
)
def test_due_action_can_happen_before_its_deadline(system: TransitionSystem) -> None:
    """A due action is no fault; one is possible whenever the clock runs, and its needs end before the deadline."""
    actions = {action.key: action for action in system.actions}
    for clock in system.clocks:
        due = [actions[key] for key in clock.due]
        assert all(action.fault is None for action in due)
        if not due:
            continue
        assert not_both(clock.runs, z3.Not(z3.Or(*(a.guard for a in system.actions if a.key in clock.due))), system)
        most = None if clock.at_most is None else clock.at_most.at_most()
        for need in (need for action in due for need in system.needs_of(action)):
            least = 0 if need.at_least is None else need.at_least.at_least()
            assert most is None or least <= most


def test_every_broker_deletes_old_records_and_nothing_else() -> None:
    deletes = [one for one in DELETING_NUMBERS.actions if one.name in ("expire", "expire_by_itself")]
    assert {one.name for one in deletes} == {"expire", "expire_by_itself"}
    for one in deletes:
        ages = [
            need for need in DELETING_NUMBERS.needs_of(one) if need.clock.name == "age" and need.at_least is not None
        ]
        assert [(dict(need.clock.arguments), need.at_least.at_least()) for need in ages if need.at_least] == [
            ({"batch": dict(one.arguments)["batch"]}, 3_600_000)
        ]


def test_a_consumer_polls_where_records_can_be_deleted_unread() -> None:
    assert "polling" not in {clock.name for clock in DEFAULTS.clocks}
    polling, *others = [clock for clock in DELETING_UNREAD.clocks if clock.name == "polling"]
    assert others
    assert {name for name, _ in polling.due} == {"poll", "seek_to_divergence", "reset_position"}


def test_a_tombstone_is_kept_from_when_the_cleaner_passed_over_it() -> None:
    dropping = [action for action in COMPACTED.actions if action.name == "drop_tombstone"]
    assert dropping
    for action in dropping:
        (need,) = COMPACTED.needs_of(action)
        assert (need.clock.name, need.at_least.at_least() if need.at_least else 0) == ("marked", 3_600_000)
    assert "pass_hole" in {name for clock in COMPACTED.clocks if clock.name == "polling" for name, _ in clock.due}


def test_no_cleaner_drops_records_younger_than_its_lag() -> None:
    """To 3.0 nothing passes over a tombstone before: min.compaction.lag.ms holds for its removal itself."""
    asked = compacted()
    careless = Compaction(below_high_watermark=False, horizon_from_cleaning=False)
    lag = Quantity("min.compaction.lag.ms", 60_000, 60_000)
    system = build(changed(asked, compaction=careless, durations=replace(asked.durations, compaction_lag=lag))).system
    dropping = [action for action in system.actions if action.name == "drop_tombstone"]
    assert dropping
    for action in dropping:
        assert {need.at_least.at_least() for need in system.needs_of(action) if need.at_least} == {60_000, 3_600_000}


def test_a_marker_is_kept_from_when_the_cleaner_passed_over_it() -> None:
    dropping = [action for action in WITH_TRANSACTIONS.actions if action.name == "drop_marker"]
    assert dropping
    for action in dropping:
        (need,) = WITH_TRANSACTIONS.needs_of(action)
        assert (need.clock.name, need.at_least.at_least() if need.at_least else 0) == ("expiring", 3_600_000)
    for action in WITH_TRANSACTIONS.actions:
        if action.name in ("remove_aborted", "forget_aborted"):
            (need,) = WITH_TRANSACTIONS.needs_of(action)
            assert (need.clock.name, need.at_least.at_least() if need.at_least else 0) == ("age", 60_000)
    assert "pass_over" in {
        name for clock in WITH_TRANSACTIONS.clocks if clock.name == "polling" for name, _ in clock.due
    }


@pytest.mark.parametrize(
    "system", [DEFAULTS, pytest.param(build(deployment_with_workers()).system, marks=pytest.mark.slow)]
)
def test_clock_of_a_need_is_older_than_the_clock_that_ends_the_need(system: TransitionSystem) -> None:
    """Nothing is handed to a worker while the consumer is away."""
    pairs = {(n.clock.key, n.until.key): (n.clock, n.until) for own in system.needs.values() for n in own if n.until}
    assert bool(pairs) == (system is not DEFAULTS)
    for clock, until in pairs.values():
        for action in system.actions:
            after = [(variable.term, value) for variable, value in action.updates.items()]
            solver = z3.Solver()
            solver.add(*(z3.And(v.low <= v.term, v.term <= v.high) for v in system.variables))
            solver.add(action.guard, z3.Not(clock.runs), z3.substitute(clock.runs, *after), until.runs)
            assert solver.check() == z3.unsat, action.key


def test_clocks_say_since_when() -> None:
    """Each completes the sentence "so many milliseconds since ..."."""
    assert all(clock.since and not clock.since.endswith(".") for clock in DEFAULTS.clocks)


def test_a_system_refuses_a_need_of_a_clock_that_it_does_not_have() -> None:
    used = {need.clock.key for own in DEFAULTS.needs.values() for need in own}
    kept = tuple(clock for clock in DEFAULTS.clocks if clock.key not in used)
    with pytest.raises(ValueError, match="needs the undeclared clock"):
        replace(DEFAULTS, clocks=kept)


def without(_: Need) -> tuple[Need, ...]:
    return ()


def longer(need: Need) -> tuple[Need, ...]:
    assert need.at_least is not None
    return (replace(need, at_least=need.at_least + Duration.of(Quantity("more", 1, 1))),)


@pytest.mark.parametrize("change", [without, longer])
@pytest.mark.parametrize("name", NEEDS)
def test_a_need_that_is_dropped_or_changed_is_noticed(name: str, change: Any) -> None:
    """In a single action: one of several of that name would be enough to let a run through, or to lose one."""
    first = next(action for action in DEFAULTS.actions if action.name == name)
    need, *others = DEFAULTS.needs_of(first)
    system = replace(DEFAULTS, needs={**DEFAULTS.needs, first.key: (*change(need), *others)})
    assert wrong_needs(system) == [name]


# --- when sends fail ------------------------------------------------------------------------------------------------


def test_last_attempt_in_flight_fails_at_the_delivery_timeout() -> None:
    """The record may be appended all the same: the application knows only that no acknowledgement came (3.1, P7 P8)."""
    run = Scenario(defaults()).do("send", batch=0).do("transmit", batch=0, leader=1)
    assert not run.can("give_up", batch=0), "nothing held it up"
    run.do("lose_request", batch=0).do("notice", broker=1).do("transmit", batch=0, leader=1)
    assert run.can("give_up", batch=0)
    run.do("append", batch=0, leader=1).replicate(2, 1).replicate(3, 1)
    run.do("give_up", batch=0)
    assert run.log(1) == [0]


def test_last_attempt_at_another_leader_fails_at_the_delivery_timeout() -> None:
    run = Scenario(defaults()).do("send", batch=0).do("move_leader", broker=2).do("apply_metadata", broker=2)
    assert run.do("transmit", batch=0, leader=2).can("give_up", batch=0)


def test_before_2_1_only_records_in_the_accumulator_expire() -> None:
    old = changed(defaults(), expires_in_accumulator=True, idempotence=False)
    run = Scenario(old).do("send", batch=0)
    assert "in_accumulator(batch=0)" in running(run)
    assert "pending(batch=0)" not in running(run)
    run.do("transmit", batch=0, leader=1).do("lose_request", batch=0)
    assert not run.can("give_up", batch=0)
    assert run.do("notice", broker=1).can("give_up", batch=0)
    (need,) = run.model.system.needs_of(run.action("give_up", batch=0))
    assert need.at_least is not None
    assert (need.clock.name, need.at_least.at_least()) == ("in_accumulator", 30_000)
