"""From observations to events: intervals, chains, decisions of several records, and faults that nobody ordered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from proofka.checker.conformance.decisions import Decision, decisions_of, model_epochs
from proofka.checker.conformance.events import Event
from proofka.checker.conformance.mutations import mutated, without
from proofka.checker.conformance.observations import (
    BrokerDecision,
    CoordinatorDecision,
    DelayedEnd,
    Done,
    EndedTransaction,
    Entry,
    Given,
    Joined,
    Look,
    Observations,
    OfConsumer,
    OfTransactions,
    PartitionDecision,
    Report,
    Request,
    Send,
)
from proofka.checker.conformance.observed_system import observed
from proofka.checker.conformance.recording import events_of
from proofka.checker.conformance.tracker import Answer, check_run
from tests.checker.conformance.small_models import crashing, three_brokers

FIRST = PartitionDecision(10, 0.0, 0.0, 1, 4, (1, 2, 3))
ALL = (1, 2, 3)


def partition(at: float, leader: int, epoch: int, isr: Sequence[int], *, offset: int = 0) -> PartitionDecision:
    return PartitionDecision(offset, at, at + 0.1, leader, epoch, tuple(isr))


def broker(at: float, number: int, *, fenced: bool) -> BrokerDecision:
    return BrokerDecision(0, at, at + 0.1, number, fenced)


def look(number: int, at: float, *entries: Entry) -> Look:
    return Look(number, (at, at + 0.01), entries)


NOTHING = Observations(
    brokers=ALL,
    first=FIRST,
    decisions=(),
    warm=1,
    producer=None,
    sends=(),
    requests=(),
    reports=(),
    looks=tuple(look(number, 0.5) for number in ALL),
    done=(),
    changes_passed={},
    lag=2.0,
    session=3.0,
    end=30.0,
)

ENTRY = Entry(0, 4, (-1, -1), -1)
SENT = replace(
    NOTHING,
    sends=(Send(0, (1.0, 1.1)),),
    requests=(Request(7, 1, (0,), arrived=1.05, left=1.06, given_up=None, answered=1.2, error=0),),
    reports=(Report(0, (1.21, 1.22), None),),
    looks=(
        *NOTHING.looks,
        look(1, 1.04),
        look(1, 1.3, ENTRY),
        look(2, 1.3),
        look(2, 1.4, ENTRY),
        look(3, 1.3),
        look(3, 1.4, ENTRY),
    ),
)
"""A record that was sent, acknowledged and replicated."""


def found(seen: Observations, kind: str) -> list[Event]:
    return [event for event in events_of(seen) if event.kind == kind]


def answer(seen: Observations, name: str = "acks-1") -> Answer:
    model = crashing(name) if any(done.control == "crash" for done in seen.done) else three_brokers(name)
    events = events_of(seen)
    return check_run(observed(model, events), events).answer


def test_an_ordinary_run_is_accepted() -> None:
    assert answer(SENT) is Answer.ACCEPTED
    kinds = {event.kind for event in events_of(SENT)}
    assert kinds == {"sent", "requested", "answered", "reported", "log"}


def test_an_acknowledgement_before_the_append_is_rejected() -> None:
    assert answer(replace(SENT, looks=(*SENT.looks[:3], look(1, 1.25), look(1, 1.3, ENTRY)))) is Answer.REJECTED


def test_a_log_with_another_record_is_rejected() -> None:
    other = replace(ENTRY, record=1)
    assert answer(replace(SENT, looks=(*SENT.looks, look(2, 2.0, other)))) is Answer.REJECTED


def test_only_changes_of_logs_are_events() -> None:
    looks = (look(1, 1.0), look(1, 2.0), look(1, 3.0, ENTRY), look(1, 4.0, ENTRY), look(1, 5.0, ENTRY))
    events = found(replace(NOTHING, looks=looks), "log")
    assert [(event.opens, len(event.arguments["entries"])) for event in events] == [
        (1.0, 0),
        (2.0, 0),
        (3.0, 1),
        (5.0, 1),
    ]


def test_numbers_of_a_log_count_from_the_first_record_of_the_run() -> None:
    entries = (Entry(0, 4, (9, 2), 1), Entry(1, 6, (9, 3), 0), Entry(1, 6, (11, 0), 0))
    decisions = (partition(2.0, 2, 5, (2, 3)), partition(3.0, 1, 6, (1, 2, 3)))
    seen = replace(NOTHING, producer=(9, 2), decisions=decisions, looks=(look(1, 4.0, *entries),))
    assert found(seen, "log")[0].arguments["entries"] == [
        {"record": 0, "epoch": 1, "producer_epoch": 0, "sequence": 0},
        {"record": 1, "epoch": 3, "producer_epoch": 1, "sequence": 0},
        {"record": 1, "epoch": 3},
    ]


def test_a_fencing_and_its_election_are_one_decision() -> None:
    records = (partition(5.0, 2, 5, (2, 3)), broker(5.0, 1, fenced=True))
    assert list(decisions_of(replace(NOTHING, decisions=records))) == [
        Decision(5.0, 5.1, 2, 2, (2, 3), fenced=1, elects=True, removed=(1,))
    ]


def test_the_last_of_the_isr_stays_when_it_is_fenced() -> None:
    records = (partition(5.0, 0, 5, (1,)), broker(5.0, 1, fenced=True))
    seen = replace(NOTHING, first=replace(FIRST, isr=(1,)), decisions=records)
    assert [(d.leader, d.isr, d.fenced) for d in decisions_of(seen)] == [(0, (1,), 1)]


def test_a_fencing_beside_the_partition_is_a_decision_of_its_own() -> None:
    records = (partition(5.0, 1, 4, (1, 2)), broker(5.2, 3, fenced=True))
    assert [(d.isr, d.fenced) for d in decisions_of(replace(NOTHING, decisions=records))] == [((1, 2), 0), ((1, 2), 3)]


def test_an_announced_stop_is_one_decision_in_which_the_leader_changes() -> None:
    stops = BrokerDecision(0, 3.0, 3.1, 1, False, True)
    fenced = BrokerDecision(0, 4.0, 4.1, 1, True, True)
    seen = replace(NOTHING, decisions=(stops, partition(3.0, 2, 5, (2, 3)), fenced))
    (decision,) = decisions_of(seen)
    assert (decision.stopping, decision.fenced, decision.leader, decision.isr) == (1, 0, 2, (2, 3))
    (event,) = found(seen, "decided")
    assert event.arguments == {"leader": 2, "epoch": 2, "isr": [2, 3], "stopping": 1}
    assert not found(seen, "cut_off")


def test_a_stop_of_the_last_of_the_isr_leaves_the_partition() -> None:
    first = replace(FIRST, isr=(1,))
    stops = BrokerDecision(0, 3.0, 3.1, 1, False, True)
    (decision,) = decisions_of(replace(NOTHING, first=first, decisions=(stops,)))
    assert (decision.stopping, decision.leader, decision.isr) == (1, 1, (1,))


def test_a_planned_stop_is_accepted() -> None:
    stops = BrokerDecision(0, 3.0, 3.1, 3, False, True)
    stopped = replace(
        SENT,
        decisions=(stops, partition(3.0, 1, 4, (1, 2)), broker(10.0, 3, fenced=False), partition(11.0, 1, 4, ALL)),
        done=(Done("stop", 3, (2.9, 4.0)), Done("restart", 3, (9.0, 9.1))),
    )
    assert answer(stopped) is Answer.ACCEPTED
    assert answer(replace(stopped, decisions=stopped.decisions[1:])) is Answer.REJECTED


def test_a_return_and_its_election_are_one_decision() -> None:
    records = (
        partition(5.0, 0, 5, (1,)),
        broker(5.0, 1, fenced=True),
        broker(8.0, 1, fenced=True),
        broker(9.0, 1, fenced=False),
        partition(9.0, 1, 6, (1,)),
    )
    seen = replace(NOTHING, first=replace(FIRST, isr=(1,)), decisions=records)
    assert [(d.leader, d.fenced, d.unfenced, d.elects) for d in decisions_of(seen)] == [
        (0, 1, 0, True),
        (1, 0, 1, True),
    ]


LAST_KNOWN = replace(
    NOTHING,
    decisions=(
        partition(5.0, 1, 4, (1, 3)),
        broker(5.0, 2, fenced=True),
        partition(9.0, 1, 4, (1,)),
        broker(9.0, 3, fenced=True),
        partition(13.0, 0, 5, ()),
        broker(13.0, 1, fenced=True),
        broker(14.5, 2, fenced=False),
        broker(15.0, 1, fenced=True),
        broker(16.0, 1, fenced=False),
        partition(18.0, 1, 6, (1,)),
        broker(18.0, 3, fenced=True),
        broker(20.0, 3, fenced=False),
    ),
    done=(
        Done("kill", 2, (2.0, 2.1)),
        Done("kill", 3, (6.0, 6.1)),
        Done("kill", 1, (10.0, 10.1)),
        Done("restart", 2, (13.5, 13.6)),
        Done("restart", 1, (14.0, 14.1)),
        Done("restart", 3, (17.0, 17.1)),
    ),
)
"""All brokers died. Broker 3 is the last eligible replica until its registration elects the last known leader."""


def test_a_registration_that_elects_the_last_known_leader_is_the_return_of_the_broker() -> None:
    elected = list(decisions_of(LAST_KNOWN))[-2]
    assert (elected.leader, elected.isr, elected.registered, elected.unfenced) == (1, (1,), 3, 0)
    assert [event.arguments["broker"] for event in found(LAST_KNOWN, "unfenced")] == [2, 1]
    (*_, decided) = found(LAST_KNOWN, "decided")
    assert (decided.opens, decided.closes, decided.arguments["leader"]) == (18.0, 18.1, 1)
    assert answer(LAST_KNOWN, "eligible-leader-replicas") is Answer.ACCEPTED


def test_the_last_known_leader_does_not_lead_without_a_registration() -> None:
    alone = [one for one in LAST_KNOWN.decisions if (one.written, getattr(one, "broker", 0)) != (18.0, 3)]
    assert answer(replace(LAST_KNOWN, decisions=tuple(alone)), "eligible-leader-replicas") is Answer.REJECTED


def test_an_epoch_that_rises_without_an_election_is_the_same_epoch_of_the_model() -> None:
    records = (partition(5.0, 1, 5, (1, 2)), partition(6.0, 2, 6, (1, 2)), partition(7.0, 1, 7, (1, 2)))
    assert model_epochs(replace(NOTHING, decisions=records)) == {4: 1, 5: 1, 6: 2, 7: 3}


def test_the_end_of_a_broker_has_an_interval() -> None:
    done = (Done("kill", 2, (2.0, 2.5)), Done("lose_power", 3, (3.0, 3.5)))
    seen = replace(NOTHING, done=done, looks=(look(3, 2.0, ENTRY, ENTRY), look(3, 3.6, ENTRY)))
    assert [(e.kind, e.opens, e.closes, dict(e.arguments)) for e in events_of(seen) if e.kind != "log"] == [
        ("killed", 2.0, 2.5, {"broker": 2}),
        ("lost_power", 3.0, 3.5, {"broker": 3, "kept": 1}),
    ]


def test_a_return_lasts_from_the_start_until_a_decision_needs_the_broker() -> None:
    decisions = (
        partition(5.0, 2, 5, (2, 3)),
        broker(5.0, 1, fenced=True),
        broker(9.0, 1, fenced=False),
        partition(10.0, 2, 5, (2, 3, 1)),
    )
    done = (Done("kill", 1, (2.0, 2.1)), Done("restart", 1, (6.0, 6.1)))
    (event,) = found(replace(NOTHING, decisions=decisions, done=done), "unfenced")
    assert (event.opens, event.closes, event.chain) == (6.0, 10.1, "")


def test_a_change_of_the_isr_lasts_until_its_leader_has_the_answer() -> None:
    seen = replace(NOTHING, decisions=(partition(5.0, 1, 4, (1, 2)),), changes_passed={1: (4.0, 7.0, 9.0), 2: (5.5,)})
    (event,) = found(seen, "decided")
    assert (event.opens, event.closes) == (5.0, 8.0)


def test_a_change_of_the_isr_begins_with_the_last_proposal_of_its_leader() -> None:
    """The controller tells times in whole milliseconds, so a proposal can seem to come just after the decision."""
    decided = replace(NOTHING, decisions=(partition(5.0, 1, 4, (1, 2)),))
    for proposed, opens in (((1.0, 4.0, 6.0), 4.0), ((4.0, 5.0005), 5.0), ((), 5.0)):
        (event,) = found(replace(decided, changes_proposed={1: proposed, 2: (4.5,)}), "decided")
        assert event.opens == opens


def test_a_leader_that_stands_still_reads_the_answer_later() -> None:
    changed = replace(NOTHING, decisions=(partition(5.0, 1, 4, (1, 2)),), changes_passed={1: (7.0,)})
    pauses = (Done("pause", 1, (7.5, 7.5)), Done("resume", 1, (12.0, 12.0)))
    (event,) = found(replace(changed, done=pauses), "decided")
    assert event.closes == 13.0
    (event,) = found(replace(changed, done=pauses[:1]), "decided")
    assert event.closes == NOTHING.end
    (event,) = found(replace(changed, done=(Done("pause", 2, (7.5, 7.5)),)), "decided")
    assert event.closes == 8.0


def test_members_leave_and_join_the_isr_one_after_the_other() -> None:
    decisions = (partition(5.0, 1, 4, (1,)), partition(6.0, 1, 4, (1, 2, 3)), partition(7.0, 2, 5, (2,)))
    assert [event.arguments["isr"] for event in found(replace(NOTHING, decisions=decisions), "decided")] == [
        [1, 3],
        [1],
        [1, 2],
        [1, 2, 3],
        [2],
    ]


def test_decisions_keep_their_order_whatever_their_intervals() -> None:
    decisions = (partition(5.0, 1, 4, (1, 2)), partition(6.0, 1, 4, (1,)), partition(6.5, 1, 4, (1, 3)))
    events = found(replace(NOTHING, decisions=decisions, changes_passed={1: (9.0,)}), "decided")
    assert [event.arguments["isr"] for event in events] == [[1, 2], [1], [1, 3]]
    assert [event.closes for event in events] == sorted(event.closes for event in events)


def test_a_request_without_an_answer_ends_a_connection() -> None:
    lost = Request(7, 1, (0,), arrived=1.05, left=1.06, given_up=None, answered=None, error=None)
    again = Request(8, 2, (0,), arrived=4.0, left=4.0, given_up=None, answered=4.1, error=0)
    (event,) = found(replace(SENT, requests=(lost, again), reports=()), "broken")
    assert (event.opens, event.closes, event.arguments) == (1.05, 4.0, {"broker": 1})
    (event,) = found(replace(SENT, requests=(lost,), reports=(Report(0, (8.0, 8.1), "TIMED_OUT"),)), "broken")
    assert event.closes == 8.1
    assert not found(SENT, "broken")


LOST = Request(7, 1, (0,), arrived=1.05, left=1.06, given_up=None, answered=None, error=None)
CRASHED = replace(
    SENT,
    sends=(Send(0, (1.0, 1.1)), Send(1, (3.0, 3.1))),
    requests=(LOST, Request(8, 1, (1,), arrived=3.05, left=3.06, given_up=None, answered=3.2, error=0)),
    reports=(Report(1, (3.21, 3.22), None),),
    done=(Done("crash", 0, (1.5, 1.6)),),
    looks=(*SENT.looks, look(1, 2.9, ENTRY), *(look(n, 3.5, ENTRY, replace(ENTRY, record=1)) for n in ALL)),
)
"""A record whose producer crashed before the answer, and a record of the next process."""


def test_a_crash_ends_the_request_in_flight_and_the_next_process_sends_the_next_record() -> None:
    assert [event.kind for event in events_of(CRASHED) if event.chain == "application"] == [
        "sent",
        "ended_producer",
        "sent",
    ]
    (broken,) = found(CRASHED, "broken")
    assert broken.closes == 1.6
    assert answer(CRASHED) is Answer.ACCEPTED


def test_a_model_whose_producer_never_crashes_rejects_the_crash() -> None:
    model, events = mutated(crashing("acks-1"), without("crash_producer")), events_of(CRASHED)
    assert check_run(observed(model, events), events).answer is Answer.REJECTED


def test_a_success_of_a_record_that_a_crash_has_ended_is_rejected() -> None:
    reports = (*CRASHED.reports, Report(0, (2.0, 2.1), None))
    assert answer(replace(CRASHED, reports=reports)) is Answer.REJECTED


def test_a_crash_after_all_sends_changes_nothing() -> None:
    assert answer(replace(SENT, done=(Done("crash", 0, (5.0, 5.1)),))) is Answer.ACCEPTED


def test_a_request_that_asks_for_no_answer_is_lost_only_with_its_connection() -> None:
    written = Request(7, 1, (0,), arrived=1.05, left=1.06, given_up=None, answered=None, error=None, answerable=False)
    assert not found(replace(SENT, requests=(written,)), "broken")
    cut = replace(written, left=None, given_up=2.0)
    (event,) = found(replace(SENT, requests=(cut,), reports=(Report(0, (1.0, 1.1), None),)), "broken")
    assert (event.opens, event.closes) == (1.05, SENT.end)


def test_with_acks_0_a_report_can_come_before_the_record_is_in_a_log() -> None:
    written = Request(7, 1, (0,), arrived=1.05, left=1.06, given_up=None, answered=None, error=None, answerable=False)
    early = replace(SENT, requests=(written,), reports=(Report(0, (1.05, 1.06), None),))
    assert answer(early, "acks-0") is Answer.ACCEPTED
    assert answer(early, "acks-1") is Answer.REJECTED


def test_a_request_that_is_given_up_was_sent_before() -> None:
    late = Request(7, 1, (0,), arrived=1.05, left=None, given_up=2.0, answered=None, error=None)
    (event,) = found(replace(SENT, requests=(late,), reports=()), "requested")
    assert (event.opens, event.closes) == (1.0, 2.0)
    assert not found(replace(SENT, requests=(late,), reports=()), "answered")


def test_a_broker_that_is_fenced_while_it_runs_was_cut_off() -> None:
    decisions = (partition(9.0, 1, 4, (1, 2)), broker(9.0, 3, fenced=True))
    seen = replace(NOTHING, decisions=decisions)
    (event,) = found(seen, "cut_off")
    assert (event.opens, event.closes, event.arguments) == (5.0, 9.1, {"broker": 3})
    assert answer(replace(seen, looks=NOTHING.looks)) is Answer.ACCEPTED


def test_a_follower_that_is_removed_was_slow_or_cut_off() -> None:
    seen = replace(SENT, looks=(*SENT.looks[:5], *SENT.looks[5:7]), decisions=(partition(9.0, 1, 4, (1, 2)),))
    assert [(event.opens, event.closes) for event in found(seen, "slowed")] == [(6.0, 9.1)]
    assert answer(seen) is Answer.ACCEPTED
    assert answer(replace(NOTHING, decisions=seen.decisions)) is Answer.REJECTED


def test_held_fetches_that_overlap_are_one_time() -> None:
    done = (
        Done("hold_fetch", 2, (2.0, 2.0)),
        Done("release_fetch", 2, (4.0, 4.0)),
        Done("hold_fetch", 2, (4.0, 4.0)),
        Done("release_fetch", 2, (6.0, 6.0)),
        Done("hold_fetch", 3, (7.0, 7.0)),
    )
    times = [(e.arguments["broker"], e.opens, e.closes) for e in found(replace(NOTHING, done=done), "slowed")]
    assert times == [(2, 2.0, 6.0), (3, 7.0, 30.0)]


def test_a_retry_is_sent_after_the_attempt_before() -> None:
    first = Request(7, 1, (0,), arrived=1.05, left=1.06, given_up=None, answered=1.2, error=19)
    again = Request(7, 1, (0,), arrived=1.5, left=1.5, given_up=None, answered=1.6, error=0)
    events = found(replace(SENT, requests=(first, again), reports=()), "requested")
    assert [(event.opens, event.closes) for event in events] == [(1.0, 1.06), (1.2, 1.5)]


def test_records_of_the_coordinator_are_events_in_their_order() -> None:
    decisions = (
        CoordinatorDecision(1.0, 1.2, "Ongoing", (9, 3)),
        CoordinatorDecision(2.0, 2.2, "PrepareCommit", (9, 4)),
        CoordinatorDecision(2.1, 2.3, "CompleteCommit", (9, 4)),
    )
    ended = (EndedTransaction(0, True, (2.4, 2.5)),)
    run = replace(NOTHING, transactions=OfTransactions((9, 3), decisions, ended, (DelayedEnd(False, (1.5, 1.6)),)))
    coordinated = found(run, "coordinated")
    assert [event.arguments for event in coordinated] == [
        {"status": "PrepareCommit", "epoch": 1},
        {"status": "CompleteCommit", "epoch": 1},
    ], "the model has a transaction ongoing from its first request on"
    assert len({event.chain for event in coordinated}) == 1
    assert [event.arguments for event in found(run, "ended_transaction")] == [{"transaction": 0, "commits": 1}]
    assert [event.arguments for event in found(run, "delayed_end")] == [{"commits": 0}]


def test_a_producer_that_is_replaced_is_an_event_of_its_own() -> None:
    run = replace(NOTHING, done=(Done("replace", 0, (1.0, 1.1)), Done("crash", 0, (2.0, 2.1))))
    kinds = [event.kind for event in events_of(run) if event.chain == "application"]
    assert kinds == ["replaced_producer", "ended_producer"]


def test_a_marker_is_an_entry_without_a_record() -> None:
    marked = Entry(None, 4, (9, 5), -1, "commit")
    run = replace(NOTHING, producer=(9, 4), looks=(look(1, 1.0, Entry(0, 4, (9, 4), 1), marked),))
    assert found(run, "log")[-1].arguments["entries"] == [
        {"record": 0, "epoch": 1, "producer_epoch": 0, "sequence": 0},
        {"commits": 1, "epoch": 1, "producer_epoch": 1},
    ]


def test_the_events_of_a_consumer_are_one_chain() -> None:
    consumer = OfConsumer((Joined(1, (4.0, 6.0)),), (Given(0, 0, (1.0, 3.0)), Given(1, 1, (6.0, 7.0))), ((3.5, 3.6),))
    events = [event for event in events_of(replace(NOTHING, consumer=consumer)) if event.chain == "consumer"]
    kinds = ["polled", "ended_consumer", "started_consumer", "joined", "polled"]
    assert [event.kind for event in events] == kinds
    assert events[0].arguments == {"offset": 0, "record": 0} and events[3].arguments == {"position": 1}
    assert events[0].closes <= events[1].closes <= events[2].closes


def test_a_broker_that_stops_and_leads_nothing_announces_its_stop() -> None:
    decisions = (partition(5.0, 1, 4, (1, 3)), broker(5.0, 2, fenced=True))
    stop = Done("stop", 2, (4.8, 6.0))
    (event,) = found(replace(NOTHING, decisions=decisions, done=(stop,)), "decided")
    assert (event.arguments["stopping"], "fenced" in event.arguments) == (2, False)
    (event,) = found(replace(NOTHING, decisions=decisions, done=(replace(stop, when=(1.0, 2.0)),)), "decided")
    assert event.arguments["fenced"] == 2
