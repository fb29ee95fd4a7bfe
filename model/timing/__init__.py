"""Time: what each action needs of the clocks, and the deadlines of what is due.

Every clock follows a section of the semantics. A bound that is not certain is taken wide: a need too short or a
deadline too late allows runs that no real cluster has, never the other way round (docs/semantics.md).
"""

from __future__ import annotations

from collections.abc import Sequence

from proofka.model.language import Action, ActionKey, Clock, Need, Needs
from proofka.model.state.pipeline import Pipeline
from proofka.model.timing.brokers import Brokers
from proofka.model.timing.cleaning import Cleaning
from proofka.model.timing.part import Part
from proofka.model.timing.reading import Reading
from proofka.model.timing.sends import Sends
from proofka.model.timing.sends_in_transactions import SendsInTransactions
from proofka.model.timing.transactions import Transactions


def clocks_and_needs(pipeline: Pipeline, actions: Sequence[Action]) -> tuple[tuple[Clock, ...], Needs]:
    """Return the clocks of a pipeline, and what these actions of the pipeline need of the clocks."""
    kinds: tuple[type[Part], ...] = (Sends, Brokers, Reading, Cleaning)
    if pipeline.transactions is not None:
        kinds = (SendsInTransactions, Brokers, Reading, Transactions, Cleaning)
    parts = [part(pipeline, actions) for part in kinds]
    needs: dict[ActionKey, list[Need]] = {}
    for part in parts:
        for names, arguments, need in part.needs():
            for action in part.named(names, **arguments):
                needs.setdefault(action.key, []).append(need)
    deadlines = [clock for part in parts for clock in part.deadlines()]
    needed = [clock for each in needs.values() for need in each for clock in (need.clock, need.until)]
    clocks = {clock.key: clock for clock in (*needed, *deadlines) if clock is not None}
    return tuple(clocks.values()), {key: tuple(each) for key, each in needs.items()}
