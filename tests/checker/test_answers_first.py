"""A check without a total: every property is answered for one fault, then larger sets as far as they could matter."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from proofka.checker import budget as limits
from proofka.checker.breadth_first import Search
from proofka.checker.budget import ANSWERED, ANSWERED_TO, Budget
from proofka.checker.check import OnVerdict, Run, explore
from proofka.checker.combinations import Combination
from proofka.checker.deepening import Depth, adopted, decides, deeper_groups, worth_deepening
from proofka.checker.embedded import EmbeddedExploration
from proofka.checker.questions import Prepared, group, prepare
from proofka.checker.shard import Shard
from proofka.checker.timing.loop import InTime
from proofka.model.deployment import Deployment
from proofka.model.deployment.explored import FaultBudget
from proofka.model.faults import Fault
from proofka.model.pipeline import build
from proofka.properties.catalogue import properties_of
from proofka.properties.verdict import CutSet, Status, Verdict
from proofka.reports.wording import answer
from tests.checker.asking import SMALL, deployment_of, example
from tests.deployments import changed

MOST = tuple((kind.value, 1) for kind in (Fault.KILL, Fault.LEADER_MOVE, Fault.SLOW_FOLLOWER, Fault.POWER_LOSS))
EVERYTHING = sum(count for _, count in MOST)
PLENTY = Budget(seconds=600.0)
NAMED = "replica-agreement"
ASKED = ("no-acked-loss", "no-log-duplicate", "read-stability", NAMED)
"""Properties that differ in their answer, and in what they see."""


@cache
def prepared_for(deployment: Deployment) -> Prepared:
    return prepare(build(deployment))


def open_ended() -> Deployment:
    deployment = changed(example("acks-1", ()), replicas=2, bounds=SMALL)
    return replace(deployment, faults=FaultBudget(None, MOST))


def explored(
    deployment: Deployment, budget: Budget, on_verdict: OnVerdict | None = None, depth: Depth | None = None
) -> Run:
    prepared = prepared_for(deployment)
    asked = [prop for prop in properties_of(prepared.model.pipeline) if prop.name in ASKED]
    first = [prop for prop in asked if depth is None or prop.name in (depth.first or ASKED)]
    later = [prop for prop in asked if prop not in first]
    run = Run(deployment, prepared, group(prepared, first), budget, later=group(prepared, later) if later else ())
    run.explore(None, on_verdict, depth)
    return run


def verdicts_of(run: Run) -> dict[str, Verdict]:
    return {verdict.property: verdict for verdict in run.verdicts()}


@pytest.fixture(scope="module")
def total() -> dict[int, dict[str, Verdict]]:
    """Return the verdicts under named totals, by total."""
    faults = FaultBudget(None, MOST)
    totals = [replace(open_ended(), faults=faults.up_to(total)) for total in range(EVERYTHING + 1)]
    return {number: verdicts_of(explored(one, Budget())) for number, one in enumerate(totals)}


@pytest.fixture(scope="module")
def found() -> dict[str, Verdict]:
    """Return the verdicts of a check without a total, with time for everything."""
    return verdicts_of(explored(open_ended(), PLENTY))


def sets_up_to(verdict: Verdict, faults: int) -> set[CutSet]:
    return {cut_set for cut_set in verdict.cut_sets if sum(count for _, count in cut_set) <= faults}


def test_answers_are_those_of_the_totals_that_they_cover(
    found: dict[str, Verdict], total: dict[int, dict[str, Verdict]]
) -> None:
    assert found.keys() == total[1].keys()
    assert {verdict.status for verdict in found.values()} >= {Status.VIOLATED, Status.HOLDS}
    for name, verdict in found.items():
        covered = min(verdict.coverage.complete_to, EVERYTHING)
        assert covered >= ANSWERED_TO
        same = total[covered][name]
        assert verdict.status is same.status, name
        assert set(verdict.cut_sets) == sets_up_to(same, covered), name
        assert verdict.witness_reached == same.witness_reached, name


def test_a_violated_property_is_not_searched_for_larger_sets_unless_asked(
    found: dict[str, Verdict], total: dict[int, dict[str, Verdict]]
) -> None:
    everything = verdicts_of(explored(open_ended(), PLENTY, depth=Depth(all_fault_sets=True)))
    more = 0
    for name, verdict in found.items():
        if verdict.status is not Status.VIOLATED or verdict.coverage.stopped is None:
            continue
        assert verdict.coverage.stopped == ANSWERED
        assert set(verdict.cut_sets) == sets_up_to(total[verdict.coverage.complete_to][name], EVERYTHING)
        assert set(everything[name].cut_sets) == set(total[EVERYTHING][name].cut_sets), name
        more += len(everything[name].cut_sets) > len(verdict.cut_sets)
    assert more, "no property here has a larger set, so nothing is tested"


def test_check_without_time_answers_for_one_fault_only(
    monkeypatch: pytest.MonkeyPatch, total: dict[int, dict[str, Verdict]]
) -> None:
    monkeypatch.setattr(limits, "DEFAULT_SECONDS", 0.0)
    for name, verdict in verdicts_of(explored(open_ended(), Budget())).items():
        assert verdict.status is total[1][name].status
        assert verdict.coverage.complete_to == ANSWERED_TO
        assert set(verdict.cut_sets) == set(total[1][name].cut_sets)


def test_named_properties_come_first_and_others_are_unknown_without_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "DEFAULT_SECONDS", 0.0)
    first = Depth(frozenset({NAMED}))
    found = verdicts_of(explored(open_ended(), Budget(), depth=first))
    named = found.pop(NAMED)
    assert (named.status, named.coverage.complete_to) == (Status.HOLDS, ANSWERED_TO)
    assert {(one.status, one.coverage.complete_to, one.coverage.stopped) for one in found.values()} == {
        (Status.UNKNOWN, -1, "time")
    }
    everyone = verdicts_of(explored(open_ended(), Budget(), depth=replace(first, all_properties=True)))
    assert Status.UNKNOWN not in {verdict.status for verdict in everyone.values()}


def test_a_check_of_the_first_alone_ends_with_its_smallest_fault_sets(total: dict[int, dict[str, Verdict]]) -> None:
    deployment = replace(open_ended(), faults=FaultBudget(None, MOST).up_to(EVERYTHING))
    name = "read-stability"
    run = explore(deployment, Budget(), depth=Depth(frozenset({name}), only_first=True))
    (verdict,) = run.verdicts()
    smallest = min(sum(count for _, count in one) for one in total[EVERYTHING][name].cut_sets)
    assert (verdict.property, verdict.status) == (name, Status.VIOLATED)
    assert set(verdict.cut_sets) == sets_up_to(total[EVERYTHING][name], smallest)
    assert run.explorations[0].layers[-1].size == smallest < EVERYTHING


def test_a_check_of_the_first_alone_covers_every_fault_before_a_pass(total: dict[int, dict[str, Verdict]]) -> None:
    deployment = replace(open_ended(), faults=FaultBudget(None, MOST).up_to(2))
    (verdict,) = explore(deployment, Budget(), depth=Depth(frozenset({NAMED}), only_first=True)).verdicts()
    assert verdict.status is total[2][NAMED].status is Status.HOLDS
    assert verdict.coverage == total[2][NAMED].coverage


def test_ids_and_answers_do_not_depend_on_the_order_of_properties(found: dict[str, Verdict]) -> None:
    named = verdicts_of(explored(open_ended(), PLENTY, depth=Depth(frozenset({NAMED}))))
    told = [{name: (one.id, one.status, one.cut_sets) for name, one in all_.items()} for all_ in (found, named)]
    assert told[0] == told[1]


def test_each_verdict_is_told_as_it_is_decided() -> None:
    told: list[Verdict] = []
    run = explored(open_ended(), PLENTY, on_verdict=told.append)
    last = {verdict.property: verdict for verdict in told}
    for name, verdict in verdicts_of(run).items():
        assert last[name].status is verdict.status
        assert set(last[name].cut_sets) <= set(verdict.cut_sets)
    assert len(told) > len(last), "no verdict was told again after a deeper exploration"


def test_no_row_is_told_again_with_less() -> None:
    told: list[Verdict] = []
    explored(open_ended(), PLENTY, told.append, Depth(all_fault_sets=True))
    again = 0
    for number, one in enumerate(told):
        later = [other for other in told[number + 1 :] if other.property == one.property]
        if one.status is Status.VIOLATED and later:
            again += 1
            assert all(set(one.cut_sets) <= set(other.cut_sets) for other in later), one.property
        assert all(other.coverage.complete_to >= one.coverage.complete_to for other in later), one.property
    assert again, "no violation was told again, so nothing is tested"


def test_interrupt_before_the_exploration_leaves_every_property_undecided() -> None:
    asked = Budget()
    asked.stop.set()
    for verdict in verdicts_of(explored(open_ended(), asked)).values():
        assert (verdict.status, verdict.coverage.stopped) == (Status.UNKNOWN, "interrupted")


@pytest.mark.parametrize("moment", [1, 2, 3, 4, 5, 6])
def test_an_interrupt_in_timed_re_exploration_never_passes(
    moment: int, monkeypatch: pytest.MonkeyPatch, total: dict[int, dict[str, Verdict]]
) -> None:
    asked, questions = Budget(), 0
    out_of_time = limits.Meter.out_of_time_for_clocks

    def counted(meter: limits.Meter, layer: int, *, is_violated: bool = False) -> str | None:
        nonlocal questions
        questions += 1
        if questions == moment:
            asked.stop.set()
        return out_of_time(meter, layer, is_violated=is_violated)

    monkeypatch.setattr(limits.Meter, "out_of_time_for_clocks", counted)
    for name, verdict in verdicts_of(explored(open_ended(), asked)).items():
        if verdict.status in (Status.HOLDS, Status.VACUOUS):
            assert total[verdict.coverage.complete_to][name].status is verdict.status
        assert set(verdict.cut_sets) <= set(total[EVERYTHING][name].cut_sets)
    assert questions >= moment


def test_an_interrupt_between_the_answer_and_larger_sets_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Budget()
    monkeypatch.setattr(Run, "_deepen", lambda *_, **__: asked.stop.set())
    stopped = {one.coverage.stopped for one in explored(open_ended(), asked).verdicts() if one.status is Status.HOLDS}
    assert stopped == {"interrupted"}


def test_the_smallest_fault_sets_are_complete_only_below_those_that_are_undecided_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A violated property claims no more about its bounds than a property that is unknown for the same reason."""
    deployment = open_ended()
    deployment = replace(deployment, faults=deployment.faults.up_to(2))
    undecided: CutSet
    for undecided, complete in (((("power-loss", 1),), 0), ((), -1), ((("kill", 1), ("power-loss", 2)), 2)):
        monkeypatch.setattr(InTime, "undecided", [undecided])
        found = verdicts_of(explored(deployment, PLENTY))["no-acked-loss"]
        assert (found.status, found.coverage.complete_to) == (Status.VIOLATED, complete)
        assert found.coverage.combinations == 0


