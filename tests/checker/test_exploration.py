"""Exploration by fault layers against its definition, on systems small enough for a naive explorer."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from proofka.checker.budget import Budget, Meter
from proofka.checker.check import explore
from proofka.checker.embedded import EmbeddedExploration
from proofka.checker.exploration import Exploration, Question
from proofka.checker.kernel.visited import PARTITIONS
from proofka.model.deployment.choices import OnSendError
from proofka.model.deployment.explored import FaultBudget
from proofka.model.faults import Fault
from proofka.model.language import Action, TransitionSystem, Variable
from proofka.properties.verdict import Status
from tests.checker.asking import SMALL, ask, example, run
from tests.checker.naive import Naive, freeze
from tests.checker.plain_evaluator import holds, successor
from tests.deployments import changed

SLOW, MOVE, LOST = Fault.SLOW_FOLLOWER, Fault.LEADER_MOVE, Fault.LOST_REQUEST
KINDS = (SLOW, LOST, MOVE)
NEVER = z3.BoolVal(False)


def action(name: str, guard: z3.BoolRef, updates: Mapping[Variable, z3.ArithRef], fault: Fault | None = None) -> Action:
    return Action(
        name,
        "somebody",
        lane="brokers",
        arguments={},
        guard=guard,
        updates=updates,
        sentence=lambda before, after: name,
        semantics="",
        fault=fault,
    )


def explored(
    system: TransitionSystem,
    question: Question,
    at_most: Mapping[Fault, int],
    total: int,
    threads: int = 1,
    budget: Budget | None = None,
) -> Exploration:
    exploration = EmbeddedExploration(system, question, at_most, Meter(budget or Budget(), timed=False), threads)
    for _ in range(total + 1):
        exploration.explore_layer()
    return exploration


def random_number(chance: random.Random, variables: tuple[Variable, ...]) -> z3.ArithRef:
    one = chance.choice(variables).term
    return chance.choice(
        [one, z3.IntVal(chance.randint(0, 3)), one + 1, one - 1, one + chance.choice(variables).term, 3 - one]
    )


def random_condition(chance: random.Random, variables: tuple[Variable, ...]) -> z3.BoolRef:
    def comparison() -> z3.BoolRef:
        one, other = random_number(chance, variables), random_number(chance, variables)
        return chance.choice([one == other, one <= other, one < other, one != other])

    return chance.choice([comparison(), z3.And(comparison(), comparison()), z3.Or(comparison(), comparison())])


def random_system(chance: random.Random) -> TransitionSystem:
    """Build a few variables and actions; a value that would leave its domain starts again at the lowest value."""
    variables = tuple(
        Variable(f"x{i}", -(i % 2), high, chance.randint(-(i % 2), high))
        for i, high in enumerate(chance.choices(range(1, 4), k=chance.randint(2, 3)))
    )

    def update(variable: Variable) -> z3.ArithRef:
        value = random_number(chance, variables)
        return z3.If(z3.And(value >= variable.low, value <= variable.high), value, variable.low)

    actions = []
    for number in range(chance.randint(3, 8)):
        changed = chance.sample(variables, chance.randint(1, len(variables)))
        fault = chance.choice([None, None, *KINDS])
        updates = {variable: update(variable) for variable in changed}
        actions.append(action(f"action{number}", random_condition(chance, variables), updates, fault))
    return TransitionSystem("random", variables, tuple(actions))


def random_question(chance: random.Random, system: TransitionSystem, goal: bool) -> Question:
    conditions = {f"invariant {i}": random_condition(chance, system.variables) for i in range(3)}
    return Question(
        conditions,
        ("goal", random_condition(chance, system.variables)) if goal else None,
        {f"observation {i}": random_condition(chance, system.variables) for i in range(3)},
    )


def found_cut_sets(exploration: Exploration) -> dict[str, dict[tuple[int, ...], int]]:
    """Name -> minimal cut set -> length of its run; no cut set is found twice."""
    found = {}
    for name in exploration.question.names:
        violations = exploration.cut_sets(name)
        assert len({v.combination for v in violations}) == len(violations)
        found[name] = {v.combination: v.depth for v in violations}
    return found


def check_runs(exploration: Exploration) -> None:
    """Assert that every found run starts in the initial state, uses enabled actions and exactly these faults, and ends
    in a violation."""
    system, question = exploration.system, exploration.question
    for name in question.names:
        for violation in exploration.cut_sets(name):
            states, labels = exploration.states_along(violation), exploration.path(violation)
            assert states[0] == system.initial
            assert len(labels) == violation.depth == len(states) - 1
            actions = [system.actions[label] for label in labels]
            for before, done, after in zip(states, actions, states[1:], strict=False):
                assert successor(done, before) == after
            counts = tuple(sum(done.fault is kind for done in actions) for kind in exploration.kinds)
            assert counts == violation.combination
            if name in question.invariants:
                assert holds(question.invariants[name], states[-1])


@pytest.mark.slow
@settings(max_examples=60, derandomize=True)
@given(st.randoms(use_true_random=False), st.integers(0, 3), st.sampled_from([1, 2]))
def test_random_systems(chance: random.Random, total: int, threads: int) -> None:
    """States per combination of faults, cut sets, shortest runs and observations equal the definition's."""
    system = random_system(chance)
    question = random_question(chance, system, goal=True)
    question = replace(question, invariants={**question.invariants, "never": NEVER})
    at_most = {kind: chance.randint(1, 3) for kind in KINDS}
    exploration = explored(system, question, at_most, total, threads)
    naive = Naive(system, exploration.kinds, exploration.most, total)

    assert found_cut_sets(exploration) == naive.cut_sets(question)
    assert all(report.complete for report in exploration.layers)
    for combination, shard in exploration.shards.items():
        unpacked = [
            freeze(exploration.layout.unpack(row))
            for part in range(PARTITIONS)
            for row in shard.packed(part, slice(None))
        ]
        assert len(set(unpacked)) == len(unpacked)
        assert set(unpacked) == naive.own(combination)
    assert {c for c, reached in naive.depth.items() if reached} <= exploration.shards.keys()
    assert exploration.states == len([1 for faults in naive.depth for _ in naive.own(faults)])
    assert exploration.observed() == {name for name, term in question.observations.items() if naive.where(term)}
    check_runs(exploration)


