"""Time: what each action needs of the clocks, and the deadlines of what is due.

Every clock follows a section of the semantics. A bound that is not certain is taken wide: a need too short or a
deadline too late allows runs that no real cluster has, never the other way round (docs/semantics.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from z3.z3util import get_vars

from model.language import Action, Clock, Need
from model.language.terms import And, Not
from model.state.pipeline import Pipeline
from model.timing.brokers import Brokers
from model.timing.cleaning import Cleaning
from model.timing.part import Part
from model.timing.reading import Reading
from model.timing.sends import Sends
from model.timing.sends_in_transactions import SendsInTransactions
from model.timing.transactions import Transactions


@dataclass(frozen=True)
class Timed:
    """Actions with what they need of the clocks, and the clocks."""

    actions: tuple[Action, ...]
    clocks: tuple[Clock, ...]


def timed(pipeline: Pipeline, actions: Sequence[Action]) -> Timed:
    """Return the actions of a pipeline with their needs, and the clocks."""
    kinds: tuple[type[Part], ...] = (Sends, Brokers, Reading, Cleaning)
    if pipeline.transactions is not None:
        kinds = (SendsInTransactions, Brokers, Reading, Transactions, Cleaning)
    parts = [part(pipeline, actions) for part in kinds]
    needs: dict[tuple[str, tuple[tuple[str, int], ...]], list[Need]] = {}
    for part in parts:
        for names, arguments, need in part.needs():
            for action in part.named(names, **arguments):
                needs.setdefault(action.key, []).append(need)
    deadlines = [clock for part in parts for clock in part.deadlines()]
    needed = [clock for each in needs.values() for need in each for clock in (need.clock, need.until)]
    clocks = {clock.key: clock for clock in (*needed, *deadlines) if clock is not None}
    with_needs = tuple(_with_needs(pipeline, action, needs.get(action.key, ())) for action in actions)
    return Timed(with_needs, tuple(clocks.values()))


def _with_needs(pipeline: Pipeline, action: Action, needs: Sequence[Need]) -> Action:
    """Add needs to an action, and disable it where a need never ends: a setting can mean never."""
    history = {one.name for one in pipeline.history.variables}
    endless = [
        need.clock.runs
        for need in needs
        if need.at_least is not None and need.at_least.is_never and need.until is None
        if history.isdisjoint(str(one) for one in get_vars(need.clock.runs))
    ]
    guard = And(action.guard, *map(Not, endless)) if endless else action.guard
    return replace(action, guard=guard, needs=tuple(needs))
