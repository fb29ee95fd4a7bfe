"""From the observations of a run to its events, in an order that the observations justify.

All times are of one clock, and each event has an interval that certainly contains its moment:

- A request is sent after ``send()`` or after the end of the attempt before, and before it leaves the proxy: on a busy
  machine the proxy reads a request some time after the client has sent the request.
- A broker answers after the request has left the proxy to the broker, and the client has the answer after the answer
  has left the proxy. The model's broker answers and its client hears in one step, at some moment in between.
- A log is on disk between the beginning and the end of a look. The append, fetch or truncation before is silent.
- A decision is made after the time that the controller wrote into the record, and before a look at the controller's
  log. Nobody acts on a decision before it is in that log. A change of the ISR is one step for leader and controller, so
  its interval lasts from the leader's proposal until the leader has read the answer, some time after the answer has
  passed on a busy machine.
- A broker that starts takes part before the controller takes it back, and a broker that was cut off is taken back
  before it has caught up. The model has one step for both. So the interval of its return begins with its start, or its
  fencing, and lasts until a decision needs the return.
- A registration that elects the last known leader is the model's step of the broker's return, which makes the election
  too. The unfencing that follows is no event of its own.
- A producer's process ends between the command that kills it and the end of its output. The calls of ``send()`` before
  have returned, and those after belong to the next process, so the ends of processes are in one chain with them. What
  the process had in flight has lost its connection by then.
- A connection breaks between the request that got no answer and the client's next attempt or report.
- A broker that the controller fences although it runs was not heard for a session; a follower that its leader removes
  did not fetch for the lag. These faults happened in that time, if the scheduler did not cause them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from proofka.checker.conformance.decisions import Decision, decisions_of, model_epochs
from proofka.checker.conformance.events import Event
from proofka.checker.conformance.gathering import CLOCK_SECONDS
from proofka.checker.conformance.observations import (
    Entry,
    Interval,
    Look,
    Observations,
    OfConsumer,
    OfTransactions,
    Request,
)

_ENDS = {"kill": "killed", "lose_disk": "lost_disk", "stop": "stopped"}
"""Control -> the event of a broker's end."""

_ENDS_OF_PRODUCERS = {"crash": "ended_producer", "replace": "replaced_producer"}
"""Control -> the event of the end of a producer's process."""

SLACK_SECONDS = 1.0
"""Seconds by which a silence can begin before the session or the lag that made it known, or a broker reads late."""


def events_of(seen: Observations) -> tuple[Event, ...]:
    """Return the events of a run."""
    decisions = [_by_stop(seen, decision) for decision in decisions_of(seen)]
    found = [
        *_of_application(seen),
        *_of_requests(seen),
        *_of_logs(seen),
        *_of_nodes(seen),
        *_of_decisions(seen, decisions),
        *_merged(_of_silence(seen, decisions)),
        *(_of_coordinator(seen.transactions) if seen.transactions is not None else ()),
        *(_of_consumer(seen.consumer) if seen.consumer is not None else ()),
    ]
    return tuple(sorted(_within_chains(found), key=lambda event: event.opens))


def _by_stop(seen: Observations, decision: Decision) -> Decision:
    """Return the fencing of a broker that stops as what it announces: one that leads nothing is fenced at once."""
    for done in seen.done:
        begin, end = done.when
        if (done.control, done.broker) == (
            "stop",
            decision.fenced,
        ) and begin <= decision.written + CLOCK_SECONDS <= end:
            return replace(decision, fenced=0, stopping=decision.fenced)
    return decision


def _within_chains(events: Sequence[Event]) -> list[Event]:
    """Return the events with intervals that respect the order of each chain, so that sorting keeps that order."""
    opens, closes = [event.opens for event in events], [event.closes for event in events]
    last: dict[str, float] = {}
    for place, event in enumerate(events):
        if event.chain:
            last[event.chain] = opens[place] = max(opens[place], last.get(event.chain, opens[place]))
    last.clear()
    for place, event in reversed(list(enumerate(events))):
        if event.chain:
            last[event.chain] = closes[place] = min(closes[place], last.get(event.chain, closes[place]))
    return [
        replace(event, opens=begin, closes=max(begin, end))
        for event, begin, end in zip(events, opens, closes, strict=True)
    ]


