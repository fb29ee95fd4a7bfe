"""Machine code, Z3 and a plain walk over the terms agree on every action, in states reachable or not."""

from __future__ import annotations

import operator
import random
import re
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path

import numpy as np
import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from proofka.checker.cone import FreeVariables
from proofka.checker.kernel.canonical import Canonical
from proofka.checker.kernel.emission import UnsupportedTerm
from proofka.checker.kernel.layout import Layout, lay_out
from proofka.checker.kernel.native import Kernel, compile_kernel
from proofka.checker.questions import prepare
from proofka.checker.reductions.ranking import ranked_state, rankings
from proofka.checker.solver import Replayer
from proofka.model.deployment import Deployment
from proofka.model.deployment.choices import Commit, Group, OffsetReset, OnProcessingError, Processing, ProducerId, Sink
from proofka.model.deployment.compaction import Compaction, Keys
from proofka.model.deployment.older_transactions import older_transactions_of
from proofka.model.deployment.rebalancing import AT_ANY_TIME, IN_ORDER
from proofka.model.deployment.release import parse_release
from proofka.model.deployment.sender import OF_JAVA, ClientRecovery
from proofka.model.deployment.sequencing import Forgets, Recovery, Sequencing, Unknown
from proofka.model.deployment.transactional import Transactional
from proofka.model.deployment.truncation import Truncation
from proofka.model.durations import Quantity
from proofka.model.faults import Fault
from proofka.model.language import Action, TransitionSystem, Variable
from proofka.model.pipeline import build
from proofka.properties.catalogue import properties_of
from tests.checker.asking import MOST_KINDS, SMALL, example
from tests.checker.plain_evaluator import holds, successors
from tests.deployments import changed

TWO = replace(SMALL, records=2, log=3, epochs=4)


IN_TRANSACTIONS = tuple(
    kind for kind in MOST_KINDS if kind not in (Fault.FAILURE_ELSEWHERE, Fault.LOST_TRANSACTION_STATE)
)
"""Faults of transactions, without those that have a deployment of their own or are refused with them."""

FORGETTING = (Fault.LOST_TRANSACTION_STATE, Fault.PRODUCER_CRASH, Fault.LEADER_MOVE, Fault.TRANSACTION_TIMEOUT)


def older_transactions(client: str, brokers: str) -> Transactional:
    older = older_transactions_of(parse_release(client), parse_release(brokers))
    return Transactional(2, False, False, False, read_committed=True, older=older)


