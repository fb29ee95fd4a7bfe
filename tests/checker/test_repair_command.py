"""``proofka repair``: how it ends, and that what was found is printed however it ends."""

from __future__ import annotations

import signal
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from proofka.checker.cli import app
from proofka.checker.repair import Repair, Repairs, Search
from proofka.checker.source import Source
from proofka.model.deployment.changing import strengthenings
from proofka.properties.verdict import Result, Status
from proofka.reports import wording
from tests.reports import samples
from tests.reports.samples import verdict

TEXT = 'kafka: "4.0"\nproducer: {acks: 1}\ntopic: {replicas: 3}\n'
ACKS = tuple(change for change in strengthenings() if str(change) == "producer.acks=all" and change.library == "java")


def of(*statuses: Status) -> Result:
    return replace(
        samples.RESULT, verdicts=tuple(verdict(f"p{n}", one, required=True) for n, one in enumerate(statuses))
    )


def found(before: Result, after: Result | None, *, stopped: bool = False) -> Repairs:
    wanted = tuple(one.property for one in before.verdicts)
    mends = () if after is None else tuple(v.property for v in after.verdicts if v.status is not Status.VIOLATED)
    repairs = () if after is None else (Repair(ACKS, samples.DEPLOYMENT, after, mends, needed=True),)
    return Repairs(before, wanted, repairs, (), 1, 0, stopped)


def repair(tmp_path: Path, *words: str) -> Any:
    file = tmp_path / "d.yaml"
    file.write_text(TEXT, encoding="utf-8")
    return CliRunner().invoke(app, ["repair", str(file), *words])


V, H, E, U = Status.VIOLATED, Status.HOLDS, Status.VACUOUS, Status.UNKNOWN


@pytest.mark.parametrize(
    ("repairs", "status"),
    [
        (found(of(H, H), None), 0),
        (found(of(H, E), None), 4),
        (found(of(H, U), None), 3),
        (found(of(V, H), of(H, H)), 0),
        (found(of(V, E), of(H, E)), 4),
        (found(of(V, U), of(H, U)), 3),
        (found(of(V, H), of(V, H)), 1),
        (found(of(V, H), None), 1),
        (found(of(V, H), None, stopped=True), 3),
    ],
)
def test_exit_status(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repairs: Repairs, status: int) -> None:
    """A vacuous or undecided property is no success."""
    monkeypatch.setattr("proofka.checker.repair.Search", lambda *_, **__: SimpleNamespace(repairs=lambda most: repairs))
    assert repair(tmp_path).exit_code == status


def test_refused_writes_are_the_reason_that_nothing_is_repaired(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two in-sync replicas of one: no property is violated, because no record is ever written."""
    monkeypatch.setattr(
        "proofka.checker.repair.Search", lambda *_, **__: SimpleNamespace(repairs=lambda most: found(of(E), None))
    )
    file = tmp_path / "d.yaml"
    file.write_text(
        'kafka: "3.6"\ntopic: {replicas: 1, min.insync.replicas: 2}\nproducer: {acks: all}\n', encoding="utf-8"
    )
    said = " ".join(CliRunner().invoke(app, ["repair", str(file)]).stdout.split())
    assert "refuses every write with acks=all" in said
    assert "lower min.insync.replicas to 1, or use 3 replicas" in said


def test_each_repair_says_within_which_bounds_it_was_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two repairs, of which one was covered less far for one of its properties."""
    coverage = samples.HOLDS.coverage
    near, far = replace(coverage, complete_to=1, total=1), replace(coverage, complete_to=2, total=2)
    one, other = (of(H, H) for _ in range(2))
    one = replace(one, verdicts=tuple(replace(each, coverage=far) for each in one.verdicts))
    first, second = other.verdicts
    other = replace(other, verdicts=(replace(first, coverage=near), replace(second, coverage=far)))
    repairs = tuple(Repair(ACKS, samples.DEPLOYMENT, result, ("p0", "p1"), needed=True) for result in (one, other))
    ended = Repairs(of(V, H), ("p0", "p1"), repairs, (), 2, 0, stopped=False)
    monkeypatch.setattr("proofka.checker.repair.Search", lambda *_, **__: SimpleNamespace(repairs=lambda most: ended))
    said = " ".join(repair(tmp_path).stdout.split())
    sizes = f"sizes: {wording.sizes(coverage)}"
    before, _, after = said.partition(" 2 producer.acks=all")
    assert f" explored: any 2 faults; {sizes}" in before
    assert f"p0 explored: any 1 fault; {sizes}" in after
    assert f"p1 explored: any 2 faults; {sizes}" in after


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_repair_prints_the_repairs_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], number: signal.Signals
) -> None:
    def until_stopped(search: Search, _: int) -> Repairs:
        signal.raise_signal(number)
        return found(of(V), of(H), stopped=search._budget.stop.is_set())

    monkeypatch.setattr(Search, "repairs", until_stopped)
    ran = repair(tmp_path)
    assert ran.exit_code == 0
    assert "producer.acks=all" in ran.stdout
    assert "The search was stopped early" in " ".join(ran.stdout.split())
    assert ran.stderr == "interrupted\n"
    assert capfd.readouterr().err == "stopping; what was found follows\n"
    assert "(interrupted): cheaper repairs may exist" in " ".join(ran.stdout.split())