def _event(kind: str, opens: float, closes: float, *, chain: str = "", **arguments: object) -> Event:
    return Event(kind, arguments, opens=opens, closes=max(opens, closes), chain=chain)


def _of_application(seen: Observations) -> Iterator[Event]:
    calls = [_event("sent", *send.when, chain="application", batch=send.record) for send in seen.sends]
    ends = [_event(_ENDS_OF_PRODUCERS[control], *when, chain="application") for control, when in _ends(seen)]
    yield from sorted([*calls, *ends, *_of_calls(seen)], key=lambda event: event.opens)
    for report in seen.reports:
        begin = report.when[0] if report.error is None else _sent_at(seen, report.record)
        yield _event("reported", begin, report.when[1], batch=report.record, error=report.error)


def _of_calls(seen: Observations) -> Iterator[Event]:
    """Yield the calls that ended a transaction."""
    for one in seen.transactions.ended if seen.transactions is not None else ():
        what = {"transaction": one.transaction, "commits": int(one.commits)}
        yield _event("ended_transaction", *one.when, chain="application", **what)


def _ends(seen: Observations) -> list[tuple[str, Interval]]:
    """Return when the producer's process was ended, each time with the control."""
    return [(done.control, done.when) for done in seen.done if done.control in _ENDS_OF_PRODUCERS]


def _of_coordinator(found: OfTransactions) -> Iterator[Event]:
    """Yield the records of the coordinator, and the requests that it can get late.

    The model has a transaction ongoing from its first request on, and Kafka some time before or after.
    """
    for decision in found.decisions:
        if decision.status != "Ongoing":
            yield _event(
                "coordinated",
                decision.written,
                decision.seen,
                chain="coordinator of transactions",
                status=decision.status,
                epoch=decision.producer[1] - found.producer[1],
            )
    for delayed in found.delayed:
        yield _event("delayed_end", *delayed.when, commits=int(delayed.commits))


def _sent_at(seen: Observations, record: int) -> float:
    return max(send.when[1] for send in seen.sends if send.record == record)


def _of_consumer(found: OfConsumer) -> Iterator[Event]:
    """Yield the records that poll() returned, and the starts and ends of the consumer, in their order.

    The model's poll() fetches and returns at once. A client can have fetched the record before.
    """
    events = [_event("started_consumer", *one.when, chain="consumer") for one in found.joined]
    events += [_event("joined", *one.when, chain="consumer", position=one.position) for one in found.joined]
    events += [_event("ended_consumer", *when, chain="consumer") for when in found.ended]
    events += [
        _event("polled", *one.when, chain="consumer", offset=one.offset, record=one.record) for one in found.given
    ]
    yield from sorted(events, key=lambda event: event.closes)


def _of_requests(seen: Observations) -> Iterator[Event]:
    for request in seen.requests:
        away = [time for time in (request.left, request.given_up) if time is not None]
        left = min(away, default=request.arrived)
        for record in request.records:
            chain = f"requests {request.connection}"
            begin = _attempt_since(seen, request, record)
            yield _event("requested", begin, left, chain=chain, record=record, broker=request.broker)
        if request.answered is not None and request.left is not None:
            for record in request.records:
                yield _event(
                    "answered",
                    request.left,
                    request.answered,
                    chain=f"answers {request.connection}",
                    record=record,
                    broker=request.broker,
                    error=request.error,
                )
    yield from _of_broken_connections(seen)


def _attempt_since(seen: Observations, request: Request, record: int) -> float:
    """Return the time since which the client can have sent the request: its ``send()``, or the end of an attempt."""
    before = [send.when[0] for send in seen.sends if send.record == record]
    for other in seen.requests:
        if record in other.records and other.arrived < request.arrived:
            before.append(other.arrived if other.answered is None else other.answered)
    return max((time for time in before if time <= request.arrived), default=request.arrived)