def deployments() -> dict[str, Deployment]:
    """Return deployments that together have every action."""
    return {
        "acks-0, one record": replace(example("acks-0"), bounds=SMALL),
        "acks-1, handed off": changed(
            example("acks-1"),
            bounds=TWO,
            replicas=2,
            retries=2,
            idempotence=False,
            commit=Commit.AUTO,
            processing=Processing.HANDED_OFF,
            group=Group.NEW,
            offset_reset=OffsetReset.LATEST,
        ),
        "acks-all, idempotent, unclean": changed(
            example("acks-all-min-isr-1-unclean"), bounds=replace(TWO, records=2, sends=1), sink=Sink.TRANSACTIONAL
        ),
        "acks-all, resending, flushing, fast restarts": changed(
            example("idempotent-resend"),
            bounds=replace(SMALL, sends=2, log=3),
            replicas=2,
            flush_messages=2,
            producer_id=ProducerId.NEW,
            restart_before_fenced=True,
            mixes_fetches=True,
            commit=Commit.BEFORE,
            rebalancing=AT_ANY_TIME,
            offset_reset=OffsetReset.EARLIEST,
        ),
        "acks-all, deleted unread": changed(example("time/short-retention"), bounds=SMALL, replicas=2),
        "acks-all, forgotten offsets": changed(example("time/expired-offsets"), bounds=SMALL, replicas=2),
        "acks-all, eligible replicas, skipping": changed(
            example("eligible-leader-replicas"),
            bounds=SMALL,
            replicas=2,
            unclean_leader_election=True,
            on_processing_error=OnProcessingError.SKIP,
            group=Group.UNAWARE,
            rebalancing=replace(IN_ORDER, by_brokers=True, at_any_time=True, behind=True),
        ),
        "acks-all, ZooKeeper, closing": changed(
            example("acks-all-min-isr-1-unclean"),
            bounds=SMALL,
            replicas=2,
            zookeeper=True,
            old_fetches_count=True,
            fenced_may_join=True,
            copies_newer_epochs=True,
            on_processing_error=OnProcessingError.CLOSE,
        ),
        "acks-all, KIP-101, clients without epochs": changed(
            example("acks-all-min-isr-1-unclean"),
            bounds=SMALL,
            replicas=2,
            zookeeper=True,
            truncation=Truncation.LAST_EPOCH,
            mends_of_2_0_1=False,
            new_replica_suffices=True,
            believes_any_fetch=True,
            reads_may_overrun=True,
            consumer_knows_epochs=False,
            consumer_checks_epochs=False,
        ),
        "acks=1, KIP-101, halting": changed(
            example("acks-1", (Fault.KILL, Fault.LEADER_MOVE, Fault.SLOW_FOLLOWER)),
            bounds=SMALL,
            replicas=2,
            truncation=Truncation.LAST_EPOCH,
            mends_of_2_0_1=False,
            consumer_knows_epochs=False,
            consumer_checks_epochs=False,
        ),
        "librdkafka, gapless": changed(
            example("idempotent-resend"),
            bounds=replace(SMALL, sends=2, log=2),
            replicas=2,
            producer_id=ProducerId.NEW,
            sender=replace(
                OF_JAVA,
                recovery=ClientRecovery.LIBRDKAFKA_FORGETTING_GAPLESS,
                retries_keep_their_place=True,
                refusals_count=False,
            ),
            commit=Commit.DELIVERED,
            sink=Sink.BY_OFFSET,
        ),
        "results in memory": changed(
            example("manual-commit-plain-sink", (Fault.CONSUMER_CRASH, Fault.KILL)),
            bounds=replace(SMALL, log=2),
            replicas=1,
            min_insync_replicas=1,
            sink=Sink.SNAPSHOTS,
        ),
        "idempotence of 0.11": changed(
            example("idempotent"),
            bounds=replace(TWO, sends=1),
            replicas=2,
            retries=2,
            max_in_flight=1,
            sequencing=Sequencing(Recovery.ONE_BY_ONE, True, Unknown.OUT_OF_ORDER, Forgets.WITH_ITS_RECORDS),
            expires_in_accumulator=True,
        ),
        "idempotence of 2.4": changed(
            example("idempotent"),
            bounds=replace(TWO, sends=1),
            replicas=2,
            producer_id=ProducerId.NEW,
            sequencing=Sequencing(Recovery.PRODUCER_ID, False, Unknown.UNKNOWN_PRODUCER_ID, Forgets.AT_ITS_START),
            sender=replace(OF_JAVA, late_errors_count=True),
        ),
        "idempotence of 2.3, deleted unread": changed(
            example("time/short-retention"),
            bounds=replace(TWO, sends=1, log=2),
            replicas=2,
            idempotence=True,
            producer_id=ProducerId.NEW,
            sequencing=Sequencing(Recovery.PRODUCER_ID, False, Unknown.UNKNOWN_PRODUCER_ID, Forgets.WITH_ITS_RECORDS),
        ),
        "idempotence of 2.8 with brokers of 2.4": changed(
            example("idempotent"),
            bounds=replace(TWO, sends=1),
            replicas=2,
            sequencing=Sequencing(Recovery.EPOCH, False, Unknown.UNKNOWN_PRODUCER_ID, Forgets.AT_ITS_START),
            sender=replace(OF_JAVA, late_errors_count=True),
        ),
        "sarama": changed(
            example("retries-in-flight-5"),
            bounds=TWO,
            replicas=2,
            retries=2,
            idempotence=False,
            sender=replace(OF_JAVA, retries_keep_their_place=True, knows_epochs=False, connecting_counts=True),
            commit=Commit.ASYNC,
        ),
        "KafkaJS, read by kafka-go": changed(
            example("retries-in-flight-5"),
            bounds=SMALL,
            replicas=2,
            retries=2,
            idempotence=False,
            sender=replace(
                OF_JAVA, retries_keep_their_place=True, knows_epochs=False, in_any_order=True, only_attempts_end=True
            ),
            commit=Commit.DELIVERED,
            consumer_knows_epochs=False,
            consumer_checks_epochs=False,
            consumer_waits_beyond_end=True,
        ),
        "franz-go": changed(
            example("idempotent-resend"),
            bounds=replace(TWO, sends=2),
            replicas=2,
            producer_id=ProducerId.NEW,
            sender=replace(OF_JAVA, recovery=ClientRecovery.FRANZ_GO, knows_epochs=False),
        ),
        "sarama, idempotent": changed(
            example("idempotent-resend"),
            bounds=replace(TWO, sends=2, producer_epochs=3),
            replicas=2,
            retries=2,
            max_in_flight=1,
            sender=replace(
                OF_JAVA,
                recovery=ClientRecovery.SARAMA,
                retries_keep_their_place=True,
                connecting_counts=True,
            ),
        ),
        "results in a transaction": changed(
            example("exactly-once"),
            bounds=SMALL,
            replicas=2,
            on_processing_error=OnProcessingError.ABORT,
            late_results_count=True,
        ),
        "transactions before KIP-890": changed(
            example("idempotent-resend", IN_TRANSACTIONS),
            bounds=replace(TWO, sends=1, producer_epochs=4),
            replicas=2,
            transactional=Transactional(1, False, False, False, read_committed=False),
        ),
        "transactions before 3.2, with a full buffer": changed(
            example("idempotent", (Fault.FULL_BUFFER, Fault.PRODUCER_CRASH, Fault.LEADER_MOVE)),
            bounds=replace(SMALL, sends=2, log=3, producer_epochs=4),
            replicas=2,
            transactional=Transactional(1, False, False, False, read_committed=True, survives_refused_send=True),
        ),
        "transactions, verified": changed(
            example("idempotent", IN_TRANSACTIONS),
            bounds=replace(SMALL, sends=2, log=3, producer_epochs=4),
            replicas=2,
            producer_id=ProducerId.NEW,
            transactional=Transactional(1, True, False, False, read_committed=True),
        ),
        "transactions of version 2": changed(
            example("idempotent", IN_TRANSACTIONS),
            bounds=replace(TWO, log=4, producer_epochs=5),
            replicas=2,
            producer_id=ProducerId.NEW,
            transactional=Transactional(2, True, True, True, read_committed=True),
        ),
        "transactions that are forgotten": changed(
            example("idempotent", FORGETTING),
            bounds=replace(SMALL, sends=2, log=3, producer_epochs=4),
            replicas=2,
            transactional=Transactional(1, True, False, False, read_committed=True),
        ),
        "transactions of version 2 that are forgotten": changed(
            example("idempotent", FORGETTING),
            bounds=replace(TWO, sends=1, log=4, producer_epochs=5),
            replicas=2,
            transactional=Transactional(2, True, True, True, read_committed=True),
        ),
        "transactions that purge": changed(
            example("idempotent-resend", IN_TRANSACTIONS),
            bounds=replace(SMALL, sends=2, log=3, producer_epochs=4),
            replicas=2,
            sender=replace(
                OF_JAVA,
                recovery=ClientRecovery.LIBRDKAFKA_BUMP_ABORTS,
                retries_keep_their_place=True,
                refusals_count=False,
            ),
            transactional=Transactional(1, True, False, False, read_committed=True),
        ),
        "transactions that bump": changed(
            example("idempotent", IN_TRANSACTIONS),
            bounds=replace(TWO, log=3, sends=1, producer_epochs=4),
            replicas=2,
            sender=replace(OF_JAVA, recovery=ClientRecovery.LIBRDKAFKA_BUMP_WITHIN, retries_keep_their_place=True),
            transactional=Transactional(2, False, False, False, read_committed=True),
        ),
        "transactions of 0.11.0.1": changed(
            example("idempotent", IN_TRANSACTIONS),
            bounds=replace(TWO, sends=1, log=3, producer_epochs=4),
            replicas=2,
            max_in_flight=1,
            expires_in_accumulator=True,
            transactional=older_transactions("0.11.0.1", "0.11.0.1"),
        ),
        "transactions of 3.0 with brokers of 2.4": changed(
            example("idempotent", IN_TRANSACTIONS),
            bounds=replace(TWO, sends=1, log=3, producer_epochs=4),
            replicas=2,
            transactional=older_transactions("3.0", "2.4"),
        ),
        "offsets that overlap": changed(
            example("exactly-once"), bounds=TWO, replicas=2, late_results_count=False, offsets_applied_late=True
        ),
        "acks-all, brokers that start early": changed(
            example("acks-all-min-isr-2"),
            bounds=SMALL,
            replicas=2,
            durations=replace(
                example("acks-all-min-isr-2").durations,
                broker_session=Quantity("broker.session.timeout.ms", 60_000, 60_000),
                replica_lag=Quantity("replica.lag.time.max.ms", 10_000, 10_000),
            ),
        ),
        "acks=1, a replica that is moved": changed(
            example("acks-1", (Fault.REASSIGNMENT, Fault.KILL, Fault.LEADER_MOVE)), bounds=SMALL, replicas=2
        ),
        "acks=1, forwarding without waiting": changed(
            example("acks-1"), bounds=SMALL, replicas=1, on_processing_error=OnProcessingError.FORWARD_UNCONFIRMED
        ),
        "acks=1, going back to the last that failed": changed(
            example("acks-1"),
            bounds=TWO,
            replicas=1,
            processing=Processing.HANDED_OFF,
            on_processing_error=OnProcessingError.RETRY_LAST,
        ),
        "idempotent, forgotten": changed(
            example("idempotent"),
            bounds=TWO,
            replicas=2,
            durations=replace(
                example("idempotent").durations, producer_ids_kept=Quantity("producer.id.expiration.ms", 1, 1)
            ),
        ),
        "compacted": changed(
            example("acks-all-min-isr-1"),
            bounds=TWO,
            replicas=2,
            idempotence=True,
            compaction=Compaction(below_high_watermark=True, horizon_from_cleaning=True),
            keys=Keys.DELETED,
            durations=replace(example("acks-1").durations, delete_retention=Quantity("delete.retention.ms", 1, 1)),
        ),
        "compacted, with transactions": changed(
            example("idempotent", IN_TRANSACTIONS),
            kafka=(3, 1, 0),
            bounds=replace(TWO, sends=1, log=4, producer_epochs=4),
            replicas=2,
            transactional=Transactional(1, False, False, False, read_committed=True),
            compaction=Compaction(below_high_watermark=True, horizon_from_cleaning=True),
            keys=Keys.DELETED,
            durations=replace(example("idempotent").durations, delete_retention=Quantity("delete.retention.ms", 1, 1)),
        ),
    }