@pytest.mark.slow
@settings(max_examples=60, derandomize=True)
@given(st.randoms(use_true_random=False), st.integers(0, 3), st.booleans())
def test_early_stops_change_nothing(chance: random.Random, total: int, goal: bool) -> None:
    """Skipped combinations and ended searches, where no question is open, change no cut set and no run."""
    system = random_system(chance)
    question = random_question(chance, system, goal)
    at_most = dict.fromkeys(KINDS, 2)
    exploration = explored(system, question, at_most, total)
    assert found_cut_sets(exploration) == Naive(system, exploration.kinds, exploration.most, total).cut_sets(question)
    check_runs(exploration)


@settings(max_examples=15, derandomize=True)
@given(st.randoms(use_true_random=False))
def test_threads_change_nothing(chance: random.Random) -> None:
    system = random_system(chance)
    question = random_question(chance, system, goal=True)
    one, two = (explored(system, question, dict.fromkeys(KINDS, 2), 3, threads) for threads in (1, 2))
    assert found_cut_sets(one) == found_cut_sets(two)
    assert (one.states, one.transitions, one.depth) == (two.states, two.transitions, two.depth)
    for name in question.names:
        assert [one.path(v) for v in one.cut_sets(name)] == [two.path(v) for v in two.cut_sets(name)]


def test_faults_are_not_monotone() -> None:
    """One more fault can prevent a violation: what a combination leads to says nothing of a larger one."""
    x, safe = Variable("x", 0, 2, 0), Variable("safe", 0, 1, 0)
    system = TransitionSystem(
        "not monotone",
        (x, safe),
        (
            action("advance", x.term == 1, {x: z3.IntVal(2)}),
            action("hurt", z3.And(x.term == 0, safe.term == 0), {x: z3.IntVal(1)}, SLOW),
            action("protect", safe.term == 0, {safe: z3.IntVal(1), x: z3.IntVal(0)}, LOST),
        ),
    )
    question = Question({"bad": x.term == 2, "safe and bad": z3.And(x.term == 2, safe.term == 1)}, None, {})
    exploration = explored(system, question, {SLOW: 2, LOST: 2}, 3)
    assert found_cut_sets(exploration) == {"bad": {(1, 0): 2}, "safe and bad": {}}


def test_a_violation_without_any_fault() -> None:
    x = Variable("x", 0, 1, 1)
    system = TransitionSystem("bad at once", (x,), (action("fail", x.term == 1, {x: z3.IntVal(0)}, SLOW),))
    exploration = explored(system, Question({"bad": x.term == 1}, ("goal", x.term == 0), {}), {SLOW: 1}, 1)
    assert found_cut_sets(exploration) == {"bad": {(0,): 0}, "goal": {(0,): 0}}
    assert exploration.exhausted()