def _of_broken_connections(seen: Observations) -> Iterator[Event]:
    """Yield the end of each connection on which a request got no answer.

    A request that asks for no answer is lost only where the proxy closed its connection.
    """
    unanswered: dict[int, list[Request]] = {}
    for request in seen.requests:
        lost = request.answered is None and (request.answerable or request.given_up is not None)
        if lost and request.records:
            unanswered.setdefault(request.connection, []).append(request)
    for connection, requests in unanswered.items():
        records = {record for request in requests for record in request.records}
        begin = requests[0].arrived
        ends = [seen.end]
        ends += [
            other.arrived
            for other in seen.requests
            if other.connection != connection and other.arrived > begin and records & set(other.records)
        ]
        ends += [when[1] for _, when in _ends(seen) if when[1] > begin]
        if requests[0].answerable:
            ends += [report.when[1] for report in seen.reports if report.record in records and report.when[1] > begin]
        yield _event("broken", begin, min(ends), broker=requests[0].broker)


def _of_logs(seen: Observations) -> Iterator[Event]:
    """Yield the looks that found a change, and the look before each of these."""
    epochs = model_epochs(seen)
    last: dict[int, Look] = {}
    for look in seen.looks:
        before = last.get(look.broker)
        last[look.broker] = look
        if before is None:
            yield _log(seen, epochs, look)
        elif before.entries != look.entries:
            yield _log(seen, epochs, before)
            yield _log(seen, epochs, look)
    for look in last.values():
        yield _log(seen, epochs, look)


def _log(seen: Observations, epochs: Mapping[int, int], look: Look) -> Event:
    entries = [_entry(seen, epochs, entry) for entry in look.entries]
    return _event("log", *look.when, broker=look.broker, entries=entries)


def _entry(seen: Observations, epochs: Mapping[int, int], entry: Entry) -> dict[str, int]:
    """Return the model's words for an entry: its numbers are known while the producer id is the first one."""
    content = {"commits": int(entry.marker == "commit")} if entry.record is None else {"record": entry.record}
    found = {**content, "epoch": epochs[entry.leader_epoch]}
    if seen.producer is not None and entry.producer[0] == seen.producer[0]:
        bumps = entry.producer[1] - seen.producer[1]
        found |= {"producer_epoch": bumps}
        if entry.record is not None:
            found |= {"sequence": entry.sequence - (seen.warm if bumps == 0 else 0)}
    return found


def _of_nodes(seen: Observations) -> Iterator[Event]:
    for done in seen.done:
        if done.control in _ENDS:
            yield _event(_ENDS[done.control], *done.when, broker=done.broker)
        elif done.control == "lose_power":
            kept = next(look for look in seen.looks if look.broker == done.broker and look.when[0] >= done.when[1])
            yield _event("lost_power", *done.when, broker=done.broker, kept=len(kept.entries))


def _held(seen: Observations, hold: str, release: str, broker: int) -> Iterator[tuple[float, float]]:
    """Yield the times during which the scheduler held something of a broker."""
    begin: float | None = None
    for done in seen.done:
        if done.broker == broker and done.control == hold and begin is None:
            begin = done.when[0]
        elif done.broker == broker and done.control == release and begin is not None:
            yield begin, done.when[1]
            begin = None
    if begin is not None:
        yield begin, seen.end


def _of_decisions(seen: Observations, decisions: Sequence[Decision]) -> Iterator[Event]:
    registered: set[int] = set()
    for place, decision in enumerate(decisions):
        opens, closes = decision.written, decision.seen
        if decision.registered:
            registered.add(decision.registered)
        if decision.unfenced in registered:
            registered.remove(decision.unfenced)
            continue
        if decision.unfenced:
            opens = _gone(seen, decisions[:place], decision)
            if not decision.elects:
                last = _needed(decisions[place + 1 :], decision.unfenced, default=seen.end)
                yield _event("unfenced", opens, last, broker=decision.unfenced)
                continue
            closes = seen.end  # The order of the decisions ends the interval.
        elif not (decision.fenced or decision.stopping or decision.registered) and (decision.removed or decision.added):
            proposed = [
                time
                for time in seen.changes_proposed.get(decision.leader, ())
                if time <= decision.written + CLOCK_SECONDS
            ]
            opens = min(max(proposed, default=opens), opens)
            passed = [time for time in seen.changes_passed.get(decision.leader, ()) if time >= decision.written]
            closes = _heard(seen, decision.leader, max(closes, min(passed, default=closes)))
        for isr in _one_by_one(decision):
            yield _event(
                "decided",
                opens,
                closes,
                chain="controller",
                leader=decision.leader,
                epoch=decision.epoch,
                isr=sorted(isr),
                **({"fenced": decision.fenced} if decision.fenced else {}),
                **({"stopping": decision.stopping} if decision.stopping else {}),
            )


