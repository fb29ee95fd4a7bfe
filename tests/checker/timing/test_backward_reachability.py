"""Timed re-exploration that enters only states from which a violation can be reached: the same answers from fewer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import proofka.checker.timing.backward_reachability as backward_reachability
from proofka.checker.budget import Budget, Meter
from proofka.checker.check import check, verdict_on
from proofka.checker.combinations import Combination, is_contained
from proofka.checker.embedded import EmbeddedExploration
from proofka.checker.kernel.layout import Words
from proofka.checker.kernel.wanted import is_wanted
from proofka.checker.questions import group, prepare
from proofka.checker.timing import limits
from proofka.checker.timing.backward_reachability import BackwardReachability, Backwards
from proofka.checker.timing.loop import InTime, Reporter
from proofka.model.deployment import Deployment, read_deployment
from proofka.model.faults import Fault
from proofka.model.pipeline import build
from proofka.properties.catalogue import properties_of
from proofka.properties.verdict import CutSet, Result, Status

EXAMPLES = Path(__file__).parents[3] / "examples" / "time"

TWO_KILLS = """\
kafka: "4.0"
topic: {replicas: 3, min.insync.replicas: 2}
producer: {acks: all}
assume: {faults: {total: 2, kill: 2, lost-response: 1}}
bounds: {records: 1}
require: [no-dropped-record]
"""

QUICK = {"two kills", "delivery-timeout", "lagging-follower-kept", "slow-workers"}
"""Cases that differ in what their clocks belong to: brokers alone, sends, followers, workers."""

CASES = [
    pytest.param(name, marks=() if name in QUICK else pytest.mark.slow)
    for name in ("two kills", *sorted(path.stem for path in EXAMPLES.glob("*.yaml")))
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("deployments")


def deployment(name: str, folder: Path) -> Deployment:
    if name != "two kills":
        return read_deployment(EXAMPLES / f"{name}.yaml")
    file = folder / "two-kills.yaml"
    file.write_text(TWO_KILLS, encoding="utf-8")
    return read_deployment(file)


def answers(result: Result) -> dict[str, tuple[Status, tuple[CutSet, ...], list[int], bool]]:
    return {
        one.property: (one.status, one.cut_sets, [len(trace.steps) for trace in one.traces], one.witness_reached)
        for one in result.verdicts
    }


def narrow_at_once(patch: pytest.MonkeyPatch) -> None:
    """Enter only states from which a violation can be reached, also where few states are left out."""
    patch.setattr(limits, "LEAST_BEFORE_NARROW", -1)
    patch.setattr(limits, "SHARE_BEFORE_NARROW", 0)
    patch.setattr(limits, "MOST_FROM_EVERYWHERE", -1)


@cache
def both_ways(name: str, folder: Path) -> tuple[Result, Result]:
    """Return the result of entering every state, and of entering only those from which a violation can be reached."""
    asked = deployment(name, folder)
    with pytest.MonkeyPatch.context() as without_reading:
        without_reading.setattr(Backwards, "of", lambda *_: None)
        everything = check(asked, budget=Budget())
    with pytest.MonkeyPatch.context() as at_once:
        narrow_at_once(at_once)
        return everything, check(asked, budget=Budget())


@pytest.mark.parametrize("name", CASES)
def test_answers_are_those_of_entering_every_state(name: str, folder: Path) -> None:
    everything, narrow = both_ways(name, folder)
    assert answers(narrow) == answers(everything)


def test_timed_search_enters_all_states_if_its_continuation_takes_too_many(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search that ended at its first violations is not gone on with: the answer is that of entering all states."""
    asked = deployment("two kills", folder)
    plain = verdict_on("no-dropped-record", asked, Budget())
    narrow_at_once(monkeypatch)
    monkeypatch.setattr(backward_reachability, "LEAST_TO_THE_END", 0)
    monkeypatch.setattr(backward_reachability, "SHARE_TO_THE_END", 0)
    limited = verdict_on("no-dropped-record", asked, Budget())
    assert (limited.status, limited.cut_sets) == (plain.status, plain.cut_sets) == (Status.VIOLATED, ((("kill", 2),),))


def test_fewer_states_are_entered(folder: Path) -> None:
    everything, narrow = both_ways("two kills", folder)
    assert 0 < narrow.engine.states_again < everything.engine.states_again / 2