NAMES = tuple(deployments())
NAMED = r'Action\(\s*"(\w+)"|(?:_fail_for_good|_give_up|_refusal|_announced_end)\([^"]*"(\w+)"'
"""The functions that name actions: some actions are made alike, under names of their own."""

MODEL = Path(__file__).parent.parent.parent / "model"
MACHINES = sorted(path for path in MODEL.rglob("*.py") if path.parent.name != "published")


@dataclass
class Readings:
    """One system, compiled, with the predicates of its properties."""

    system: TransitionSystem
    predicates: dict[str, z3.BoolRef]
    canonical: Canonical | None = None
    there_is: frozenset[str] = frozenset()
    """The names of all actions that its model has, whether or not they can happen in it."""

    @cached_property
    def layout(self) -> Layout:
        return lay_out(self.system.variables)

    @cached_property
    def kernel(self) -> Kernel:
        labelled = list(enumerate(self.system.actions))
        groups = {"step": [pair for pair in labelled if pair[1].fault is None]}
        for kind in Fault:
            groups[kind.value] = [pair for pair in labelled if pair[1].fault is kind]
        return compile_kernel(self.layout, groups, list(self.predicates.values()), self.canonical)

    @cached_property
    def replayer(self) -> Replayer:
        return Replayer(self.system)

    def by_kernel(self, state: dict[str, int]) -> dict[str, dict[str, int]]:
        """Return the successors that the machine code computes, by action."""
        found = {}
        row = self.layout.pack(state)
        for name, most in self.kernel.most_successors.items():
            stride = self.layout.words + 1
            buffer = np.zeros((most + 1) * stride, dtype=np.uint64)
            count = self.kernel.expand(name, row, buffer)
            assert count <= most
            assert not buffer[count * stride :].any(), "machine code wrote beyond what it counted"
            for successor_row in buffer[: count * stride].reshape(count, stride):
                action = str(self.system.actions[int(successor_row[-1])])
                assert action not in found
                found[action] = self.layout.unpack(successor_row[:-1])
        return found

    def bits_by_kernel(self, state: dict[str, int]) -> dict[str, bool]:
        """Return each predicate's value as the machine code computes it."""
        bits = self.kernel.inspect(self.layout.pack(state))
        return {name: bool(bits >> place & 1) for place, name in enumerate(self.predicates)}

    def by_plain_evaluator(self, state: dict[str, int]) -> dict[str, dict[str, int]]:
        return successors(self.system.actions, state)