def test_property_that_a_bound_leaves_undecided_does_not_lack_time() -> None:
    """More time would not decide it: a larger log would."""
    faults = FaultBudget(None, ((Fault.LOST_RESPONSE.value, 9),))
    deployment = replace(open_ended(), bounds=replace(SMALL, records=2), faults=faults)
    prepared = prepared_for(deployment)
    asked = [prop for prop in properties_of(prepared.model.pipeline) if prop.name == "recoverability"]
    run = Run(deployment, prepared, group(prepared, asked), PLENTY)
    run.explore(None, None, Depth())
    (verdict,) = run.verdicts()
    assert (verdict.status, verdict.coverage.stopped) == (Status.UNKNOWN, None)
    assert answer([replace(verdict, required=True)]) == (
        "Undecided: a bound (log) was reached before recoverability could be decided."
    )


def test_verdicts_that_are_worth_deepening(found: dict[str, Verdict]) -> None:
    violated = {verdict.property for verdict in found.values() if verdict.status is Status.VIOLATED}
    plain, everything = (worth_deepening(found.values(), all_fault_sets=flag) for flag in (False, True))
    assert everything - plain == violated
    assert not plain & violated


def test_a_result_that_covers_less_is_not_adopted(found: dict[str, Verdict]) -> None:
    base = next(one for one in found.values() if one.status is Status.HOLDS)
    one = replace(base, coverage=replace(base.coverage, complete_to=1, stopped=None))
    none = replace(base, coverage=replace(base.coverage, complete_to=0, stopped="time"))
    two = replace(base, coverage=replace(base.coverage, complete_to=2, stopped=None))
    unknown = replace(two, status=Status.UNKNOWN)
    assert [decides(one, other) for other in (none, one, two, unknown)] == [False, False, True, False]
    assert adopted(one, two).coverage.complete_to == 2
    assert adopted(one, unknown).coverage.complete_to == 1
    assert not decides(one, replace(none, status=Status.VIOLATED))
    assert decides(one, replace(one, status=Status.VIOLATED))
    kill, move = (("kill", 1),), (("leader-move", 1),)
    violated = replace(one, status=Status.VIOLATED, cut_sets=(kill, move))
    more, fewer = replace(violated, cut_sets=(kill, move, (("slow-follower", 1),))), replace(violated, cut_sets=(kill,))
    assert [decides(violated, other) for other in (more, fewer)] == [True, False]
    assert set(adopted(violated, fewer).cut_sets) == {kill, move}