def test_states_left_out_for_some_faults_are_not_left_out_for_more(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A restricted exploration ends at the faults that its tables have; each further layer begins another."""
    explored: list[tuple[str, int, int]] = []
    explore_to = InTime._explore_to

    def observed(self: InTime, exploration: EmbeddedExploration, layers: int, reporter: Reporter) -> None:
        if exploration.wanted.tables:
            explored.append((self.name, layers, self._layers))
        explore_to(self, exploration, layers, reporter)

    monkeypatch.setattr(InTime, "_explore_to", observed)
    narrow_at_once(monkeypatch)
    check(deployment("two kills", folder), budget=Budget())
    assert all(layers <= made_for for _, layers, made_for in explored)
    assert {(name, layers) for name, layers, _ in explored if (name, layers - 1, layers - 1) in explored}


def explorations(name: str, folder: Path, *, alone: bool) -> Iterator[EmbeddedExploration]:
    """Yield the untimed explorations of one deployment; that of a property ``alone`` ends at its first violations."""
    asked = deployment(name, folder)
    prepared = prepare(build(asked))
    properties = [prop for prop in properties_of(prepared.model.pipeline) if prop.goal is None]
    at_most = {Fault(kind): most for kind, most in asked.faults.at_most}
    for members in [[prop] for prop in properties] if alone else [properties]:
        for one in group(prepared, members):
            meter = Meter(Budget(), timed=False)
            found = EmbeddedExploration(one.system, one.question, at_most, meter, 2, infer=False)
            for _ in range(3):
                found.explore_layer()
            yield found


def successors(found: EmbeddedExploration, row: Words) -> Iterator[tuple[int | None, bytes]]:
    """Yield the kind of fault (None: a step) and the successor, of every step from a state."""
    yield from ((None, after[:-1].tobytes()) for after in found.kernel.successors("step", row))
    for number, kind in enumerate(found.kinds):
        yield from ((number, after[:-1].tobytes()) for after in found.kernel.successors(kind.value, row))


def reaching(found: EmbeddedExploration, name: str, most: Combination) -> Mapping[tuple[Combination, bytes], bool]:
    """Return, by brute force, the used faults, the state, and whether ``name`` can be violated within ``most`` from
    there."""
    bit = 1 << list(found.question.invariants).index(name)
    edges: dict[tuple[Combination, bytes], list[tuple[Combination, bytes]]] = {}
    waiting = [((0,) * len(most), found.initial_row().tobytes())]
    while waiting:
        node = waiting.pop()
        if node in edges:
            continue
        used, state = node
        edges[node] = []
        for kind, after in successors(found, np.frombuffer(state, dtype=np.uint64)):
            then = used if kind is None else (*used[:kind], used[kind] + 1, *used[kind + 1 :])
            if is_contained(then, most):
                edges[node].append((then, after))
                waiting.append((then, after))
    bad = {node for node in edges if found.kernel.inspect(np.frombuffer(node[1], dtype=np.uint64)) & bit}
    before = -1
    while len(bad) != before:
        before = len(bad)
        bad |= {node for node, targets in edges.items() if not bad.isdisjoint(targets)}
    return {node: node in bad for node in edges}


@pytest.mark.parametrize("alone", [False, True], ids=["together", "alone"])
@pytest.mark.parametrize("name", ["delivery-timeout", "quick-workers", "lagging-follower-kept"])
def test_wanted_states_are_those_that_can_violate(name: str, alone: bool, folder: Path) -> None:
    """With the whole state for a name, exactly these states are wanted, whatever faults led to them."""
    violated = 0
    for found in explorations(name, folder, alone=alone):
        backward = BackwardReachability(found, threads=2)
        for prop, violations in sorted(found.violations.items()):
            for violation in violations[:1]:
                violated += 1
                assert_wanted(found, backward, prop, violation.combination)
    assert violated


def assert_wanted(
    found: EmbeddedExploration, backward: BackwardReachability, prop: str, combination: Combination
) -> None:
    most = tuple(min(count + 1, limit) for count, limit in zip(combination, found.most, strict=True))
    faults = dict(zip(found.kinds, most, strict=True))
    wanted = backward.wanted(prop, [faults], found.layout, found.kinds)
    assert set(wanted.tables) == set(product(*(range(count + 1) for count in most)))
    expected = reaching(found, prop, most)
    assert any(expected.values()) and not all(expected.values())
    for (used, state), can_violate in expected.items():
        row = np.frombuffer(state, dtype=np.uint64)
        is_entered = is_wanted(row.ctypes.data, wanted.mask, wanted.table_of(used))
        assert is_entered == can_violate, (prop, used, found.layout.unpack(row))
