"""The next start of an application, and the position in its input at which it goes on (semantics 3.1, P10 P12)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import z3

from proofka.model.deployment.choices import OnRestart, OnSendError
from proofka.model.language import Effect
from proofka.model.language.terms import And, BoolVal, Not, Or
from proofka.model.state.pipeline import Batch, Fate, Pipeline
from proofka.model.state.upstream import Upstream


def is_of_this_start(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether the running application sent the batch, not an earlier start of it."""
    return And(Not(batch.is_(Fate.UNSENT)), batch.session.term == pipeline.producer.session.term)


def has_sent(pipeline: Pipeline) -> z3.BoolRef:
    """Tell whether the application has sent something since its start."""
    return Or(*(is_of_this_start(pipeline, batch) for batch in pipeline.producer.batches))


def is_behind_position(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether an earlier start sent the record and did not commit it: the application reads and sends it again."""
    upstream = pipeline.upstream
    assert upstream is not None
    before = And(Not(batch.is_(Fate.UNSENT)), batch.session.term < pipeline.producer.session.term)
    return And(before, upstream.position.term <= batch.record)


def _is_settled(pipeline: Pipeline, upstream: Upstream, record: int) -> z3.BoolRef:
    """Tell whether this record lets the application commit a position past it (semantics 3.1, P10).

    After ``flush()`` it commits whatever became of the record: ``flush()`` returns when each send has succeeded or
    failed. An application that halts at a failure has heard of it by then.
    """
    deployment = pipeline.deployment
    enough = [Fate.ACKNOWLEDGED]
    if (
        deployment.application.on_restart is OnRestart.FROM_FLUSHED
        and deployment.application.on_send_error is not OnSendError.HALT
    ):
        enough.append(Fate.FAILED)
    if deployment.application.on_restart is OnRestart.FROM_SENT:
        enough = [fate for fate in Fate if fate is not Fate.UNSENT]
    settled = [And(is_of_this_start(pipeline, b), b.is_(*enough)) for b in pipeline.producer.of_record(record)]
    released = [upstream.released[record].is_set] if upstream.released else []
    return Or(*settled, *released)


def may_be_committed(pipeline: Pipeline, record: int) -> z3.BoolRef:
    """Tell whether the application's committed position can be past the record: its source counts the record as done.

    Nobody sees a commit before the next start, so the start decides it; a running application can commit at once.
    """
    upstream = pipeline.upstream
    assert upstream is not None
    passed = [Or(upstream.position.term > r, _is_settled(pipeline, upstream, r)) for r in range(record + 1)]
    return And(*passed)


class Start:
    """The next start of an application that keeps no position in an input; its answers are the defaults."""

    def words(self) -> str:
        """Return the words for the position, as the end of a sentence."""
        return ""

    def arguments(self) -> dict[str, int]:
        """Return the arguments of the action that ends the application before this start."""
        return {}

    def shows_a_crash(self, pipeline: Pipeline) -> z3.BoolRef:
        """Tell whether a crash before this start changes anything."""
        return pipeline.sending.is_going_on(pipeline)

    def is_possible(self, pipeline: Pipeline, *, newest: bool = False) -> z3.BoolRef:
        """Tell whether the application can start so; ``newest``: from the last position that it can find."""
        return BoolVal(True)

    def begin(self, effect: Effect) -> None:
        """Take up the position at which the application goes on."""


@dataclass(frozen=True)
class StartAt(Start):
    """The next start of an application that finds this position in its input committed."""

    upstream: Upstream
    position: int

    def words(self) -> str:
        is_last = self.position == self.upstream.position.high
        where = "past all records" if is_last else f"before record {self.position + 1}"
        return f"; the committed position in its input is {where}"

    def arguments(self) -> dict[str, int]:
        return {"position": self.position}

    def shows_a_crash(self, pipeline: Pipeline) -> z3.BoolRef:
        return And(has_sent(pipeline), self.is_possible(pipeline))

    def is_possible(self, pipeline: Pipeline, *, newest: bool = False) -> z3.BoolRef:
        conditions = [self.upstream.position.term <= self.position]
        if self.position > 0:
            conditions.append(may_be_committed(pipeline, self.position - 1))
        if newest and self.position < self.upstream.position.high:
            conditions.append(Not(may_be_committed(pipeline, self.position)))
        return And(*conditions)

    def begin(self, effect: Effect) -> None:
        effect[self.upstream.position] = self.position
        for released in self.upstream.released:
            effect[released] = 0


def starts_of(pipeline: Pipeline) -> Iterator[Start]:
    """Yield the starts that can follow an end of the application."""
    if pipeline.upstream is None:
        yield Start()
        return
    for position in range(pipeline.upstream.position.high + 1):
        yield StartAt(pipeline.upstream, position)
