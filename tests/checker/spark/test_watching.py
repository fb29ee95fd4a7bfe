"""Watching an audit: how far it is, how long the rest may take, and what an interrupt does."""

from __future__ import annotations

import threading
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from proofka.checker.spark import watching
from proofka.checker.spark.watching import FEWEST, RECENT, Interrupted, Violations, Watch, seconds_left
from proofka.properties.audited import AuditProgress, Stage


def test_no_estimate_from_too_little() -> None:
    assert seconds_left([0.0, *[1.0] * (FEWEST - 1)], 5, 2.0) is None
    assert seconds_left([0.0, *[1.0] * FEWEST], 5, 2.0) is not None


def test_estimate_expects_later_systems_to_cost_less() -> None:
    """Costliest first: what all of them took would tell of a rest that takes far longer than it does."""
    costs = [8.0 * 0.9**n for n in range(60)]
    moments = [sum(costs[:n]) for n in range(len(costs) + 1)]
    for done in (20, 40, 55):
        rest, now = moments[-1] - moments[done], moments[done]
        estimate = seconds_left(moments[: done + 1], len(costs) - done, now)
        assert estimate is not None
        assert rest <= estimate < now / done * (len(costs) - done)


def test_equal_costs_are_estimated_exactly() -> None:
    moments = [float(n) for n in range(RECENT * 2)]
    assert seconds_left(moments, 10, moments[-1]) == pytest.approx(10.0)


def test_estimate_grows_while_one_system_holds_up_the_rest() -> None:
    moments = [float(n) for n in range(20)]
    estimates = [seconds_left(moments, 10, 19.0 + waited) for waited in (0.0, 30.0, 60.0)]
    assert all(one is not None and other is not None and one < other for one, other in pairwise(estimates))


@pytest.fixture
def context() -> Any:
    """Return a Spark context that only counts how often its jobs are cancelled."""
    made = SimpleNamespace(cancelled=threading.Event())
    made.cancelAllJobs = made.cancelled.set
    return made


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "BETWEEN_LOOKS", 0.001)
    monkeypatch.setattr(watching, "SHARE_OF_LOOKING", 1.0)


def test_progress_is_read_while_the_work_goes_on(context: Any) -> None:
    seen: list[AuditProgress] = []
    done: list[int] = []
    enough = threading.Event()

    def look(progress: AuditProgress) -> None:
        seen.append(progress)
        if progress.done == 3:
            enough.set()

    watch = Watch(look)

    def work() -> str:
        watch.begin(Stage.EXPLORING, 3, lambda: (len(done), len(done) // 2))
        for number in range(3):
            done.append(number)
        assert enough.wait(60)
        return "done"

    assert watch.run(context, work) == "done"
    assert AuditProgress(Stage.EXPLORING, 3, 3, 1) in seen
    assert not context.cancelled.is_set()


def test_systems_explored_before_give_no_estimate(context: Any) -> None:
    seen: list[AuditProgress] = []
    watch = Watch(seen.append)
    watch.begin(Stage.EXPLORING, 100, lambda: (90, 0))
    watch.run(context, lambda: threading.Event().wait(0.05))
    assert {(progress.done, progress.seconds_left) for progress in seen} == {(90, None)}


def test_errors_of_the_work_are_raised(context: Any) -> None:
    def work() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        Watch().run(context, work)


def test_an_interrupt_cancels_the_jobs(context: Any) -> None:
    """The work fails of it, and what is told is the interrupt, with how far it came."""
    stop = threading.Event()
    watch = Watch(None, stop)

    def work() -> None:
        watch.begin(Stage.EXPLORING, 9, lambda: (4, 1))
        stop.set()
        context.cancelled.wait(20)
        raise ValueError("a job was cancelled")

    with pytest.raises(Interrupted) as caught:
        watch.run(context, work)
    assert context.cancelled.is_set()
    assert (caught.value.progress.stage, caught.value.progress.done) == (Stage.EXPLORING, 4)


def test_an_interrupt_between_two_stages(context: Any) -> None:
    stop = threading.Event()
    watch = Watch(None, stop)

    def work() -> None:
        stop.set()
        watch.begin(Stage.WRITING)
        raise AssertionError("it went on")

    with pytest.raises(Interrupted):
        watch.run(context, work)


def test_violations_of_required_properties(tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    from proofka.checker.spark.tables import EXPLORED, pa

    def found(name: str, statuses: dict[str, str]) -> Path:
        rows = [{"property": name, "status": status} for name, status in statuses.items()]
        pq.write_table(pa.Table.from_pylist(rows, schema=EXPLORED), tmp_path / name)
        return tmp_path / name

    files = {
        "a": found("a", {"no-skip": "violated", "no-loss": "holds"}),
        "b": found("b", {"no-skip": "violated", "no-loss": "violated"}),
        "c": found("c", {"no-skip": "unknown", "no-loss": "vacuous"}),
    }
    violations = Violations({"a": ["no-loss"], "b": ["no-skip", "no-loss"], "c": ["no-skip"]})
    assert violations.among({"a": files["a"]}) == 0
    assert violations.among(files) == 1
    for file in files.values():
        file.unlink()
    assert violations.among(files) == 1, "read once"
