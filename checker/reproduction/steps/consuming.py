"""The consumer: polling, processing, committing, crashing (semantics 12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from proofka.checker.cluster.errors import CommandFailed
from proofka.checker.cluster.frames import RESPONSE
from proofka.checker.cluster.plan import CONTROLLER
from proofka.checker.cluster.sends import send_of
from proofka.checker.cluster.waiting import until
from proofka.checker.reproduction.adjusting import committed_by
from proofka.checker.reproduction.errors import DivergedError
from proofka.checker.reproduction.expected import records_named
from proofka.checker.reproduction.gates import CONSUMER_ID, broker_of, to_broker
from proofka.checker.reproduction.plan import PlannedStep
from proofka.checker.reproduction.replay import SECONDS, START_SECONDS, TIMER_SECONDS, Replay, Steer
from proofka.checker.reproduction.steps.results import write_results

POLL_MILLISECONDS = 200
"""Longest time of a poll that is to return no record, in milliseconds."""
REBALANCE_SECONDS = 40.0
"""Longest wait until a consumer that starts is given the partition, in seconds."""


def poll(replay: Replay, step: PlannedStep) -> None:
    """Poll as many records as the trace has, and process them."""
    records = polled(replay, step)
    write_results(replay, records, member=replay.consuming.programs)
    replay.consuming.processed += [record for _, record in records]


def hand_off(replay: Replay, step: PlannedStep) -> None:
    """Poll as many records as the trace has, and hand them to workers."""
    replay.consuming.with_workers.update((offset - replay.base, record) for offset, record in polled(replay, step))


def crash_while_processing(replay: Replay, step: PlannedStep) -> None:
    """Poll records, process some of them, and kill the consumer."""
    records = [record for _, record in polled(replay, step)]
    replay.consuming.processed += records[: step.arguments["done"]]
    crash_consumer(replay, step)


def crash_consumer(replay: Replay, step: PlannedStep) -> None:
    """Kill the consumer, after the commit that the trace's next start finds, if there is one."""
    commit_first(replay, step)
    replay.consuming.kill()


def restart_consumer(replay: Replay, step: PlannedStep) -> None:
    """Start the consumer again, and compare the offset at which it begins."""
    finished = step.arguments.get("finished", 0)
    workers = replay.consuming.with_workers
    replay.consuming.processed += [record for offset, record in sorted(workers.items()) if finished >> offset & 1]
    workers.clear()
    replay.consuming.run(seconds=REBALANCE_SECONDS)
    begins = replay.consuming.started_at[replay.consuming.programs] - replay.base
    expected = int(step.state["position"])
    replay.note("consumer", f"starts at offset {begins + replay.base}")
    if begins != expected:
        raise DivergedError(
            f"the consumer starts at offset {expected + replay.base}",
            f"the consumer starts at offset {begins + replay.base}",
        )


def pass_over(replay: Replay, step: PlannedStep) -> None:
    """Do nothing: the client passes over markers and aborted records inside its next poll."""


def seek_to_divergence(replay: Replay, step: PlannedStep) -> None:
    """Poll until the consumer has asked where its log and the leader's diverge."""
    _poll_until_asked(replay, "OffsetForLeaderEpoch")


def reset_position(replay: Replay, step: PlannedStep) -> None:
    """Poll until the consumer has asked for the offset of its policy."""
    _poll_until_asked(replay, "ListOffsets")


def reset_beyond_end(replay: Replay, step: PlannedStep) -> None:
    """Have the consumer fetch from the broker beyond the end of its log, and ask for the offset of its policy.

    Brokers that name another leader are out of reach until the consumer has asked this broker for the leader. The
    group's coordinator is back then, as some clients fetch nothing without it.
    """
    leader, since = step.arguments["leader"], len(replay.proxy.seen)
    others = [node for node in (CONTROLLER, *replay.brokers) if _names_another(replay, node, leader)]
    if replay.cluster.is_fenced(leader):
        _take_back(replay, leader, known_to=others)
    for node in others:
        replay.proxy.refuse(to_broker(node))
    try:
        _poll_until_asked(replay, "Metadata", at=leader, since=since)
        replay.proxy.accept(to_broker(CONTROLLER))
        _poll_until_asked(replay, "ListOffsets", since=since)
    finally:
        for node in others:
            replay.proxy.accept(to_broker(node))


