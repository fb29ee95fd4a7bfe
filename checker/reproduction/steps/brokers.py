"""Brokers and the controller: replication, failures, elections, and what each broker learns (semantics 5 to 9)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from types import MappingProxyType
from typing import Callable

from proofka.checker.cluster.frames import REQUEST, Frame
from proofka.checker.cluster.gate import NotHeld
from proofka.checker.cluster.plan import CONTROLLER
from proofka.checker.cluster.waiting import until
from proofka.checker.reproduction.expected import entries_of, epoch_of, isr_of, leader_of, previous
from proofka.checker.reproduction.gates import CONSUMER_ID, to_broker
from proofka.checker.reproduction.plan import PlannedStep
from proofka.checker.reproduction.replay import START_SECONDS, TIMER_SECONDS, Replay, Steer

_EPOCH = re.compile(r"in epoch (\d+)")
MOST_FETCHES = 4
"""Largest number of fetches that pass for one step of the model."""


def fetch(replay: Replay, step: PlannedStep) -> None:
    """Let one fetch of the follower pass, and wait until the follower asks again.

    A follower that begins to follow another leader can need an answer without records first, for which the model has
    no step. So further fetches pass while the follower's log is not yet the model's.
    """
    follower, leader = step.arguments["follower"], step.arguments["leader"]
    expected = entries_of(step.logs[follower])
    if follower not in replay.unregistered and _has_missed_a_bump(replay, step):
        hear(replay, follower)
    for _ in range(MOST_FETCHES):
        frame = replay.wait_fetch(follower, leader, seconds=TIMER_SECONDS)
        replay.gates.fetches.release(frame)
        until(
            lambda frame=frame: replay.held_fetch(follower) not in (None, frame),  # type: ignore[misc]
            what=f"the next fetch of broker {follower}",
            seconds=TIMER_SECONDS,
        )
        if replay.log(follower) == expected:
            return


def _has_missed_a_bump(replay: Replay, step: PlannedStep) -> bool:
    """Tell whether the follower knows an older leader epoch than the leader, although the model's epochs are equal.

    Before 3.6 the controller also raises the epoch when it takes a follower out of the ISR, which the model leaves out.
    """
    follower, leader = step.arguments["follower"], step.arguments["leader"]
    words = (step.state[f"broker {follower}'s role"], step.state[f"broker {leader}'s role"])
    modelled = {found[1] for word in words for found in [_EPOCH.search(word)] if found}
    return len(modelled) == 1 and replay.view(follower).epoch < replay.view(leader).epoch


def become_slow(replay: Replay, step: PlannedStep) -> None:
    """Do nothing: the broker's fetches stay held until a step lets them pass."""


def apply_metadata(replay: Replay, step: PlannedStep) -> None:
    """Let the broker hear from the controller until the broker knows leader and epoch."""
    broker = step.arguments["broker"]
    hear(replay, broker)
    view = replay.view(broker)
    replay.note(f"metadata of broker {broker}", f"leader {view.leader}, epoch {view.epoch}, ISR {sorted(view.isr)}")


def hear(replay: Replay, broker: int) -> None:
    """Let a broker hear from the controller until both name the same leader, epoch and ISR.

    A broker that is not registered answers no questions. Its fetch from the leader shows that the broker has heard.
    """
    gate = replay.gates.metadata[broker]
    gate.open()
    if broker in replay.unregistered:
        _wait_following(replay, broker)
        gate.close()
        return
    until(
        lambda: _same(replay, broker),
        what=f"broker {broker} to learn what the controller has decided",
        seconds=TIMER_SECONDS,
    )
    gate.close()


def _same(replay: Replay, broker: int) -> bool:
    here, there = replay.view(broker), replay.view(CONTROLLER)
    return (here.leader, here.epoch, sorted(here.isr)) == (there.leader, there.epoch, sorted(there.isr))


def shrink_isr(replay: Replay, step: PlannedStep) -> None:
    """Let the leader's proposal of the smaller ISR pass, and wait until the controller has it."""
    with _wanted(replay, step):
        replay.gates.isr_changes.wait(_proposes(replay, step), what=_proposal(step), seconds=TIMER_SECONDS)
        _let_propose(replay, step)
    _hear_of_isr(replay, step.arguments["leader"])


