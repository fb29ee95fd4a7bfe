"""The expectations of a replay: parts of the model's state that a cluster shows, read from the state in words."""

from __future__ import annotations

import re
from collections.abc import Mapping

from proofka.checker.cluster.sends import Send
from proofka.checker.reproduction.plan import Plan, PlannedStep

_ENTRY = re.compile(r"record (?P<record>\d+)(?: \(send (?P<attempt>\d+)\))? @(?P<epoch>\d+)")
_MARKER = re.compile(r"(?P<kind>commit|abort) of transaction (?P<transaction>\d+) @(?P<epoch>\d+)")
_COORDINATOR = (
    ("no transaction", ("Empty", "CompleteCommit", "CompleteAbort", "TRANSACTIONAL_ID_NOT_FOUND")),
    (": ongoing", ("Ongoing",)),
    (": to be committed", ("PrepareCommit",)),
    (": to be aborted", ("PrepareAbort",)),
    (": committed", ("CompleteCommit", "Empty")),
    (": aborted", ("CompleteAbort", "Empty")),
)
_BROKER = re.compile(r"broker (\d+)")
_RECORD = re.compile(r"record (\d+)")


def entries_of(texts: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    """Return (content, leader epoch) of each entry of a log in the model's words.

    Content is "record 1", "record 1 (send 2)" or "commit".
    """
    return tuple(_entry(text) for text in texts)


def _entry(text: str) -> tuple[str, int]:
    found = _ENTRY.search(text)
    if found:
        return str(Send(int(found["record"]), int(found["attempt"] or 1))), int(found["epoch"])
    found = _MARKER.search(text)
    if found:
        return found["kind"], int(found["epoch"])
    return text, -1


def leader_of(state: Mapping[str, str]) -> int | None:
    """Return the leader that the controller has chosen, or None if there is none."""
    found = _BROKER.fullmatch(state["leader"])
    return int(found[1]) if found else None


def epoch_of(state: Mapping[str, str]) -> int:
    """Return the leader epoch that the controller has chosen."""
    return int(state["leader epoch"])


def isr_of(state: Mapping[str, str]) -> tuple[int, ...]:
    """Return the ISR that the controller keeps, sorted."""
    return tuple(sorted(int(one) for one in re.findall(r"\d+", state["ISR"])))


def coordinator_states_of(state: Mapping[str, str]) -> tuple[str, ...]:
    """Return Kafka's names of the states that fit the model's coordinator, or of the error for an unknown id.

    The model has no name of its own for a producer that was given an epoch ("Empty"), and its first state stands for
    whatever was before.
    """
    return next(names for words, names in _COORDINATOR if state["coordinator"].endswith(words))


def is_up(state: Mapping[str, str], broker: int) -> bool:
    """Tell whether a broker runs."""
    return state[f"broker {broker}"].startswith("up")


def records_named(text: str) -> tuple[int, ...]:
    """Return the numbers of the records that a sentence names, in order."""
    return tuple(int(one) for one in _RECORD.findall(text))


def first_leaders(plan: Plan) -> tuple[int, ...]:
    """Return all replicas, the initial leader first, then in the order in which the trace elects them.

    A controller elects the first replica in the ISR that is alive, so a topic with this assignment elects as the trace.
    """
    order = [leader_of(plan.start) or 1]
    for step in plan.steps:
        leader = leader_of(step.state)
        if leader is not None and leader not in order:
            order.append(leader)
    order += [broker for broker in range(1, plan.replicas + 1) if broker not in order]
    return tuple(order)


def previous(plan: Plan, step: PlannedStep) -> Mapping[str, str]:
    """Return the model's state before a step."""
    return plan.steps[step.number - 2].state if step.number > 1 else plan.start