@pytest.mark.parametrize("aside", [False, True])
def test_more_faults_are_looked_at_where_fewer_do_not_count(aside: bool) -> None:
    """A violation by one fault ends the search among two, unless it was set aside."""
    broken = Variable("broken", 0, 3, 0)
    breaks = action("breaks", broken.term < 3, {broken: broken.term + 1}, LOST)
    question = Question({"bad": broken.term > 0}, None, {})
    meter = Meter(Budget(), timed=False)
    exploration = EmbeddedExploration(TransitionSystem("", (broken,), (breaks,)), question, {LOST: 3}, meter, 1)
    for _ in range(4):
        exploration.explore_layer()
        for violation in exploration.violations["bad"] if aside else ():
            if violation.combination < (2,):
                exploration.set_aside(violation)
    found = [violation.combination for violation in exploration.violations["bad"]]
    assert found == ([(1,), (2,)] if aside else [(1,)])


def test_no_actions_at_all() -> None:
    x = Variable("x", 0, 1, 0)
    exploration = explored(TransitionSystem("still", (x,), ()), Question({"bad": x.term == 1}, None, {}), {SLOW: 2}, 2)
    assert found_cut_sets(exploration) == {"bad": {}}
    assert exploration.states == 1
    assert exploration.exhausted()


def counters(highest: int) -> TransitionSystem:
    """Build three counters that go up by one, and a fault that resets the first counter."""
    variables = tuple(Variable(f"counter{i}", 0, highest, 0) for i in range(3))
    ups = [action(f"up{i}", v.term < highest, {v: v.term + 1}) for i, v in enumerate(variables)]
    again = action("again", variables[0].term == highest, {variables[0]: z3.IntVal(0)}, SLOW)
    return TransitionSystem("counters", variables, (*ups, again))


def test_growing_tables() -> None:
    """Many more states than a shard has room for at first: each is stored once."""
    exploration = explored(counters(40), Question({"never": NEVER}, None, {}), {SLOW: 1}, 1)
    assert exploration.states == 41**3
    assert exploration.depth == 3 * 40, "the fault leads only to states that take none"


@pytest.mark.parametrize(
    ("budget", "why"),
    [(Budget(states=1000), "states"), (Budget(memory=100_000), "memory"), (Budget(seconds=0), "time")],
)
def test_out_of_budget(budget: Budget, why: str) -> None:
    """The layer says why it stopped and is not complete; nothing beyond it is claimed or explored."""
    system = counters(60)
    end = z3.And(*(v.term == v.high for v in system.variables))
    exploration = explored(system, Question({"end": end}, None, {}), {SLOW: 2}, 2, budget=budget)
    assert exploration.layers[0].stopped == why
    assert not any(report.complete for report in exploration.layers)
    assert not any(shard.complete for shard in exploration.shards.values())
    assert exploration.states < 61**3
    assert exploration.cut_sets("end") == []


def test_interrupted() -> None:
    meter = Meter(Budget(), timed=False)
    meter.interrupt()
    exploration = EmbeddedExploration(counters(60), Question({"never": NEVER}, None, {}), {SLOW: 2}, meter)
    assert exploration.explore_layer().stopped == "interrupted"


def test_violation_found_before_the_budget_ran_out_counts() -> None:
    system = counters(60)
    started = z3.And(*(v.term == 1 for v in system.variables))
    exploration = explored(
        system, Question({"started": started, "never": NEVER}, None, {}), {SLOW: 1}, 1, budget=Budget(states=5000)
    )
    assert exploration.layers[0].stopped == "states"
    assert found_cut_sets(exploration)["started"] == {(0,): 3}


def test_verdicts_out_of_budget_are_unknown() -> None:
    """Out of budget is its own answer: whatever is not violated is unknown, and the coverage says how far it got."""
    deployment = replace(example("acks-all-min-isr-2"), bounds=SMALL)
    for verdict in ask(deployment, "no-acked-loss", "recoverability", budget=Budget(states=50, threads=1)).values():
        assert verdict.status is Status.UNKNOWN
        assert verdict.coverage.stopped == "states"
        assert verdict.coverage.complete_to < 1


@pytest.mark.slow
def test_a_layer_cut_short_is_not_claimed() -> None:
    """The total asked for is not reached: what was complete before is what the coverage claims."""
    deployment = replace(example("acks-all-min-isr-2", total=3), bounds=SMALL)
    whole = run(replace(deployment, faults=replace(deployment.faults, total=0)), ["no-acked-loss"])
    (verdict,) = run(deployment, ["no-acked-loss"], Budget(states=whole.explorations[0].states + 1)).verdicts()
    assert verdict.status is Status.UNKNOWN
    assert verdict.coverage.complete_to == 0
    assert verdict.coverage.combinations < verdict.coverage.combinations_of_next