@cache
def readings(name: str) -> Readings:
    """Prepare a deployment's system, as the checker does."""
    model = build(deployments()[name])
    prepared = prepare(model)
    properties = properties_of(model.pipeline)
    predicates = {prop.name: prepared.specialise(prop.violated) for prop in properties}
    witnesses = {f"witness of {prop.name}": prepared.specialise(prop.witness) for prop in properties}
    goals = {f"goal of {prop.name}": prepared.specialise(prop.goal) for prop in properties if prop.goal is not None}
    there_is = frozenset(action.name for action in model.system.actions)
    return Readings(prepared.system, predicates | witnesses | goals, there_is=there_is)


@cache
def ranked_readings(name: str) -> Readings:
    """Return the same system, with the epochs in its successors replaced by their ranks."""
    plain = readings(name)
    found = rankings(plain.system, plain.predicates.values())
    assert "leader epoch" in [family.name for family in found.families]
    return Readings(plain.system, plain.predicates, Canonical(found.families))


@cache
def _solver(name: str) -> z3.Solver:
    solver = z3.SimpleSolver()
    solver.add(readings(name).system.domain)
    return solver


def enabled_state(name: str, action: Action, chance: random.Random) -> dict[str, int]:
    """Return a state within the domains in which an action is enabled; the values that the guard leaves open are
    random."""
    solver, variables = _solver(name), readings(name).system.variables
    seen = FREE.of(action.guard)
    solver.push()
    solver.add(action.guard)
    assert solver.check() == z3.sat, f"{action} can never happen"
    for variable in chance.sample([v for v in variables if v.name in seen], min(3, len(seen))):
        solver.push()
        solver.add(variable.term == chance.randint(variable.low, variable.high))
        if solver.check() != z3.sat:
            solver.pop()
            solver.check()
    model = solver.model()
    while solver.num_scopes():
        solver.pop()
    return {
        v.name: model.eval(v.term, model_completion=True).as_long() if v.name in seen else chance.randint(v.low, v.high)
        for v in variables
    }


