"""No action forgets what others rely on: parts of a moved replica, late answers, and what is to be remembered.

Each of these holds for actions in many files, which call a function by name. The rules are written here once more, for
any action; an action that breaks one is named.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path

import pytest
import z3

from proofka.model.deployment import Deployment
from proofka.model.deployment.choices import OnProcessingError, Processing
from proofka.model.deployment.compaction import Compaction
from proofka.model.deployment.explored import FaultBudget
from proofka.model.deployment.truncation import Truncation
from proofka.model.durations import Quantity
from proofka.model.faults import DELAYS_READING, OF_BROKERS, REPLACES_MEMBER, Fault
from proofka.model.language import Action, Variable
from proofka.model.log.unserved import is_unserved
from proofka.model.pipeline import Model, build
from proofka.model.state.taking_part import takes_part
from tests.checker.asking import MANY
from tests.checker.plain_evaluator import holds
from tests.checker.test_kernel import deployments
from tests.deployments import changed

ROOT = Path(__file__).parents[2]

KEPT = Quantity("delete.retention.ms", 86_400_000, 86_400_000)
"""The time for which tombstones stay, in ms: long enough for clients alone, and shorter than outages of brokers."""

CARELESS = Compaction(below_high_watermark=False, horizon_from_cleaning=False)
"""The cleaner before 3.1."""

MOVED = (
    "acks-0, one record",
    "acks-all, resending, flushing, fast restarts",
    "acks-all, eligible replicas, skipping",
    "transactions, verified",
    "transactions of version 2 that are forgotten",
    "transactions that bump",
    "transactions of 3.0 with brokers of 2.4",
    "offsets that overlap",
    "compacted, with transactions",
)
"""Deployments that get late answers and a replica that can be moved."""


def with_faults(deployment: Deployment, *kinds: Fault) -> Deployment:
    """Return the deployment with these kinds of fault besides its own."""
    known = dict(deployment.faults.at_most) | {kind.value: MANY for kind in kinds}
    return replace(deployment, faults=FaultBudget(deployment.faults.total, tuple(known.items())))


def moved(deployment: Deployment) -> Deployment:
    """Return the deployment with a replica that can be moved, and with late answers."""
    return changed(with_faults(deployment, Fault.REASSIGNMENT, Fault.LATE_ANSWER), copies_newer_epochs=True)


def kept(deployment: Deployment) -> Deployment:
    """Return the deployment with tombstones that are kept for a day."""
    return changed(deployment, durations=replace(deployment.durations, delete_retention=KEPT))


@cache
def cases() -> dict[str, Deployment]:
    """Return deployments that together have every rule, and every action that a rule is about."""
    known = deployments()
    old, unread = known["acks-all, KIP-101, clients without epochs"], known["acks-all, deleted unread"]
    closing = OnProcessingError.CLOSE
    tombstones, in_transactions = kept(known["compacted"]), kept(known["compacted, with transactions"])
    session, lag = Quantity("broker.session.timeout.ms", 60_000, 60_000), tombstones.durations.replica_lag
    outlasting = replace(tombstones.durations, broker_session=session, replica_lag=replace(lag, least=0))
    at_once = replace(tombstones.durations, compaction_lag=Quantity("min.compaction.lag.ms", 0, 0))
    return {
        **{name: moved(known[name]) for name in MOVED},
        "0.11": moved(changed(old, truncation=Truncation.HIGH_WATERMARK)),
        "1.0, halting": moved(changed(old, unclean_leader_election=False)),
        "2.0, going back": moved(changed(old, truncation=Truncation.EPOCHS)),
        "deleted unread": moved(unread),
        "deleted unread, offsets that overlap": changed(known["offsets that overlap"], durations=unread.durations),
        "deleted unread, closing": changed(unread, on_processing_error=closing),
        "deleted unread, handed off": changed(unread, on_processing_error=closing, processing=Processing.HANDED_OFF),
        "tombstones": moved(tombstones),
        "tombstones, fast restarts": changed(tombstones, restart_before_fenced=True, mixes_fetches=True),
        "tombstones, early starts": moved(changed(tombstones, durations=outlasting)),
        "tombstones before 3.1": changed(tombstones, compaction=CARELESS, high_watermark_needs_min_isr=False),
        "tombstones before 3.1, moved": moved(changed(tombstones, compaction=CARELESS, durations=at_once)),
        "tombstones in transactions": moved(in_transactions),
        "tombstones in transactions before 3.1": changed(in_transactions, compaction=CARELESS),
    }


class Asked(Model):
    """A model with a solver that knows its domains: most of the time went into telling them to a solver anew."""

    @cached_property
    def solver(self) -> z3.Solver:
        solver = z3.Solver()
        solver.set("arith.solver", 2)  # as in the program: quicker here
        solver.add(self.system.domain)
        return solver


def implied(model: Asked, action: Action, statement: z3.BoolRef) -> bool:
    """Tell whether the statement holds wherever the action can happen."""
    model.solver.push()
    model.solver.add(action.guard, z3.Not(statement))
    answer = model.solver.check()
    model.solver.pop()
    return bool(answer == z3.unsat)


def after(action: Action, term: z3.ExprRef) -> z3.ExprRef:
    """Return the value of a term after the action."""
    return z3.substitute(term, *((variable.term, value) for variable, value in action.updates.items()))


def parts(model: Asked) -> Iterator[str]:
    """Yield the actions that a broker without a replica can execute although it takes no part any more.

    Actions with a batch wait for what the broker has in its log, or was sent.
    """
    pipeline = model.pipeline
    reassignment = pipeline.controller.reassignment
    if reassignment is None:
        return
    for action in model.system.actions:
        if action.lane != "brokers" or "batch" in action.arguments:
            continue
        if "broker" in action.arguments:
            condition = takes_part(reassignment, pipeline.replica(action.arguments["broker"]))
        elif "follower" in action.arguments:
            unaware = pipeline.replica(action.arguments["leader"]).epoch.term != pipeline.controller.epoch.term
            condition = z3.Or(reassignment.assigned(action.arguments["follower"]), unaware)
        else:
            continue
        if not implied(model, action, condition):
            yield f"{action} of a broker without a replica"


def late_answers(model: Asked) -> Iterator[str]:
    """Yield the actions that keep a late answer although its follower stops or follows anew, or its leader starts or
    stops."""
    pipeline = model.pipeline
    if pipeline.late_answers is None:
        return
    for action in model.system.actions:
        for follower in pipeline.replicas:
            until = pipeline.late_answers.until[follower.number].term
            leaders = [leader.number for leader in pipeline.followers_of(follower) if leader.up in action.updates]
            dropped = [follower.leader.term == number for number in leaders]
            if not action.updates.keys().isdisjoint((follower.up, follower.leader, follower.epoch)):
                dropped.append(z3.BoolVal(True))
            if dropped and not implied(model, action, z3.Implies(z3.Or(*dropped), after(action, until) == 0)):
                yield f"{action} leaves a late answer to {follower.name}"


def disturbances(model: Asked) -> Iterator[str]:
    """Yield the faults of brokers that do not move the coordinator, and the other actions that do."""
    transactions = model.pipeline.transactions
    if transactions is not None and transactions.disturbed is not None:
        own = ("lose_end", "lose_all")
        yield from _noted(model, transactions.disturbed, lambda one: one.fault in OF_BROKERS or one.name in own)


def outages(model: Asked) -> Iterator[str]:
    """Yield the faults that keep readers waiting and are not noted, and the other actions that are."""
    history, deployment = model.pipeline.history, model.pipeline.deployment
    closes = deployment.application.on_processing_error is OnProcessingError.CLOSE
    ends = {Fault.CONSUMER_CRASH, *REPLACES_MEMBER, *((Fault.FAILED_PROCESSING,) if closes else ())}
    if history.brokers_were_out is not None:
        yield from _noted(model, history.brokers_were_out, lambda one: one.fault in DELAYS_READING)
    if history.consumer_was_out is not None:
        yield from _noted(model, history.consumer_was_out, lambda one: one.fault in ends)


def _noted(model: Asked, remembered: Variable, notes: Callable[[Action], bool]) -> Iterator[str]:
    for action in model.system.actions:
        value = action.updates.get(remembered)
        if notes(action) != (value is not None and value.eq(z3.IntVal(1))) or notes(action) != (value is not None):
            yield f"{action} and {remembered.name}"


def waits_for_tombstones(model: Asked) -> Iterator[str]:
    """Yield the actions after which the note differs: the consumer has waited for brokers while a tombstone ages."""
    compacted = model.pipeline.compacted
    if compacted is None or compacted.unserved is None:
        return
    unserved, waits = compacted.unserved.is_set, is_unserved(model.pipeline)
    if holds(waits, model.system.initial):
        yield "the start, which nothing notes"
    for action in model.system.actions:
        later = after(action, waits)
        remembered = after(action, unserved) == z3.Or(unserved, later)
        concerned = compacted.unserved in action.updates or not later.eq(waits)
        if concerned and not implied(model, action, z3.Implies(z3.Implies(waits, unserved), remembered)):
            yield f"{action} and {compacted.unserved.name}"


RULES = (parts, late_answers, disturbances, outages, waits_for_tombstones)


def broken(model: Model) -> list[str]:
    asked = Asked(model.pipeline, model.system)
    return [complaint for rule in RULES for complaint in rule(asked)]


@pytest.mark.parametrize("name", cases())
def test_no_action_forgets_a_value_that_other_actions_read(name: str) -> None:
    assert not broken(build(cases()[name]))


CALLS = (
    ("proofka.model.compaction.cleaner", "while_it_takes_part", "tombstones before 3.1, moved"),
    ("proofka.model.compaction.cleaner", "note_unserved", "tombstones"),
    ("proofka.model.consuming.consumer", "note_outage_of_consumer", "deleted unread"),
    ("proofka.model.consuming.failing", "note_outage_of_consumer", "deleted unread, closing"),
    ("proofka.model.consuming.membership", "note_outage_of_consumer", "deleted unread"),
    ("proofka.model.consuming.overlapping_offsets", "note_outage_of_consumer", "deleted unread, offsets that overlap"),
    ("proofka.model.log.early_expiry", "while_it_takes_part", "transactions of 3.0 with brokers of 2.4"),
    ("proofka.model.log.replica", "while_it_takes_part", "acks-0, one record"),
    ("proofka.model.log.replica", "note_disturbance", "transactions that bump"),
    ("proofka.model.producing.produce", "note_unserved", "tombstones in transactions"),
    ("proofka.model.replication.answering_late", "while_it_takes_part", "acks-0, one record"),
    ("proofka.model.replication.answering_late", "while_it_is_answered", "acks-0, one record"),
    ("proofka.model.replication.broker", "while_it_takes_part", "acks-0, one record"),
    ("proofka.model.replication.broker", "break_off_fetches", "acks-0, one record"),
    ("proofka.model.replication.broker", "break_off_own_fetch", "acks-0, one record"),
    ("proofka.model.replication.broker", "note_outage_of_brokers", "deleted unread"),
    ("proofka.model.replication.broker", "note_unserved", "tombstones"),
    ("proofka.model.replication.controller", "note_outage_of_brokers", "deleted unread"),
    ("proofka.model.replication.controller", "note_unserved", "tombstones"),
    ("proofka.model.replication.fetching", "while_it_is_answered", "acks-0, one record"),
    ("proofka.model.replication.forging", "while_it_is_answered", "1.0, halting"),
    ("proofka.model.replication.isr", "while_it_is_answered", "acks-0, one record"),
    ("proofka.model.replication.isr", "note_unserved", "tombstones"),
    (
        "proofka.model.replication.mixing_fetches",
        "while_it_is_answered",
        "acks-all, resending, flushing, fast restarts",
    ),
    ("proofka.model.replication.moving_replicas", "note_outage_of_brokers", "deleted unread"),
    ("proofka.model.replication.moving_replicas", "note_unserved", "tombstones"),
    ("proofka.model.replication.announced_ends", "while_it_takes_part", "acks-0, one record"),
    ("proofka.model.replication.announced_ends", "note_outage_of_brokers", "deleted unread"),
    ("proofka.model.replication.announced_ends", "note_unserved", "tombstones"),
    ("proofka.model.replication.starting_early", "while_it_takes_part", "tombstones, early starts"),
    ("proofka.model.transactions.forgetting", "note_disturbance", "transactions of version 2 that are forgotten"),
)
"""Module, a function that its actions call, and a deployment in which that is noticed."""

IMPLIED = {("proofka.model.replication.isr", "while_it_takes_part")}
"""Calls that only say what the rest of the guard implies: who leads takes part."""


def without(*arguments: object) -> object:
    """Return the neutral result in place of a call: the unchanged condition, or no effect."""
    return arguments[-1]


@pytest.mark.slow
@pytest.mark.parametrize(("module", "name", "case"), CALLS)
def test_a_call_that_is_left_out_is_noticed(module: str, name: str, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module(module), name, without)
    assert broken(build(cases()[case]))


def test_every_call_is_among_those_that_are_left_out() -> None:
    names = {name for _, name, _ in CALLS}
    found = set()
    for file in sorted((ROOT / "model").rglob("*.py")):
        module = ".".join(("proofka", *file.relative_to(ROOT).with_suffix("").parts))
        nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        imported = {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
        found |= {(module, name) for name in imported & names}
    assert found == {(module, name) for module, name, _ in CALLS} | IMPLIED
