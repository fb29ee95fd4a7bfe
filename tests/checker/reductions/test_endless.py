"""Needs that never end: the guard of their action excludes them, and nothing else changes."""

from __future__ import annotations

from dataclasses import replace

import pytest
import z3

from proofka.checker.reductions.always import always_reduced
from proofka.checker.reductions.endless import without_endless
from proofka.model.durations import LONGEST, Quantity
from proofka.model.language import Clock, Duration, Need, TransitionSystem, flag
from proofka.model.pipeline import build
from tests.checker.reductions.reference import action
from tests.checker.test_kernel import deployments

BUSY, SEEN = flag("busy"), flag("seen")
WAITING = Clock("waiting", {}, BUSY.is_set, "the start")
SINCE_SEEN = Clock("since_seen", {}, z3.And(BUSY.is_set, SEEN.is_set), "the first look")
STEP = action("step", BUSY.term >= 0, {BUSY: 1})


def never(milliseconds: int = LONGEST) -> Duration:
    return Duration.of(Quantity("timeout", milliseconds, milliseconds))


def system(*needs: Need) -> TransitionSystem:
    """Return a system whose only action has these needs, and whose second clock reads a remembered fact."""
    clocks = (WAITING, SINCE_SEEN)
    return TransitionSystem("toy", (BUSY, SEEN), (STEP,), clocks=clocks, needs={STEP.key: needs}, history=(SEEN,))


def equal(one: z3.BoolRef, other: z3.BoolRef) -> bool:
    solver = z3.Solver()
    return solver.check(one != other) == z3.unsat


def test_action_is_disabled_while_its_need_never_ends() -> None:
    before = system(Need(WAITING, at_least=never()))
    (reduced,) = without_endless(before).actions
    assert equal(reduced.guard, z3.And(STEP.guard, z3.Not(BUSY.is_set)))
    assert reduced.updates == STEP.updates


@pytest.mark.parametrize(
    "need",
    [
        Need(WAITING, at_least=never(LONGEST - 1)),
        Need(WAITING, at_most=never()),
        Need(WAITING, at_least=never(), until=SINCE_SEEN),
        Need(SINCE_SEEN, at_least=never()),
    ],
    ids=["ends", "has-no-least-value", "applies-before-the-step", "reads-what-only-clocks-read"],
)
def test_action_with_another_need_stays_as_it_is(need: Need) -> None:
    assert without_endless(system(need)).actions == (STEP,)


def test_endless_needs_are_excluded_once() -> None:
    once = without_endless(system(Need(WAITING, at_least=never()), Need(SINCE_SEEN, at_least=never())))
    assert without_endless(once).actions == once.actions


def test_send_that_never_times_out_is_given_up_in_no_state() -> None:
    """Each record of librdkafka waits for message.timeout.ms from the call of send()."""
    deployment = deployments()["librdkafka, gapless"]
    endless = replace(deployment.durations, delivery_timeout=never().parts[0][1])
    model = build(replace(deployment, durations=endless))
    (written, *_), (reduced, *_) = (
        [one for one in built.system.actions if one.name == "give_up"] for built in (model, always_reduced(model))
    )
    solver = z3.Solver()
    solver.add(model.system.domain)
    assert solver.check(written.guard) == z3.sat
    assert solver.check(reduced.guard) == z3.unsat
