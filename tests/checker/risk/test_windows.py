"""The window of a trace: the times between its faults that the clocks of its run allow."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import partial
from pathlib import Path

from proofka.checker.budget import Budget
from proofka.checker.check import verdict_on
from proofka.checker.risk.all_runs import Proof, checked_apart, window_over_all_runs
from proofka.checker.risk.windows import Window, window_of, windows_of
from proofka.checker.source import Source, narrowed
from proofka.checker.timing.constraints import Between
from proofka.model.deployment import read_deployment
from proofka.properties.verdict import CutSet, Status, Step, Trace
from tests.checker.timing.test_network import between
from tests.reports.samples import RESULT, verdict

ROOT = Path(__file__).parents[3]


def step(at: int, fault: str | None = None) -> Step:
    return Step("producer", "producer", "send", {}, "text", fault, (), at)


TRACE = Trace(
    (("kill", 2), ("power-loss", 1)),
    (step(0, "kill"), step(40), step(100, "power-loss"), step(130, "kill"), step(200)),
    "lost",
)
BOUNDS = [between(1, 2, 30), between(1, 3, None, 120), between(3, 4, 10, 25), between(4, 5, None, 500)]


def by_trying(steps: int, bounds: list[Between], first: int, last: int, most: int) -> set[int]:
    """Return every time between two steps that some times of the run allow, in steps of 5 ms."""
    found = set()
    for pauses in itertools.product(range(0, most, 5), repeat=steps - 1):
        times = [0, 0, *itertools.accumulate(pauses)]
        if all(bound.allows(times) for bound in bounds):
            found.add(times[last] - times[first])
    return found


def test_windows_are_those_that_times_allow() -> None:
    window = window_of(TRACE, BOUNDS)
    assert window.order == ("kill", "power-loss", "kill")
    bounds = [bound for bound in BOUNDS if bound.later < 5]
    for place, number in enumerate((1, 3, 4)):
        allowed = by_trying(4, bounds, number, 4, 130)
        assert window.before_last[place] == (min(allowed), max(allowed))
    assert window.span == (40, 145)
    assert window.after == 70


def test_a_run_without_a_deadline_allows_any_time() -> None:
    assert window_of(TRACE, [between(1, 4, 30)]).before_last == ((30, None), (0, None), (0, 0))


def test_a_single_fault_has_no_window() -> None:
    alone = replace(TRACE, faults=(("kill", 1),), steps=TRACE.steps[3:])
    assert window_of(alone, []) == Window(("kill",), ((0, 0),), 70)
    assert window_of(replace(alone, faults=(), steps=()), []).order == ()


def test_windows_of_a_check_are_those_of_its_clocks() -> None:
    """Two kills store a record twice if the second comes while the other broker is still away."""
    source = Source(ROOT / "examples" / "orders.yaml", assume=("faults.kill=2",))
    deployment = narrowed(source.read(), "2", ["no-log-duplicate"])
    found = verdict_on("no-log-duplicate", deployment, Budget())
    result = replace(RESULT, verdicts=(found,))
    assert found.cut_sets == ((("kill", 2),),)
    windows = windows_of(deployment, result, ["no-log-duplicate"])
    window = windows["no-log-duplicate", 0]
    at = [step.at for step in found.traces[0].steps if step.fault is not None]
    least, most = window.span
    assert window.order == ("kill", "kill")
    assert at[0] is not None
    assert at[1] is not None
    assert most is not None
    assert 0 < least <= at[1] - at[0] <= most
    assert windows_of(deployment, result, ["no-acked-loss"]) == {}


def test_only_traces_of_several_faults_need_the_model() -> None:
    trace = replace(TRACE, faults=(("kill", 1),), steps=TRACE.steps[3:])
    found = verdict("no-skip", Status.VIOLATED, cut_sets=(trace.faults,), traces=(trace,))
    source = Source(ROOT / "examples" / "orders.yaml")
    result = replace(RESULT, verdicts=(found,))
    assert windows_of(source.read(), result, ["no-skip"])["no-skip", 0].order == ("kill",)


TWO_BROKERS = """
kafka: "4.0"
topic: {replicas: 2, min.insync.replicas: 1}
producer: {acks: all}
require: [no-acked-loss]
bounds: {records: 1}
assume: {broker_restart: RANGE, faults: {total: 2, kill: 1, power-loss: 1, slow-follower: 1}}
"""
"""One broker is away, and the other loses what it acknowledged alone: the second fault has to come before the first
broker is back in the ISR."""


def proof(folder: Path, broker_restart: str, cut_set: CutSet, within: float = 1e9) -> Proof:
    file = folder / "two.yaml"
    file.write_text(TWO_BROKERS.replace("RANGE", broker_restart), encoding="utf-8")
    return window_over_all_runs(read_deployment(file), "no-acked-loss", cut_set, within, Budget)


PAIR = (("kill", 1), ("power-loss", 1))


def test_faults_come_within_the_window_in_every_run(tmp_path: Path) -> None:
    """A broker that is away for a second longer makes the window a second longer."""
    minute, longer = proof(tmp_path, "1s..60s", PAIR), proof(tmp_path, "1s..61s", PAIR)
    assert minute.most is not None
    assert minute.most > 60_000
    assert longer.most == minute.most + 1_000
    assert f"the time between the faults {minute.most + 1:,} > broker_restart 60,000 + " in minute.because


def test_windows_are_the_least_that_hold_in_every_run(tmp_path: Path) -> None:
    """A run with the whole time between its faults exists, and the model has no run with a millisecond more."""
    most = proof(tmp_path, "1s..60s", PAIR).most
    assert most is not None
    deployment = read_deployment(tmp_path / "two.yaml")
    for least, violated in ((most, True), (most + 1, False)):
        verdict, _ = checked_apart(deployment, "no-acked-loss", PAIR, least, Budget())
        assert (verdict.status is Status.VIOLATED) == violated
        assert verdict.coverage.complete_to == 2
        for trace in verdict.traces:
            first, second = (step.at for step in trace.steps if step.fault is not None)
            assert (second or 0) - (first or 0) >= least


def test_faults_without_a_deadline_have_no_window(tmp_path: Path) -> None:
    found = proof(tmp_path, "1s..unbounded", PAIR)
    assert (found.most, found.because) == (None, "in some run any time passes between these faults")


def test_windows_longer_than_effects_are_given_up(tmp_path: Path) -> None:
    found = proof(tmp_path, "1s..60s", PAIR, within=30_000)
    assert found.most is None
    assert "effects last for less" in found.because


def test_windows_that_a_limit_leaves_open_are_not_proven(tmp_path: Path) -> None:
    file = tmp_path / "two.yaml"
    file.write_text(TWO_BROKERS.replace("RANGE", "1s..60s"), encoding="utf-8")
    few = partial(Budget, states=10)
    found = window_over_all_runs(read_deployment(file), "no-acked-loss", PAIR, 1e9, few)
    assert found == Proof(None, "a check ended at a limit before it decided the window")