def _heard(seen: Observations, broker: int, passed: float) -> float:
    """Return the time at which a broker has certainly read an answer that passed the proxy at a time."""
    heard = passed + SLACK_SECONDS
    for begin, end in _held(seen, "pause", "resume", broker):
        if begin <= heard and end >= passed:
            heard = max(heard, end + SLACK_SECONDS)
    return min(heard, max(seen.end, passed))


def _one_by_one(decision: Decision) -> Iterator[set[int]]:
    """Yield the ISRs of the model's steps: a leader removes and adds members one after the other."""
    isr = set(decision.isr)
    if not decision.fenced and not decision.stopping and not decision.elects:
        yield from (
            isr - set(decision.added) | set(decision.removed[place:]) for place in range(1, len(decision.removed))
        )
        yield from (
            isr - set(decision.added[place:]) for place in range(1 - bool(decision.removed), len(decision.added))
        )
    yield isr


def _gone(seen: Observations, before: Sequence[Decision], decision: Decision) -> float:
    """Return the time since which a broker can be back: its last start, or the decision that fenced the broker."""
    starts = [one.when[0] for one in seen.done if (one.control, one.broker) == ("restart", decision.unfenced)]
    fenced = [other.written for other in before if decision.unfenced in (other.fenced, other.stopping)]
    return max((time for time in (*starts, *fenced) if time <= decision.written), default=decision.written)


def _needed(later: Sequence[Decision], broker: int, *, default: float) -> float:
    """Return the time of the first decision that needs the broker's return."""
    needs = (
        one.seen for one in later if broker in one.added or broker in (one.fenced, one.stopping) or one.leader == broker
    )
    return next(needs, default)


def _of_silence(seen: Observations, decisions: Sequence[Decision]) -> Iterator[Event]:
    """Yield what can have kept a broker from the controller, or a follower from its leader."""
    for broker in seen.brokers:
        for begin, end in _held(seen, "hold_fetch", "release_fetch", broker):
            yield from _slowness(broker, begin, end, seen.end)
    for decision in decisions:
        if decision.fenced:
            yield from _cut_off(seen, decision.fenced, decision.written - seen.session - SLACK_SECONDS, decision.seen)
        for broker in () if decision.fenced or decision.stopping else decision.removed:
            begin = decision.written - seen.lag - SLACK_SECONDS
            yield from _slowness(broker, begin, decision.seen, seen.end)
            yield from _cut_off(seen, broker, begin, decision.seen)


def _merged(events: Iterable[Event]) -> Iterator[Event]:
    """Yield events of which those with the same content and overlapping intervals are one."""
    last: dict[str, Event] = {}
    for event in sorted(events, key=lambda event: event.opens):
        before = last.get(event.content)
        if before is not None and event.opens <= before.closes:
            last[event.content] = replace(before, closes=max(before.closes, event.closes))
            continue
        if before is not None:
            yield before
        last[event.content] = event
    yield from last.values()


def _slowness(broker: int, begin: float, end: float, last: float) -> Iterator[Event]:
    yield _event("slowed", begin, end, broker=broker)
    yield _event("quickened", begin, last, broker=broker)


def _cut_off(seen: Observations, broker: int, begin: float, end: float) -> Iterator[Event]:
    yield _event("cut_off", begin, end, broker=broker)
    yield _event("reconnected", begin, seen.end, broker=broker)
