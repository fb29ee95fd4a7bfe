"""Ends of the producer application: stops by the way of closing, restarts by the place of continuing (3.1, P9 to P12).

The expected sets follow from reference 3.1: what a stop leaves unsaid is lost, what is sent again may be stored twice.
"""

from __future__ import annotations

import pytest

from proofka.model.deployment import Deployment
from proofka.model.deployment.choices import OnRestart, OnSendError, OnStop
from proofka.model.deployment.explored import Bounds
from proofka.model.faults import Fault
from proofka.properties.verdict import CutSet, Status
from tests.checker.asking import ask, cut, example
from tests.deployments import changed

CRASH, STOP = cut(Fault.PRODUCER_CRASH), cut(Fault.PRODUCER_STOP)
SILENT, TWICE = "no-silent-loss", "no-log-duplicate"
SMALL = Bounds(records=1, log=2, sends=2, epochs=4, producer_epochs=2)


def ending(*kinds: Fault, total: int = 1, **settings: object) -> Deployment:
    small = {"replicas": 1, "min_insync_replicas": 1, "bounds": SMALL}
    return changed(example("acks-all-min-isr-2", kinds, total), **{**small, **settings})


@pytest.mark.parametrize(
    ("how", "restart", "lost", "repeated"),
    [
        (OnStop.CLOSE, OnRestart.FORGET, (), ()),
        (OnStop.CLOSE, OnRestart.RESEND, (), ()),
        (OnStop.CLOSE, OnRestart.FROM_ACKNOWLEDGED, (), ()),
        (OnStop.COMMIT_FIRST, OnRestart.FROM_ACKNOWLEDGED, (), (STOP,)),
        (OnStop.CLOSE, OnRestart.FROM_SENT, (), ()),
        (OnStop.FORCE, OnRestart.FORGET, (), ()),
        (OnStop.FORCE, OnRestart.RESEND, (), (STOP,)),
        (OnStop.FORCE, OnRestart.FROM_FLUSHED, (), (STOP,)),
        (OnStop.FORCE, OnRestart.FROM_SENT, (STOP,), (STOP,)),
        (OnStop.EXIT, OnRestart.FORGET, (STOP,), ()),
        (OnStop.EXIT, OnRestart.RESEND, (), (STOP,)),
    ],
)
@pytest.mark.slow
def test_a_stop(how: OnStop, restart: OnRestart, lost: tuple[CutSet, ...], repeated: tuple[CutSet, ...]) -> None:
    verdicts = ask(ending(Fault.PRODUCER_STOP, on_stop=how, on_restart=restart), SILENT, TWICE)
    assert (verdicts[SILENT].cut_sets, verdicts[TWICE].cut_sets) == (lost, repeated)
    assert all(verdict.status is not Status.VACUOUS for verdict in verdicts.values())


@pytest.mark.parametrize(
    ("restart", "lost"),
    [(OnRestart.FROM_ACKNOWLEDGED, ()), (OnRestart.FROM_FLUSHED, ()), (OnRestart.FROM_SENT, (CRASH,))],
)
@pytest.mark.slow
def test_a_crash_by_the_records_before_the_position(restart: OnRestart, lost: tuple[CutSet, ...]) -> None:
    verdicts = ask(ending(Fault.PRODUCER_CRASH, on_restart=restart), SILENT, TWICE)
    assert (verdicts[SILENT].cut_sets, verdicts[TWICE].cut_sets) == (lost, (CRASH,))


@pytest.mark.parametrize(
    ("restart", "on_error", "lost"),
    [
        (OnRestart.FROM_ACKNOWLEDGED, OnSendError.DROP, ()),
        (OnRestart.FROM_FLUSHED, OnSendError.DROP, (cut(Fault.REFUSED_RECORD),)),
        (OnRestart.FROM_FLUSHED, OnSendError.HALT, ()),
        (OnRestart.FROM_SENT, OnSendError.HALT, (CRASH, cut(Fault.REFUSED_RECORD))),
        (OnRestart.RESEND, OnSendError.DROP, ()),
    ],
)
@pytest.mark.slow
def test_a_failure_that_the_position_passes(
    restart: OnRestart, on_error: OnSendError, lost: tuple[CutSet, ...]
) -> None:
    """Whoever wants the record does not hear of it from an application that goes past it (P10)."""
    asked = ending(Fault.REFUSED_RECORD, Fault.PRODUCER_CRASH, on_restart=restart, on_send_error=on_error)
    assert ask(asked, SILENT)[SILENT].cut_sets == lost