def expand_isr(replay: Replay, step: PlannedStep) -> None:
    """Let the leader's proposal of the larger ISR pass, and wait until the controller has it.

    A leader proposes a follower at a fetch of the follower, once the leader has heard that the follower is unfenced.
    The model has no step for either, so the leader hears from the controller, and fetches of a follower that has all
    records pass.
    """
    leader, follower = step.arguments["leader"], step.arguments["follower"]
    if _knows_epoch(replay, leader):
        replay.gates.metadata[leader].open()

    def is_proposed() -> bool:
        found = any(map(_proposes(replay, step), replay.gates.isr_changes.held))
        fetch = replay.held_fetch(follower, leader)
        if not found and fetch is not None and replay.log(follower) == replay.log(leader):
            replay.gates.fetches.release(fetch)
        return found

    with _wanted(replay, step):
        until(is_proposed, what=_proposal(step), seconds=TIMER_SECONDS)
        _let_propose(replay, step)
    _hear_of_isr(replay, leader)
    replay.gates.metadata[leader].close()


def _let_propose(replay: Replay, step: PlannedStep) -> None:
    """Let the leader's proposals of the step's ISR pass until the controller has decided on the ISR.

    The controller refuses a proposal if its own decision has changed the partition since, and the leader proposes anew.
    """
    gate = replay.gates.isr_changes

    def pass_proposals() -> None:
        for frame in filter(_proposes(replay, step), gate.held):
            with suppress(NotHeld):
                gate.release(frame)

    _wait_controller(replay, step, meanwhile=pass_proposals)


def _knows_epoch(replay: Replay, leader: int) -> bool:
    return replay.view(leader).epoch == replay.view(CONTROLLER).epoch


def _hear_of_isr(replay: Replay, leader: int) -> None:
    """Let a leader hear of the ISR that it proposed, unless the controller has decided on another leader since."""
    if _knows_epoch(replay, leader):
        hear(replay, leader)


@contextmanager
def _wanted(replay: Replay, step: PlannedStep) -> Iterator[None]:
    """Let a leader put the ISR of a step into effect meanwhile."""
    channels = replay.cluster.channels
    channels.withhold(isr_of(step.state))
    try:
        yield
    finally:
        channels.withhold()


def _proposes(replay: Replay, step: PlannedStep) -> Callable[[Frame], bool]:
    channels, wanted = replay.cluster.channels, isr_of(step.state)
    link = channels.proposals(str(step.arguments["leader"])).link
    return lambda frame: frame.link == link and channels.proposed_isr(frame) == wanted


def _proposal(step: PlannedStep) -> str:
    return f"a proposal of broker {step.arguments['leader']} for the ISR {set(isr_of(step.state))}"


def learn_isr(replay: Replay, step: PlannedStep) -> None:
    """Let the broker hear from the controller."""
    hear(replay, step.arguments["broker"])


def kill(replay: Replay, step: PlannedStep) -> None:
    """Kill the broker's process; messages that the proxy holds for or from the broker are gone with it."""
    broker = step.arguments["broker"]
    _forget_messages(replay, broker)
    replay.cluster.kill(broker)


def lose_power(replay: Replay, step: PlannedStep) -> None:
    """Kill the broker, and cut its logs back to what was flushed, keeping what the trace keeps.

    A machine without power closes no connection, so clients' connections stay open and silent.
    """
    broker = step.arguments["broker"]
    replay.proxy.keep_open(to_broker(broker), True)
    _forget_messages(replay, broker)
    replay.silent.add(broker)
    replay.cluster.power_loss(broker, keep={(replay.topic, 0): replay.base + step.arguments["kept"]})
    _let_consumer_notice(replay, broker)


def lose_disk(replay: Replay, step: PlannedStep) -> None:
    """Kill the broker, and empty its disk. Clients' connections stay open and silent, as after a power loss."""
    broker = step.arguments["broker"]
    replay.proxy.keep_open(to_broker(broker), True)
    _forget_messages(replay, broker)
    replay.silent.add(broker)
    replay.cluster.lose_disk(broker)
    _let_consumer_notice(replay, broker)


def _let_consumer_notice(replay: Replay, broker: int) -> None:
    """End the consumer's silent connection: the model's consumer waits for no timer of its own before it reads on."""
    replay.proxy.cut(to_broker(broker), client=CONSUMER_ID)


def _forget_messages(replay: Replay, broker: int) -> None:
    link = to_broker(broker)
    replay.requests = {batch: frame for batch, frame in replay.requests.items() if frame.link != link}
    replay.abandoned = {batch: frame for batch, frame in replay.abandoned.items() if frame.link != link}


def restart(replay: Replay, step: PlannedStep) -> None:
    """Start the broker again, and wait until the controller lets it serve."""
    broker = step.arguments["broker"]
    gate = replay.gates.metadata[broker]
    gate.open()
    replay.proxy.keep_open(to_broker(broker), False)
    replay.cluster.restart(broker)
    replay.cluster.wait_serving(broker, by=CONTROLLER, seconds=START_SECONDS)
    gate.close()
    _wait_election(replay, step)
    if not replay.cluster.channels.knows_when_back:
        hear(replay, broker)