def test_an_interrupt_is_not_reported_as_a_time_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not of a repair that may need less, nor where the search took until the limit to stop."""

    def until_stopped(most: int) -> Repairs:
        signal.raise_signal(signal.SIGINT)
        time.sleep(1.5)
        ended = found(of(V), of(H), stopped=True)
        return replace(ended, found=(replace(ended.found[0], needed=False),))

    monkeypatch.setattr("proofka.checker.repair.Search", lambda *_, **__: SimpleNamespace(repairs=until_stopped))
    ran = repair(tmp_path, "--time", "1")
    said = " ".join(ran.stdout.split())
    assert ran.stderr == "interrupted\n"
    assert "interrupted before it was known whether all of these changes are needed" in said
    assert "ran out" not in said


def test_command_names_next_steps_if_no_change_repairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(repairs: Repairs) -> str:
        monkeypatch.setattr(
            "proofka.checker.repair.Search", lambda *_, **__: SimpleNamespace(repairs=lambda most: repairs)
        )
        return " ".join(repair(tmp_path).stdout.split())

    wrong = verdict("p0", V, required=True, cut_sets=((("kill", 1),),))
    nothing = found(replace(samples.RESULT, verdicts=(wrong,)), None)
    said = run(nothing)
    assert "No known modelled change repairs this. Next steps: p0 with 1 kill: " in said
    assert "no newer release that is modelled makes a difference here" in said
    assert "more time (--time) finds nothing else" in said
    said = run(replace(nothing, undecided=("p0",)))
    assert "some sets of changes were not decided for p0: raise --memory" in said
    assert "more time" not in said
    assert "What comes next" not in run(replace(nothing, stopped=True)), "more time may find something"
    assert "What comes next" not in run(found(of(V, H), of(H, H)))


def test_time_limit_ends_the_search_for_repairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def until_stopped(search: Search, _: int) -> Repairs:
        assert search._budget.stop.wait(timeout=20)
        time.sleep(0.1)
        return found(of(V), None, stopped=True)

    monkeypatch.setattr(Search, "repairs", until_stopped)
    ran = repair(tmp_path, "--time", "0.1")
    assert (ran.exit_code, ran.stderr) == (3, "time limit of 0.1 s reached (--time)\n")
    assert "stopped early (time limit of 0.1 s reached (--time))" in " ".join(ran.stdout.split())


@pytest.mark.parametrize("command", ["repair", "trace"])
def test_releases_of_clients_are_said_as_to_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    seen: list[Source] = []

    def read(source: Source) -> None:
        seen.append(source)
        raise OSError(0, "read", "d.yaml")

    monkeypatch.setattr(Source, "read", read)
    file = tmp_path / "d.yaml"
    file.write_text(TEXT, encoding="utf-8")
    CliRunner().invoke(app, [command, str(file), "--client", "sarama=1.43", "--kafka", "4.0"])
    assert [(one.clients, one.kafka) for one in seen] == [(("sarama=1.43",), "4.0")]