FREE = FreeVariables()


def within_domains(system: TransitionSystem, state: dict[str, int]) -> bool:
    return state.keys() == system.initial.keys() and all(v.low <= state[v.name] <= v.high for v in system.variables)


def agree(name: str, state: dict[str, int], by_solver: list[Action]) -> set[str]:
    """Assert that kernel and plain evaluator agree on all actions in this state, and Z3 on the named actions; return
    the enabled actions."""
    reading = readings(name)
    found = reading.by_kernel(state)
    assert found == reading.by_plain_evaluator(state)
    for action in by_solver:
        assert reading.replayer.step(state, action) == found.get(str(action)), action
    assert all(within_domains(reading.system, after) for after in found.values())
    return set(found)


SMALLEST = (
    "acks-all, ZooKeeper, closing",
    "KafkaJS, read by kafka-go",
    "results in memory",
    "results in a transaction",
    "acks=1, forwarding without waiting",
)
"""Deployments that the quick tests have as well: small ones that differ in brokers, clients, sinks and transactions."""

ROWS = [pytest.param(name, marks=() if name in SMALLEST else pytest.mark.slow) for name in NAMES]


@pytest.mark.parametrize("name", ROWS)
def test_every_action(name: str) -> None:
    """Every action there is, in states where it is enabled, and some where another is."""
    system = readings(name).system
    chance = random.Random(name)
    exercised: set[str] = set()
    for action in system.actions:
        state = enabled_state(name, action, chance)
        enabled = agree(name, state, [action, chance.choice(system.actions)])
        assert str(action) in enabled
        exercised |= enabled
    assert exercised == {str(action) for action in system.actions}


