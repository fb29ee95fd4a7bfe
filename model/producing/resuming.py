"""The position in its input at which a restarted application goes on (semantics 3.1, P10 P12)."""

from __future__ import annotations

import z3

from model.deployment.choices import OnRestart, OnSendError
from model.language.terms import And, Not, Or
from model.state.pipeline import Batch, Fate, Pipeline
from model.state.upstream import Upstream


def is_of_this_start(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether the running application sent the batch, not an earlier start of it."""
    return And(Not(batch.is_(Fate.UNSENT)), batch.session.term == pipeline.producer.session.term)


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


def may_go_on_at(pipeline: Pipeline, position: int, *, newest: bool = False) -> z3.BoolRef:
    """Tell whether a starting application can find this position committed; ``newest``: the last possible one."""
    upstream = pipeline.upstream
    assert upstream is not None
    conditions = [upstream.position.term <= position]
    if position > 0:
        conditions.append(may_be_committed(pipeline, position - 1))
    if newest and position < upstream.position.high:
        conditions.append(Not(may_be_committed(pipeline, position)))
    return And(*conditions)


def position_words(pipeline: Pipeline, position: int) -> str:
    """Return the words for the position in its input at which an application goes on, as the end of a sentence."""
    if position == pipeline.deployment.bounds.records:
        return "the committed position in its input is past all records"
    return f"the committed position in its input is before record {position + 1}"
