"""Random walks of a model, and the events that they show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from proofka.checker.conformance.asked_event import ACTION_ROWS, NEVER, SILENT, seen_as
from proofka.checker.conformance.events import Event
from proofka.checker.conformance.transaction_events import STATUSES
from proofka.checker.evaluation import Evaluator
from proofka.model.language import Action, State, TransitionSystem
from proofka.model.pipeline import Model
from proofka.model.state.pipeline import Fate, Pipeline
from proofka.model.state.transactions import Outcome, Status

Weight = Callable[[Action], float]
"""A function from an action to its weight in a random choice."""

WEIGHT_OF_FAULT = 0.15
"""The weight of a fault besides that of other actions."""


def few_fetches(action: Action) -> float:
    """Return a low weight for fetches, which are possible in nearly every state."""
    return 0.2 if action.name == "fetch" else 1.0


@dataclass(frozen=True)
class Taken:
    """A step of a walk: the action, and the states before and after."""

    action: Action
    before: State
    after: State


class Walker:
    """A source of random walks of one system, computed in plain Python.

    ``reads``: the walks have a consumer, which is given one record at a time.
    """

    def __init__(self, system: TransitionSystem, *, reads: bool = False) -> None:
        self._system = system
        self._actions = [
            action
            for action in system.actions
            if seen_as(action) != NEVER
            and (action.lane != "consumer" or (reads and action.arguments.get("count", 1) == 1))
        ]
        self._guards = Evaluator(action.guard for action in self._actions)
        self._updates = {action.key: Evaluator(action.updates.values()) for action in self._actions}

    def enabled(self, state: State) -> list[Action]:
        """Return the actions that are possible in a state."""
        values = self._guards.values(state)
        return [action for action, holds in zip(self._actions, values, strict=True) if holds]

    def step(self, state: State, action: Action) -> dict[str, int]:
        """Return the state after an action."""
        values = self._updates[action.key].values(state)
        return {**state, **{v.name: int(value) for v, value in zip(action.updates, values, strict=True)}}

    def walk(self, random: Random, length: int, faults: int, *, weight: Weight = few_fetches) -> list[Taken]:
        """Return a random walk of at most ``length`` steps, with at most ``faults`` faults."""
        state: State = self._system.initial
        taken: list[Taken] = []
        for _ in range(length):
            left = faults - sum(step.action.fault is not None for step in taken)
            choices = [action for action in self.enabled(state) if action.fault is None or left > 0]
            if not choices:
                break
            weights = [weight(action) * (WEIGHT_OF_FAULT if action.fault is not None else 1.0) for action in choices]
            action = random.choices(choices, weights)[0]
            after = self.step(state, action)
            taken.append(Taken(action, state, after))
            state = after
        return taken


def shown(model: Model, walk: Sequence[Taken], random: Random, *, looks: float = 0.3) -> list[Event]:
    """Return the events of a walk: those of its steps, reports, and looks at logs after some of the steps."""
    pipeline = model.pipeline
    events: list[Event] = []
    for taken in walk:
        events += _of_step(pipeline, taken)
        for replica in pipeline.replicas:
            if random.random() < looks:
                events.append(
                    _event("log", broker=replica.number, entries=entries(pipeline, taken.after, replica.number))
                )
    return [replace(event, opens=float(place), closes=float(place)) for place, event in enumerate(events)]


def widened(events: Sequence[Event], random: Random, *, most: float = 2.5) -> list[Event]:
    """Return the events with wider intervals around their moments; the controller's decisions keep their order."""
    return [
        replace(
            event,
            opens=event.opens - random.uniform(0, most),
            closes=event.closes + random.uniform(0, most),
            chain="controller" if event.kind == "decided" else "",
        )
        for event in events
    ]


def entries(pipeline: Pipeline, state: State, broker: int) -> list[dict[str, int]]:
    """Return the entries of a broker's log, as the event ``log`` has them."""
    found = pipeline.replica(broker).log.entries(state)
    names = ("epoch", "producer_epoch", "sequence")
    return [{**_content(pipeline, entry), **{n: entry[n] for n in names if n in entry}} for entry in found]