@pytest.mark.slow
def test_deployments_have_every_action() -> None:
    """The deployments have all actions: an action added to the model and missing here would go untested."""
    there_is = {action for name in NAMES for action in readings(name).there_is}
    compared = {action.name for name in NAMES for action in readings(name).system.actions}
    named = re.findall(NAMED, "".join(path.read_text("utf-8") for path in MACHINES))
    declared = {name for either in named for name in either if name}
    assert declared
    assert there_is == compared == declared


@pytest.mark.parametrize("name", ROWS)
@settings(max_examples=25, derandomize=True)
@given(data=st.data())
def test_random_states(name: str, data: st.DataObject) -> None:
    """Any state within the domains, reachable or not, often close to one where a certain action is enabled."""
    system = readings(name).system
    action = data.draw(st.sampled_from(system.actions))
    state = enabled_state(name, action, random.Random(data.draw(st.integers(0, 2**16))))
    for variable in data.draw(st.lists(st.sampled_from(system.variables), max_size=8, unique_by=lambda v: v.name)):
        state[variable.name] = data.draw(st.integers(variable.low, variable.high))
    agree(name, state, [action, data.draw(st.sampled_from(system.actions))])


@pytest.mark.parametrize("name", ROWS)
@settings(max_examples=25, derandomize=True)
@given(data=st.data())
def test_canonical_successors(name: str, data: st.DataObject) -> None:
    """From a state in canonical form the machine code makes the canonical forms of all successors."""
    reading = ranked_readings(name)
    assert reading.canonical is not None
    families = reading.canonical.ranked
    action = data.draw(st.sampled_from(reading.system.actions))
    state = enabled_state(name, action, random.Random(data.draw(st.integers(0, 2**16))))
    ranked = ranked_state(state, families)
    assert reading.layout.unpack(reading.kernel.canonical(reading.layout.pack(state))) == ranked
    following = reading.by_plain_evaluator(ranked)
    assert reading.by_kernel(ranked) == {name: ranked_state(after, families) for name, after in following.items()}


@pytest.mark.parametrize("name", ROWS)
@settings(max_examples=25, derandomize=True)
@given(data=st.data())
def test_random_predicates(name: str, data: st.DataObject) -> None:
    """Properties, witnesses and goals have the same value in every reading."""
    reading = readings(name)
    state = {v.name: data.draw(st.integers(v.low, v.high)) for v in reading.system.variables}
    bits = reading.bits_by_kernel(state)
    assert bits == {name: holds(term, state) for name, term in reading.predicates.items()}
    asked = data.draw(st.sampled_from(sorted(reading.predicates)))
    assert bits[asked] == reading.replayer.holds(state, reading.predicates[asked])