def _take_back(replay: Replay, broker: int, *, known_to: Sequence[int]) -> None:
    """Let the controller take a fenced broker back, which does not hear that another broker leads.

    Brokers do not name a fenced broker, and some clients ask only brokers that the last answer named. The controller
    takes a broker back at its first heartbeat, whatever the broker has heard since it was fenced
    (``BrokerHeartbeatManager.calculateNextBrokerState``). ``known_to``: the nodes that name the broker from then on,
    and tell the consumer.
    """
    replay.proxy.accept(replay.cluster.channels.to_controller(str(broker)))
    gates = [gate for node, gate in replay.gates.metadata.items() if node in known_to]
    for gate in gates:
        gate.open()
    for node in known_to:
        replay.cluster.wait_serving(broker, by=node, seconds=START_SECONDS)
    for gate in gates:
        gate.close()
    _poll_until_asked(replay, "Metadata")


def _names_another(replay: Replay, node: int, leader: int) -> bool:
    return replay.cluster.node(node).is_up and replay.view(node).leader != leader


def _poll_until_asked(replay: Replay, api: str, *, at: int | None = None, since: int | None = None) -> None:
    """Poll until the consumer has an answer to a request of this name. The application goes on if a poll throws.

    ``at``: the broker that has to answer; None for any. ``since``: how many messages the proxy had seen when the first
    that counts came; None for all that have come by now.
    """
    program = replay.consuming.run(seconds=REBALANCE_SECONDS)
    first = len(replay.proxy.seen) if since is None else since
    client = f"{CONSUMER_ID}-{replay.consuming.programs}"

    def has_asked() -> bool:
        try:
            program.ask("poll", count=0, milliseconds=POLL_MILLISECONDS, seconds=TIMER_SECONDS)
        except CommandFailed as error:
            replay.note("consumer", str(error))
        return any(
            entry.frame.client == client
            and entry.frame.api == api
            and entry.frame.side == RESPONSE
            and at in (None, broker_of(entry.frame))
            for entry in tuple(replay.proxy.seen)[first:]
        )

    until(has_asked, what=f"the answer to the consumer's {api} request", seconds=TIMER_SECONDS)


def commit_first(replay: Replay, step: PlannedStep) -> None:
    """Bring about the commit of this step, or the commit that the consumer's next start finds.

    Results that commit offsets themselves need none.
    """
    if replay.consuming.start_results is not None:
        return
    starts = replay.plan.later(step, "restart_consumer")
    found = [committed_by(replay.plan, one.number) for one in (step, *starts[:1])]
    offset = next((one for one in found if one is not None), None)
    program = replay.consuming.program
    if offset is None or program is None:
        return
    if replay.plan.application.get("commit") == "auto":
        program.send("poll", count=0, milliseconds=1000)
        until(
            lambda: replay.cluster.admin.committed_offset(replay.group, replay.topic) == replay.base + offset,
            what=f"the commit of offset {replay.base + offset} by group {replay.group}",
            seconds=TIMER_SECONDS,
        )
    else:
        event = program.ask("commit", offset=replay.base + offset, seconds=TIMER_SECONDS)
        if event.get("error"):
            raise DivergedError(f"the consumer commits offset {replay.base + offset}", f"the commit fails: {event}")
    replay.note("group", f"committed offset {replay.base + offset}")


def polled(replay: Replay, step: PlannedStep) -> list[tuple[int, int]]:
    """Poll until all records of the step came, and return (offset, record) of each.

    Raises DivergedError if other records come.
    """
    expected = records_named(step.text.split(" from broker ")[0])
    polled: list[tuple[int, int]] = []
    program = replay.consuming.run(seconds=REBALANCE_SECONDS)
    while len(polled) < len(expected):
        missing = len(expected) - len(polled)
        event = program.ask("poll", count=missing, milliseconds=int(SECONDS * 1000), seconds=TIMER_SECONDS)
        if not event["records"]:
            break
        for record in event["records"]:
            if record["offset"] >= replay.base:
                polled.append((record["offset"], send_of(record["value"].encode()).record))
    records = [record for _, record in polled]
    replay.note("consumer", "polls " + (", ".join(f"record {r} at offset {o}" for o, r in polled) or "nothing"))
    if tuple(records) != expected:
        raise DivergedError(
            step.text, f"the consumer polls {', '.join(f'record {one}' for one in records) or 'nothing'}"
        )
    return polled


PLANS: Mapping[str, Steer] = MappingProxyType(
    {
        "poll": poll,
        "hand_off": hand_off,
        "crash_while_processing": crash_while_processing,
        "crash_consumer": crash_consumer,
        "pass_over": pass_over,
        "reset_beyond_end": reset_beyond_end,
        "reset_position": reset_position,
        "restart_consumer": restart_consumer,
        "restart_consumer_at_end": restart_consumer,
        "seek_to_divergence": seek_to_divergence,
    }
)
"""The plan of each action of the consumer, by the action's name."""