def _content(pipeline: Pipeline, entry: Mapping[str, int]) -> dict[str, int]:
    batches, transactions = pipeline.producer.batches, pipeline.transactions
    if entry["batch"] < len(batches):
        return {"record": batches[entry["batch"]].record}
    assert transactions is not None
    return {"commits": int(transactions.of_marker(entry["batch"])[1])}


def _event(kind: str, /, **arguments: object) -> Event:
    return Event(kind, arguments, opens=0, closes=0)


def _of_step(pipeline: Pipeline, taken: Taken) -> Iterator[Event]:
    """Yield the event that a step shows, and the reports of the sends that it ends."""
    kind, given = _kind(pipeline, taken), taken.action.arguments
    if kind not in ("", "reported"):
        yield _event(kind, **_arguments(pipeline, kind, taken, given))
    for batch in pipeline.producer.batches:
        was, now = taken.before[batch.fate.name], taken.after[batch.fate.name]
        if was != now and now in (Fate.ACKNOWLEDGED, Fate.FAILED) and kind != "refused_send":
            yield _event("reported", batch=batch.number, error=None if now == Fate.ACKNOWLEDGED else "failed")
    yield from _ended(pipeline, taken, kind)
    if kind == "started_consumer":
        yield _event("joined", position=taken.after[pipeline.consumer.position.name])


def _ended(pipeline: Pipeline, taken: Taken, kind: str) -> Iterator[Event]:
    """Yield the calls that end a transaction in a step; a producer that is given up returns from none."""
    for one in pipeline.transactions.each if pipeline.transactions is not None else ():
        was, now = taken.before[one.outcome.name], taken.after[one.outcome.name]
        if was != now and now in (Outcome.COMMITTED, Outcome.ABORTED) and kind != "replaced_producer":
            yield _event("ended_transaction", transaction=one.number, commits=int(now == Outcome.COMMITTED))


def _kind(pipeline: Pipeline, taken: Taken) -> str:
    """Return the kind of event that shows a step; empty for a silent step."""
    kinds = seen_as(taken.action)
    if "unfenced" in kinds:
        epoch = pipeline.controller.epoch.name
        return "decided" if taken.before[epoch] != taken.after[epoch] else "unfenced"
    return kinds[0] if kinds != SILENT else ""


def _arguments(pipeline: Pipeline, kind: str, taken: Taken, given: Mapping[str, int]) -> dict[str, object]:
    batches = pipeline.producer.batches
    if kind == "decided":
        controller, after = pipeline.controller, taken.after
        return {
            "leader": after[controller.leader.name],
            "epoch": after[controller.epoch.name],
            "isr": [number for number, member in controller.isr.items() if after[member.name]],
            **({"fenced": given["broker"]} if taken.action.name == "fence" else {}),
            **({"stopping": given["broker"]} if taken.action.name == "begin_shutdown" else {}),
        }
    if kind in ("requested", "answered"):
        errors = ACTION_ROWS[taken.action.name]["errors"].split()
        error = {"error": int(errors[0])} if kind == "answered" else {}
        return {"record": batches[given["batch"]].record, "broker": given.get("leader", given.get("broker")), **error}
    if kind == "coordinated":
        assert pipeline.transactions is not None
        status = Status(taken.after[pipeline.transactions.status.name])
        name = next(name for name, value in STATUSES.items() if value is status)
        # The model leaves a new producer's state as it was, and Kafka's coordinator writes that it is empty.
        is_new = taken.action.name in ("initialise", "ask_before")
        return {"status": "Empty" if is_new else name, "epoch": taken.after[pipeline.transactions.epoch.name]}
    if kind == "broken":
        return {"broker": taken.before[batches[given["batch"]].target.name]}
    if kind == "polled":
        offset = taken.before[pipeline.consumer.position.name]
        slot = pipeline.replica(given["leader"]).log.slots[offset]
        return {"offset": offset, "record": batches[taken.before[slot["batch"].name]].record}
    names = {
        "lost_power": ("broker", "kept"),
        "ended_producer": (),
        "ended_consumer": (),
        "started_consumer": (),
        "replaced_producer": (),
        "delayed_end": ("commits",),
    }.get(kind, ("batch", "broker"))
    return {name: value for name, value in given.items() if name in names}
