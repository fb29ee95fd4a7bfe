"""The scheduler, with a model in place of a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from proofka.checker.conformance.asked_event import SILENT, seen_as
from proofka.checker.conformance.controls import CONTROL_ROWS, NOBODY, Control
from proofka.checker.conformance.observed_system import observed
from proofka.checker.conformance.scheduler import Schedule
from proofka.checker.conformance.tracker import Answer, check_run
from proofka.model.language import Action, State
from proofka.model.pipeline import Model
from tests.checker.conformance.small_models import three_brokers
from tests.checker.conformance.walks import Taken, Walker, shown

OF_ACTIONS = {
    "send": "send",
    "kill": "kill",
    "lose_power": "lose_power",
    "restart": "restart",
    "cut_off": "cut_off",
    "reconnect": "reconnect",
    "hold_fetch": "become_slow",
    "release_fetch": "recover_speed",
    "move_leader": "move_leader",
    "drop_request": "lose_request",
}
"""Control -> the action of the model that stands for the control."""


class ModelControls:
    """The controls of a run of the model: between two controls the model takes some steps by itself."""

    def __init__(self, model: Model, seed: int) -> None:
        self._walker = Walker(model.system)
        self._random = Random(seed)
        self._state: State = model.system.initial
        self.walk: list[Taken] = []
        self.finished = False

    def possible(self) -> Sequence[Control]:
        found = [Control("wait")]
        for name, action in OF_ACTIONS.items():
            of_run = CONTROL_ROWS[name]["of"] == "producer"
            brokers = {self._broker(a) for a in self._walker.enabled(self._state) if a.name == action}
            found += [
                Control(name, NOBODY if of_run else broker) for broker in sorted({0} if of_run and brokers else brokers)
            ]
        return found

    def use(self, control: Control, choice: float) -> None:
        if control.name != "wait":
            action = OF_ACTIONS[control.name]
            enabled = [a for a in self._walker.enabled(self._state) if a.name == action]
            fitting = [a for a in enabled if control.broker in (NOBODY, self._broker(a))]
            self._take(fitting[int(choice * len(fitting))])
        for _ in range(self._random.randrange(6)):
            self._go_on()

    def finish(self) -> None:
        for _ in range(20):
            self._go_on()
        self.finished = True

    def _broker(self, action: Action) -> int:
        if "broker" in action.arguments:
            return action.arguments["broker"]
        target = f"batch_{action.arguments['batch']}_target"
        return self._state[target]

    def _go_on(self) -> None:
        ordinary = [a for a in self._walker.enabled(self._state) if a.fault is None and a.name != "send"]
        if ordinary:
            self._take(self._random.choices(ordinary, [5 - 4 * (a.name == "fetch") for a in ordinary])[0])

    def _take(self, action: Action) -> None:
        after = self._walker.step(self._state, action)
        self.walk.append(Taken(action, self._state, after))
        self._state = after


def test_scheduled_runs_of_the_model_are_its_behaviours() -> None:
    model = three_brokers("acks-all-min-isr-2")
    runs, used = [], set()
    for seed in range(6):
        controls = ModelControls(model, seed)
        schedule = Schedule(seed, steps=14, faults=2)
        taken = schedule.run(controls)
        assert controls.finished and len(taken) == schedule.steps
        assert sum(control.is_fault for control in taken) <= schedule.faults
        used |= {control.name for control in taken}
        runs.append(shown(model, controls.walk, Random(seed)))
    assert {"send", "wait", "kill"} <= used
    system = observed(model, [event for run in runs for event in run])
    assert {check_run(system, run).answer for run in runs} == {Answer.ACCEPTED}


def test_a_seed_decides_the_controls() -> None:
    model = three_brokers("acks-1")
    first, again, other = (Schedule(seed, steps=10).run(ModelControls(model, 1)) for seed in (1, 1, 2))
    assert first == again != other


def test_a_schedule_without_faults_uses_none() -> None:
    taken = Schedule(3, steps=30, faults=0).run(ModelControls(three_brokers("acks-1"), 3))
    assert not any(control.is_fault for control in taken)


class FixedControls:
    """Controls that are always possible: some of the run, and some of each of two producers."""

    def __init__(self) -> None:
        self.finished = False

    def possible(self) -> Sequence[Control]:
        names = (("hold_request", 1), ("drop_request", 1), ("release_response", 2), ("detach_request", 2))
        own = [Control(name, 1, producer) for name, producer in names]
        return [Control("wait"), Control("kill", 1), *own]

    def use(self, control: Control, choice: float) -> None:
        assert not self.finished and 0 <= choice <= 1

    def finish(self) -> None:
        self.finished = True


def test_each_producer_uses_a_control_of_its_own_in_the_same_step() -> None:
    taken = Schedule(1, steps=40).run(FixedControls())
    own = [control.producer for control in taken if control.producer]
    assert own == [1, 2] * (len(own) // 2) and 0 < len(own) < len(taken)
    assert len(taken) - len(own) // 2 == 40
    assert {control.name for control in taken} == {
        "wait",
        "kill",
        "hold_request",
        "drop_request",
        "release_response",
        "detach_request",
    }


def test_own_faults_end_once_there_are_enough_with_the_shared_ones() -> None:
    for seed in range(20):
        taken = [control for control in Schedule(seed, steps=60, faults=3).run(FixedControls()) if control.is_fault]
        assert sum(not control.producer for control in taken) <= 3
        for place, fault in enumerate(taken):
            assert sum(control.producer in (0, fault.producer) for control in taken[: place + 1]) <= 3


def test_shared_controls_are_as_frequent_as_in_runs_of_one_producer() -> None:
    class OneProducer(FixedControls):
        def possible(self) -> Sequence[Control]:
            return [control for control in super().possible() if control.producer < 2]

    def waits(kind: type[FixedControls]) -> int:
        schedules = [Schedule(seed, steps=60, faults=0) for seed in range(20)]
        return sum(control.name == "wait" for schedule in schedules for control in schedule.run(kind()))

    one = 1200 * 10 / 13
    assert abs(waits(OneProducer) - one) < 50
    assert abs(waits(FixedControls) - 1200 * (10 / 13 + 10 / 16) / 2) < 50


@pytest.mark.parametrize("row", CONTROL_ROWS.values(), ids=CONTROL_ROWS)
def test_the_table_of_controls_is_consistent(row: dict[str, str]) -> None:
    assert (
        row["of"] in ("run", "broker", "producer", "producer and broker", "consumer")
        and int(row["weight"]) > 0
        and row["meaning"]
    )
    assert not row["undoes"] or row["undoes"] in CONTROL_ROWS


def test_controls_of_the_model_are_visible() -> None:
    for action in three_brokers("acks-1").system.actions:
        if action.name in OF_ACTIONS.values():
            assert seen_as(action) != SILENT