variables = st.integers(-70, 70).flatmap(
    lambda low: st.integers(0, 300).flatmap(lambda span: st.just((low, low + span)))
)


@given(st.lists(variables, max_size=40), st.data())
def test_packing_round_trip(domains: list[tuple[int, int]], data: st.DataObject) -> None:
    """Fields of all domains stay within their words and do not overlap, and unpacking inverts packing."""
    declared = [Variable(f"v{i}", low, high, low) for i, (low, high) in enumerate(domains)]
    layout = lay_out(declared)
    used = [0] * layout.words
    for field in layout.fields.values():
        assert field.shift + field.width <= 64
        assert not used[field.word] & field.mask
        used[field.word] |= field.mask
        assert field.variable.high - field.variable.low < 1 << field.width
    state = {v.name: data.draw(st.integers(v.low, v.high)) for v in declared}
    assert layout.unpack(layout.pack(state)) == state


def test_different_states_pack_differently() -> None:
    layout = lay_out([Variable("a", -1, 2, 0), Variable("b", 0, 1, 0)])
    packed = {tuple(layout.pack({"a": a, "b": b})) for a in range(-1, 3) for b in range(2)}
    assert len(packed) == 8


A, B = Variable("a", -3, 3, 0), Variable("b", -2, 4, 0)
COMPARISONS = (operator.le, operator.lt, operator.ge, operator.gt, operator.eq, operator.ne)
CONNECTIVES = (z3.And, z3.Or, z3.Implies, z3.Xor, operator.eq)


def random_number(chance: random.Random, depth: int) -> z3.ArithRef:
    """Build an integer term over two variables, with every operator that the kernel knows."""
    if depth == 0:
        return chance.choice([A.term, B.term, z3.IntVal(chance.randint(-5, 5))])
    one, other = random_number(chance, depth - 1), random_number(chance, depth - 1)
    choice = chance.randrange(5)
    if choice == 0:
        return -one
    if choice == 1:
        return z3.If(random_condition(chance, depth - 1), one, other)
    return (operator.add, operator.sub, operator.mul)[choice - 2](one, other)


def random_condition(chance: random.Random, depth: int) -> z3.BoolRef:
    """Build a Boolean term over two variables, with every operator that the kernel knows."""
    choice = chance.randrange(6)
    if depth == 0:
        return (
            chance.choice(COMPARISONS)(A.term, chance.randint(-5, 5)) if choice else z3.BoolVal(chance.random() < 0.5)
        )
    if choice < 2:
        compare = chance.choice(COMPARISONS)
        return compare(random_number(chance, depth - 1), random_number(chance, depth - 1))
    if choice == 2:
        return z3.Not(random_condition(chance, depth - 1))
    return chance.choice(CONNECTIVES)(random_condition(chance, depth - 1), random_condition(chance, depth - 1))


@settings(max_examples=20, derandomize=True)
@given(st.randoms(use_true_random=False))
def test_random_terms(chance: random.Random) -> None:
    """Every operator the kernel knows, nested at random, over all values of two variables."""
    terms = {f"term {number}": random_condition(chance, 3) for number in range(10)}
    reading = Readings(TransitionSystem("terms", (A, B), ()), terms)
    for a in range(A.low, A.high + 1):
        for b in range(B.low, B.high + 1):
            state = {"a": a, "b": b}
            assert reading.bits_by_kernel(state) == {name: holds(t, state) for name, t in reading.predicates.items()}


@pytest.mark.parametrize(
    "term", [A.term % 2 == 0, A.term / B.term == 1, z3.Function("f", z3.IntSort(), z3.BoolSort())(A.term)]
)
def test_unknown_operators_are_refused(term: z3.BoolRef) -> None:
    """A term the kernel does not know is never compiled into something else."""
    with pytest.raises(UnsupportedTerm):
        _ = Readings(TransitionSystem("one term", (A, B), ()), {"term": term}).kernel
