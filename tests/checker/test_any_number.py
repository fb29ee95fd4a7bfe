"""Any number of faults: what the closed space says is what ever larger budgets converge to."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from proofka.checker import cli
from proofka.checker.budget import Budget, Meter
from proofka.checker.check import Run, check
from proofka.checker.embedded import EmbeddedExploration
from proofka.checker.engine import EMBEDDED
from proofka.checker.fixed_point import close, with_epochs
from proofka.checker.kernel.canonical import Canonical
from proofka.checker.questions import Group, Prepared, group, prepare
from proofka.checker.reductions.ranking import rankings
from proofka.checker.source import narrowed
from proofka.model.deployment import Deployment, read_deployment
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.explored import FaultBudget
from proofka.model.faults import OF_SOME_RELEASES, ONLY_BY_NAME, Fault
from proofka.model.pipeline import build
from proofka.properties.catalogue import properties_of
from proofka.properties.open_notes import open_for_any_number
from proofka.properties.verdict import Status, Verdict
from proofka.reports import wording
from proofka.reports.table import remarks
from tests.checker.asking import SMALL

TWO_BROKERS = """
kafka: "4.0"
topic: {{replicas: 2, min.insync.replicas: {min_isr}}}
producer: {{acks: {acks}, enable.idempotence: false, retries: 1}}
consumer: {{group.id: orders, auto.offset.reset: earliest, enable.auto.commit: false}}
assume: {{faults: {faults}}}
bounds: {{records: 1}}
"""
ALL_KINDS = tuple(kind.value for kind in Fault if kind not in ONLY_BY_NAME | OF_SOME_RELEASES)


def two_brokers(folder: Path, faults: str, acks: str = "all", min_isr: int = 2) -> Deployment:
    file = folder / "deployment.yaml"
    file.write_text(TWO_BROKERS.format(faults=faults, acks=acks, min_isr=min_isr), encoding="utf-8")
    return read_deployment(file)


def prepared_for(deployment: Deployment, name: str) -> tuple[Prepared, Group]:
    prepared = prepare(build(deployment))
    (only,) = group(prepared, [p for p in properties_of(prepared.model.pipeline) if p.name == name])
    return prepared, only


@pytest.mark.parametrize(
    "name",
    ["no-acked-loss", "replica-agreement", "no-log-duplicate", pytest.param("recoverability", marks=pytest.mark.slow)],
)
def test_budgets_converge(tmp_path: Path, name: str) -> None:
    """States and verdicts of 0, 1, 2, ... kills, each of ranked states, end where the closed space is."""
    deployment = with_epochs(two_brokers(tmp_path, "{kill: any}"), 15)
    prepared, one = prepared_for(deployment, name)
    asked = [*one.question.invariants.values(), *([one.question.goal[1]] if one.question.goal else [])]
    ranked = Canonical(rankings(one.system, asked, prepared.constants).families)
    assert ranked.ranked

    closed = EmbeddedExploration(
        one.system,
        one.question,
        {},
        Meter(Budget(), timed=False),
        2,
        unlimited=frozenset({Fault.KILL}),
        canonical=ranked,
        counted=True,
    )
    closed.explore_layer()
    assert closed.layers[0].complete

    layered = EmbeddedExploration(
        one.system,
        one.question,
        {Fault.KILL: 60},
        Meter(Budget(), timed=False),
        2,
        canonical=ranked,
        counted=True,
    )
    sizes, verdicts = [], []
    for size in range(60):
        if not list(layered._worth_exploring(size)):
            break
        layered.explore_layer()
        sizes.append(layered.states)
        verdicts.append(bool(layered.cut_sets(name)))
        if len(sizes) > 1 and sizes[-1] == sizes[-2]:
            break
    assert verdicts == sorted(verdicts), "a violation does not go away with more faults allowed"
    assert verdicts[-1] == bool(closed.cut_sets(name))
    if not verdicts[-1]:
        assert sizes[-1] == sizes[-2], "the layers end"
        assert sizes[-1] == closed.states
        assert len(sizes) > 3, "more than a few kills reach something new"


@pytest.mark.slow
def test_ranks_change_no_bounded_verdict(tmp_path: Path) -> None:
    """With one to three kills, ranked or not: the same violations, the same shortest runs, never more states."""
    fewer = False
    for name in ("no-acked-loss", "no-log-duplicate", "log-order", "read-stability"):
        prepared, one = prepared_for(with_epochs(two_brokers(tmp_path, "{kill: 3}", acks="1"), 9), name)
        asked = list(one.question.invariants.values())
        ranked = Canonical(rankings(one.system, asked, prepared.constants).families)
        found = []
        for canonical in (None, ranked):
            exploration = EmbeddedExploration(
                one.system, one.question, {Fault.KILL: 3}, Meter(Budget(), timed=False), canonical=canonical
            )
            for _ in range(4):
                exploration.explore_layer()
            found.append((exploration.states, {v.combination: v.depth for v in exploration.cut_sets(name)}))
        assert found[0][1] == found[1][1]
        assert found[1][0] <= found[0][0]
        fewer = fewer or found[1][0] < found[0][0]
    assert fewer


def test_a_violation_that_takes_many_faults_is_found_and_shown_with_real_epochs(tmp_path: Path) -> None:
    """Closing the space finds what few faults do not do; its trace is replayed with epochs beyond every bound."""
    deployment = two_brokers(tmp_path, "{kill: any, power-loss: any}", min_isr=2)
    props = [p for p in properties_of(build(deployment).pipeline) if p.name == "no-acked-loss"]
    explorer = EMBEDDED.begin(lambda: "", Budget(threads=2))
    (closure,) = close(deployment, props, Meter(Budget(), timed=False), explorer, []).values()
    assert closure.trace is not None
    assert sum(count for _, count in closure.trace.faults) >= 2
    assert not closure.holds


@pytest.mark.slow
def test_limited_kinds_are_counted_while_others_are_not(tmp_path: Path) -> None:
    """With any number of kills, one power loss at most: combinations of power losses over a closed space of kills."""
    deployment = two_brokers(tmp_path, "{kill: any, power-loss: 1}")
    assert deployment.faults.any_number == ("kill",)
    result = {verdict.property: verdict for verdict in check(deployment).verdicts}
    assert result["replica-agreement"].coverage.any_number in ((), ("kill",))
    for verdict in result.values():
        for trace in verdict.traces:
            assert dict(trace.faults).get("power-loss", 0) <= 1


@pytest.mark.slow
def test_command(tmp_path: Path) -> None:
    two_brokers(tmp_path, "{kill: any}")
    file, out = tmp_path / "deployment.yaml", tmp_path / "result.json"
    run = CliRunner().invoke(
        cli.app, ["check", str(file), "--require", "no-acked-loss", "--no-sensitivity", "--json", str(out)]
    )
    assert run.exit_code == 0, run.output
    assert "holds for any number of kills, 1 record" in " ".join(run.output.split())
    document = json.loads(out.read_text(encoding="utf-8"))
    verdict = next(v for v in document["verdicts"] if v["property"] == "no-acked-loss")
    assert verdict["bounds"]["any_number"] == ["kill"]
    assert "epochs" not in verdict["bounds"]["sizes"]
    assert CliRunner().invoke(cli.app, ["verify", str(out)]).exit_code == 0


@pytest.mark.slow
def test_out_of_budget_is_unknown_not_held(tmp_path: Path) -> None:
    deployment = two_brokers(tmp_path, "{kill: any}")
    deployment = replace(deployment, require=("no-acked-loss",))
    complete = {v.property: v for v in check(deployment).verdicts}["no-acked-loss"]
    few = check(deployment, budget=Budget(states=complete.states // 2)).verdicts
    verdict = {v.property: v for v in few}["no-acked-loss"]
    assert verdict.status is Status.UNKNOWN
    assert verdict.coverage.any_number == ()


def test_a_check_that_was_stopped_says_which_faults_it_decided(tmp_path: Path) -> None:
    deployment = replace(two_brokers(tmp_path, "{kill: any}"), require=("no-acked-loss",))
    prepared, only = prepared_for(deployment, "no-acked-loss")
    few = Run(deployment, prepared, [only], Budget())
    few.explore(None)
    needed = sum(exploration.states for exploration in few.explorations)
    stopped = Run(deployment, prepared, [only], Budget(states=needed))
    stopped.explore(None)
    (verdict,) = stopped.verdicts()
    assert (verdict.status, verdict.coverage.complete_to) == (Status.UNKNOWN, 2)
    said = "not decided for any number of faults: the state limit was reached; no set of at most 2 faults violates"
    assert open_for_any_number(verdict).startswith(said)
    assert "(--faults 2 " in open_for_any_number(verdict)
    assert wording.why_unknown(verdict) == "none with 2 faults; state limit"
    assert wording.answer([verdict]) == (
        "Undecided: the state limit was reached before no-acked-loss could be decided for any number of faults; "
        "no 2 faults violate this property."
    )
    assert any(open_for_any_number(verdict) in line for line in told_below([verdict]))


def told_below(verdicts: list[Verdict]) -> list[str]:
    return list(remarks(verdicts, footnotes=False, deletes_for_size=False))


@pytest.mark.parametrize(
    ("faults", "total", "any_number"),
    [
        ("any", None, ALL_KINDS),
        ("{total: any}", None, ALL_KINDS),
        ("{kill: any}", None, ("kill",)),
        ("{kill: Any, power-loss: 1}", None, ("kill",)),
        ("{total: any, kill: 2}", 2, ()),
        ("{total: 2, kill: any}", 2, ()),
        ("{kill: 1}", None, ()),
    ],
)
def test_budgets_are_read(tmp_path: Path, faults: str, total: int | None, any_number: tuple[str, ...]) -> None:
    budget = two_brokers(tmp_path, faults).faults
    assert (budget.total, budget.any_number) == (total, any_number)


@pytest.mark.parametrize("faults", ["many", "{kill: many}", "{total: -1}"])
def test_an_invalid_budget_is_refused(tmp_path: Path, faults: str) -> None:
    with pytest.raises(DeploymentError):
        two_brokers(tmp_path, faults)


def test_budgets_on_the_command_line(tmp_path: Path) -> None:
    deployment = replace(two_brokers(tmp_path, "{kill: 1}"), bounds=SMALL)
    assert narrowed(deployment, "any", None).faults == FaultBudget(None, (("kill", 9),), ("kill",))
    assert narrowed(deployment, "2", None).faults == FaultBudget(2, (("kill", 1),))