def test_groups_to_deepen_come_in_the_order_of_their_names() -> None:
    """Properties of ``--fail-on`` come first, then required ones, then the others, whatever the size of their cones."""
    prepared = prepared_for(open_ended())
    homes = group(prepared, [prop for prop in properties_of(prepared.model.pipeline) if prop.name in ASKED])
    for first, second in ((NAMED, "no-acked-loss"), ("no-acked-loss", NAMED)):
        groups = deeper_groups(prepared, homes, frozenset(ASKED), ({first}, {second}))
        names = [{prop.name for prop in one.properties} for one in groups]
        assert first in names[0]
        assert second in names[1] | names[0]


IN_TIME = """\
kafka: "4.0"
topic: {replicas: 3, min.insync.replicas: 2}
producer: {acks: all, delivery.timeout.ms: 120000, on_send_error: drop}
assume: {faults: {kill: 1, leader-move: 1, lost-response: 1}}
bounds: {records: 1, log: 2}
require: [no-dropped-record]
"""


def test_verdict_in_time_stands_when_larger_fault_sets_meet_a_limit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A property that rests on time holds up to the layer before the one in which its second look is stopped."""
    out_of_time = limits.Meter.out_of_time_for_clocks

    def over_beyond_two(meter: limits.Meter, layer: int, *, is_violated: bool = False) -> str | None:
        return "time" if layer > 2 else out_of_time(meter, layer, is_violated=is_violated)

    monkeypatch.setattr(limits.Meter, "out_of_time_for_clocks", over_beyond_two)
    prepared = prepared_for(deployment_of(IN_TIME, tmp_path))
    deployment = prepared.model.pipeline.deployment
    asked = [prop for prop in properties_of(prepared.model.pipeline) if prop.name == "no-dropped-record"]
    told: list[Verdict] = []
    run = Run(deployment, prepared, group(prepared, asked), PLENTY)
    run.explore(None, told.append)
    (last,) = run.verdicts()
    covered = [one.coverage.complete_to for one in told]
    assert (last.status, last.coverage.complete_to, last.coverage.stopped) == (Status.HOLDS, 2, "time")
    assert last.lemmas
    assert not last.notes
    assert covered == sorted(covered), "a row was taken back"
    assert covered[-1] == 2


@pytest.mark.parametrize("required", [True, False])
def test_single_faults_of_a_required_property_are_decided_in_time_however_late_it_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, required: bool
) -> None:
    """The exploration without clocks can take longer than the clocks may."""
    monkeypatch.setattr(limits, "SECONDS_FOR_CLOCKS", 0.0)
    monkeypatch.setattr(limits, "SECONDS_FOR_FAULT_SETS", 0.0)
    prepared = prepared_for(deployment_of(IN_TIME, tmp_path))
    deployment = replace(prepared.model.pipeline.deployment, require=("no-dropped-record",) if required else ())
    asked = [prop for prop in properties_of(prepared.model.pipeline) if prop.name == "no-dropped-record"]
    run = Run(deployment, prepared, group(prepared, asked), Budget())
    run.explore(None)
    (verdict,) = run.verdicts()
    assert (verdict.status is Status.HOLDS) is required
    assert (verdict.coverage.complete_to >= 1) is required


def test_a_goal_that_larger_fault_sets_leave_open_at_a_bound_keeps_its_answer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    decide = Search.decide_goal

    def decided(search: Search, stuck: Callable[[Shard, int], None], undecided: Callable[[], None]) -> None:
        if sum(search.shard.combination) > 2:
            undecided()
        else:
            decide(search, stuck, undecided)

    monkeypatch.setattr(Search, "decide_goal", decided)
    prepared = prepared_for(deployment_of(IN_TIME, tmp_path))
    pipeline = prepared.model.pipeline
    asked = [prop for prop in properties_of(pipeline) if prop.goal is not None]
    run = Run(pipeline.deployment, prepared, group(prepared, asked), PLENTY)
    run.explore(None)
    (last,) = run.verdicts()
    assert (last.status, last.coverage.complete_to) == (Status.HOLDS, 2)
    assert last.notes[0].startswith("with more than 2 faults: from some state every continuation ends at a bound")


def test_faults_of_applications_are_explored_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """These faults have few states, so the first row comes soon. The order changes no result."""
    order: list[CutSet] = []
    explore = EmbeddedExploration._explore

    def noted(
        self: EmbeddedExploration, combination: Combination, crew: ThreadPoolExecutor | None = None
    ) -> str | None:
        order.append(self.named(combination))
        return explore(self, combination, crew)

    monkeypatch.setattr(EmbeddedExploration, "_explore", noted)
    kinds = ((Fault.KILL.value, 1), (Fault.LEADER_MOVE.value, 1), (Fault.PRODUCER_CRASH.value, 1))
    deployment = replace(open_ended(), faults=FaultBudget(1, kinds))
    explored(deployment, Budget(threads=1))
    assert order[:2] == [(), (("producer-crash", 1),)]