@pytest.mark.parametrize(
    "name", ["acks-1", pytest.param("acks-all-min-isr-1", marks=pytest.mark.slow), "flush-every-record"]
)
def test_covered_combinations_are_inferred_rightly(name: str) -> None:
    """A power loss that loses nothing is a kill: leaving out what follows from it changes no verdict."""
    deployment = replace(example(name, (Fault.KILL, Fault.POWER_LOSS, Fault.DISK_LOSS, SLOW), 2), bounds=SMALL)
    quick = run(deployment, ["no-acked-loss", "no-silent-loss", "recoverability"])
    for one in quick.explorations:
        whole = EmbeddedExploration(one.system, one.question, one.at_most, Meter(Budget(), timed=False), 2, infer=False)
        for _ in range(3):
            whole.explore_layer()
        assert found_cut_sets(whole) == found_cut_sets(one)
        assert whole.observed() == one.observed()


def test_out_of_budget_in_a_part_that_was_inferred_before() -> None:
    """A kill was inferred from a power loss; a larger combination needs it after all, and there the budget runs out."""
    size, bad, hurt = Variable("size", 0, 250, 0), Variable("bad", 0, 2, 0), Variable("hurt", 0, 1, 0)
    width = Variable("width", 0, 250, 0)
    system = TransitionSystem(
        "kill needed late",
        (size, width, bad, hurt),
        (
            action("widen", z3.And(size.term > 0, width.term < width.high), {width: width.term + 1}),
            action("grow", z3.And(size.term > 0, size.term < size.high), {size: size.term + 1}),
            action("kill", size.term == 0, {size: z3.IntVal(1)}, Fault.KILL),
            action("keep", size.term == 0, {size: z3.IntVal(1)}, Fault.POWER_LOSS),
            action("hurt", hurt.term == 0, {hurt: z3.IntVal(1), bad: bad.term + 1}, SLOW),
            action("lose", bad.term == 1, {bad: z3.IntVal(2)}, Fault.POWER_LOSS),
        ),
    )
    at_most = {Fault.KILL: 1, Fault.POWER_LOSS: 1, SLOW: 1}
    budget = Budget(states=100_000)
    exploration = explored(system, Question({"bad": bad.term == 2}, None, {}), at_most, 2, budget=budget)
    assert [report.complete for report in exploration.layers] == [True, True, False]
    assert exploration.layers[2].stopped == "states"


def test_check_raises_the_total_by_itself() -> None:
    """Without a total every pair of faults is explored at least, whatever the time says."""
    deployment = changed(example("acks-0", (LOST, MOVE), 1), bounds=SMALL, replicas=2)
    deployment = replace(deployment, faults=replace(deployment.faults, total=None))
    for verdict in explore(deployment, Budget(threads=1)).verdicts():
        assert verdict.coverage.total is None
        assert verdict.status is Status.VIOLATED or verdict.coverage.complete_to >= 2


@pytest.mark.slow
@pytest.mark.parametrize("most", [{Fault.KILL: 1, Fault.POWER_LOSS: 1}, {Fault.KILL: 2, Fault.POWER_LOSS: 1}])
def test_unequal_limits_of_kills_and_power_losses(most: Mapping[Fault, int]) -> None:
    """A combination whose part was only inferred is explored all the same where nothing covers it."""
    deployment = changed(example("acks-all-min-isr-1", tuple(most), 3), replicas=2, min_insync_replicas=1, bounds=SMALL)
    limited = replace(deployment, faults=FaultBudget(3, tuple((kind.value, count) for kind, count in most.items())))
    verdicts = {verdict.property: verdict for verdict in explore(limited, Budget()).verdicts()}
    assert (("kill", 1), ("power-loss", 1)) in verdicts["no-acked-loss"].cut_sets


def test_a_stop_in_the_last_layer_is_no_pass() -> None:
    """The space is not exhausted where the budget ran out, even if no further combination is left."""
    deployment = example("retries-in-flight-5", (Fault.LOST_RESPONSE,), 1)
    limited = replace(deployment, faults=FaultBudget(None, (("lost-response", 1),)))
    verdicts = {verdict.property: verdict for verdict in explore(limited, Budget(states=300)).verdicts()}
    assert verdicts["log-order"].status is Status.UNKNOWN
    assert verdicts["recoverability"].status is Status.UNKNOWN


def test_a_bound_does_not_count_as_recovery() -> None:
    """Every write is refused for good; the application that sends again only runs into the bound on sends."""
    deployment = example("acks-all-min-isr-2", (Fault.KILL,), 0)
    refused = changed(deployment, replicas=1, min_insync_replicas=2, high_watermark_needs_min_isr=False, bounds=SMALL)
    stuck = {v.property: v for v in explore(refused, Budget()).verdicts()}["recoverability"]
    assert stuck.cut_sets == ((),)
    again = changed(refused, on_send_error=OnSendError.RESEND, bounds=replace(SMALL, sends=2))
    undecided = {v.property: v for v in explore(again, Budget()).verdicts()}["recoverability"]
    assert undecided.status is Status.UNKNOWN
    assert undecided.notes