def start_early(replay: Replay, step: PlannedStep) -> None:
    """Start a broker while its old session lasts, and keep its registration from the controller.

    The broker copies the metadata, and fetches if another broker leads.
    """
    broker = step.arguments["broker"]
    registers = replay.cluster.channels.to_controller(str(broker))
    replay.unregistered[broker] = replay.proxy.gate(registers, REQUEST, apis={"BrokerRegistration"})
    gate = replay.gates.metadata[broker]
    gate.open()
    replay.proxy.keep_open(to_broker(broker), False)
    replay.cluster.restart(broker)
    replay.unregistered[broker].wait(what=f"the registration of broker {broker}", seconds=START_SECONDS)
    _wait_following(replay, broker)
    gate.close()


def _wait_following(replay: Replay, broker: int) -> None:
    leader = replay.leader
    if leader not in (None, broker) and replay.cluster.node(leader).is_up:
        replay.wait_fetch(broker, leader, seconds=START_SECONDS)


def register(replay: Replay, step: PlannedStep) -> None:
    """Let the registration of a broker that started early pass, and wait until the controller lets the broker serve."""
    broker = step.arguments["broker"]
    gate = replay.gates.metadata[broker]
    gate.open()
    replay.unregistered.pop(broker).remove()
    replay.cluster.wait_serving(broker, by=CONTROLLER, seconds=START_SECONDS)
    gate.close()
    _wait_election(replay, step)


def cut_off(replay: Replay, step: PlannedStep) -> None:
    """Refuse connections between the broker and the controller."""
    replay.proxy.refuse(_to_controller(replay, step.arguments["broker"]))


def reconnect(replay: Replay, step: PlannedStep) -> None:
    """Allow connections between the broker and the controller again."""
    replay.proxy.accept(_to_controller(replay, step.arguments["broker"]))


def _to_controller(replay: Replay, broker: int) -> str:
    return replay.cluster.channels.to_controller(str(broker))


def rejoin(replay: Replay, step: PlannedStep) -> None:
    """Allow connections to the controller, and wait until the controller has the broker back, which then knows all."""
    broker = step.arguments["broker"]
    gate = replay.gates.metadata[broker]
    gate.open()
    replay.proxy.accept(_to_controller(replay, broker))
    replay.cluster.wait_serving(broker, by=CONTROLLER, seconds=START_SECONDS)
    gate.close()
    _wait_election(replay, step)
    hear(replay, broker)


def _wait_election(replay: Replay, step: PlannedStep) -> None:
    """Wait for the controller's decision, if the broker's return elects a leader in the model."""
    if epoch_of(step.state) != epoch_of(previous(replay.plan, step)):
        _wait_controller(replay, step)


def move_leader(replay: Replay, step: PlannedStep) -> None:
    """Have the controller move leadership to the broker."""
    replay.cluster.ask_to_move_leader(replay.topic, step.arguments["broker"])
    _wait_controller(replay, step)


def decide(replay: Replay, step: PlannedStep) -> None:
    """Wait until the controller has decided on leader and ISR as the model's controller has."""
    _wait_controller(replay, step)


def _wait_controller(replay: Replay, step: PlannedStep, *, meanwhile: Callable[[], None] = lambda: None) -> None:
    """Wait until the controller has decided on the step's leader and ISR. ``meanwhile``: called before each look."""
    wanted = (leader_of(step.state), isr_of(step.state))

    def is_decided() -> bool:
        meanwhile()
        return _decided(replay) == wanted

    until(
        is_decided,
        what=f"the controller's decision on leader {wanted[0]} and ISR {set(wanted[1])}",
        seconds=TIMER_SECONDS,
    )
    view = replay.view(CONTROLLER)
    replay.epochs.setdefault(epoch_of(step.state), view.epoch)
    replay.note("controller", f"leader {view.leader}, epoch {view.epoch}, ISR {sorted(view.isr)}")


def _decided(replay: Replay) -> tuple[int | None, tuple[int, ...]]:
    view = replay.view()
    return view.chosen, tuple(sorted(view.isr))


PLANS: Mapping[str, Steer] = MappingProxyType(
    {
        "fetch": fetch,
        "truncate": fetch,
        "become_slow": become_slow,
        "recover_speed": become_slow,
        "apply_metadata": apply_metadata,
        "learn_isr": learn_isr,
        "shrink_isr": shrink_isr,
        "expand_isr": expand_isr,
        "fence": decide,
        "elect_unclean": decide,
        "move_leader": move_leader,
        "kill": kill,
        "lose_power": lose_power,
        "lose_disk": lose_disk,
        "restart": restart,
        "start_early": start_early,
        "register": register,
        "cut_off": cut_off,
        "reconnect": reconnect,
        "rejoin": rejoin,
    }
)
"""The plan of each action of brokers and the controller, by the action's name."""
