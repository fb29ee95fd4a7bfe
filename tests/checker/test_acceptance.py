"""The guarantees of each example and the faults that break them: the table the project was commissioned with.

The expectations come from Kafka's documented behaviour, never from a run of the model.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pytest

from proofka.checker.budget import Budget
from proofka.checker.check import explore
from proofka.model.deployment import Deployment
from proofka.model.faults import Fault
from proofka.properties.verdict import Status, Verdict
from tests.checker.asking import MOST_KINDS, ask, cut, example
from tests.deployments import changed

K, P, S = Fault.KILL, Fault.POWER_LOSS, Fault.SLOW_FOLLOWER
STALL = Fault.CONTROLLER_STALL
R, Q, M = Fault.LOST_RESPONSE, Fault.LOST_REQUEST, Fault.LEADER_MOVE
C, A = Fault.CONSUMER_CRASH, Fault.PRODUCER_CRASH
ALL = MOST_KINDS


@dataclass(frozen=True)
class Row:
    """``properties`` (by name) of ``deployment`` under up to ``total`` faults of ``kinds``.

    ``violated_by``: fault sets that must be among the smallest (none: it holds); ``only``: they are all there are.
    """

    deployment: str
    properties: str
    kinds: tuple[Fault, ...]
    total: int
    violated_by: tuple[tuple[Fault, ...], ...] = ()
    only: bool = False

    def __str__(self) -> str:
        kinds = "any" if self.kinds == ALL else "+".join(kind.value for kind in self.kinds)
        return f"{self.deployment}-{self.properties.replace(' ', '-')}-{self.total}-of-{kinds}"


def rows(*found: Row) -> Iterable[object]:
    """Return rows as parameters of a test, named by their words."""
    return [pytest.param(row, id=str(row)) for row in found]


QUICK = rows(
    Row("acks-0", "no-silent-loss", ALL, 1, ((Q,), (K,))),
    Row("acks-1", "no-acked-loss", ALL, 1, ((K,), (M,))),
    Row("acks-all-min-isr-1", "no-acked-loss", ALL, 1),
    Row("acks-all-min-isr-1", "no-acked-loss", (K,), 2),
    Row("acks-all-min-isr-2", "no-acked-loss", ALL, 1),
    Row("flush-every-record", "no-acked-loss", (K, P), 2),
    Row("retries-in-flight-1", "no-log-duplicate", (R,), 1, ((R,),), only=True),
    Row("retries-in-flight-1", "log-order", (R,), 3),
    Row("retries-in-flight-5", "log-order", (R, Q), 1, ((R,), (Q,)), only=True),
    Row("idempotent", "no-log-duplicate log-order", (R, Q, K), 1),
    Row("idempotent-resend", "no-log-duplicate", (R,), 1, ((R,),), only=True),
    Row("idempotent-restart", "no-log-duplicate", (A,), 1, ((A,),), only=True),
    Row("auto-commit", "no-skip", (C,), 2),
    Row("auto-commit", "no-reprocessing", (C,), 2, ((C,),), only=True),
    Row("auto-commit-handed-off", "no-skip", (C,), 2, ((C,),), only=True),
    Row("commit-before-processing", "no-skip", (C,), 2, ((C,),), only=True),
    Row("manual-commit-plain-sink", "exactly-once-effect", (C,), 2, ((C,),), only=True),
    Row("manual-commit-idempotent-sink", "exactly-once-effect", (C,), 2),
)

SLOW = rows(
    Row("acks-all-min-isr-1-unclean", "no-acked-loss", (S, K), 3, ((S, S, K),)),
    Row("acks-all-min-isr-1", "no-acked-loss", (K,), 3),
    Row("acks-all-min-isr-2", "no-acked-loss", (K,), 3),
    Row("flush-every-record", "no-acked-loss", (K, P), 3),
    Row("flush-every-record", "no-acked-loss", (S, P), 3),
    Row("retries-in-flight-5", "log-order", ALL, 1, ((R,), (Q,), (S,), (K,))),
    # A kill is over after 13.5 s of session and election, 0.5 s of news and 5 s for the retry: 31 s do not end before.
    Row("idempotent-resend", "no-log-duplicate", ALL, 1, ((R,), (S,))),
    Row("auto-commit", "no-skip", ALL, 1),
)


def check(row: Row, deployment: Deployment) -> None:
    """Assert that each verdict equals the verdict in its row."""
    verdicts = ask(deployment, *row.properties.split())
    for verdict in verdicts.values():
        compare(row, verdict)


def compare(row: Row, verdict: Verdict) -> None:
    """Assert that the verdict equals the verdict in the row."""
    expected = {cut(*faults) for faults in row.violated_by}
    found = set(verdict.cut_sets)
    if not expected:
        assert verdict.status is Status.HOLDS, f"{verdict.status}, cut sets {verdict.cut_sets}"
        assert verdict.witness_reached
        assert verdict.coverage.complete_to >= row.total
        return
    assert verdict.status is Status.VIOLATED
    assert expected <= found
    if row.only:
        assert found == expected
    assert [trace.faults for trace in verdict.traces] == list(verdict.cut_sets)


@pytest.mark.slow
@pytest.mark.parametrize("row", QUICK)
def test_row(row: Row) -> None:
    check(row, example(row.deployment, row.kinds, row.total))


@pytest.mark.slow
@pytest.mark.parametrize("row", SLOW)
def test_slow_row(row: Row) -> None:
    check(row, example(row.deployment, row.kinds, row.total))


def test_acks_1_survives_lost_responses() -> None:
    """Nobody dies and nobody is replaced: nothing is lost, and the pass says by itself that it means nothing."""
    verdict = ask(example("acks-1", (R,), 2), "no-acked-loss")["no-acked-loss"]
    assert not verdict.cut_sets
    assert verdict.status is Status.VACUOUS


@pytest.mark.slow
def test_acks_1_lost_by_planned_move_without_any_crash() -> None:
    verdict = ask(example("acks-1", (M,), 1), "no-acked-loss")["no-acked-loss"]
    assert verdict.cut_sets == (cut(M),)
    (trace,) = verdict.traces
    assert [step.action for step in trace.steps if step.fault] == ["move_leader"]
    assert "acknowledge" in [step.action for step in trace.steps]


@pytest.mark.slow
@pytest.mark.parametrize("deployment", ["acks-all-min-isr-1", "acks-all-min-isr-2"])
def test_last_replica_standing_loses_power_last(deployment: str) -> None:
    """{S, S, P}: both followers leave the ISR, then the only member loses its log and is elected all the same (6.6)."""
    verdict = ask(example(deployment, (S, P), 3), "no-acked-loss")["no-acked-loss"]
    trace = verdict.traces[verdict.cut_sets.index(cut(S, S, P))]
    actions = [step.action for step in trace.steps]
    assert actions.count("shrink_isr") == 2
    assert "elect_unclean" not in actions
    assert actions.index("lose_power") > actions.index("acknowledge")
    assert all(dict(found).get(P.value) for found in verdict.cut_sets), "only a power loss loses records"
    assert all(sum(count for _, count in found) == 3 for found in verdict.cut_sets)


@pytest.mark.slow
def test_delivery_timeout_and_resend_duplicate_with_idempotence() -> None:
    """The application sends anew what timed out: another record to the broker, with another sequence (3.6)."""
    verdict = ask(example("idempotent-resend", (R,), 1), "no-log-duplicate")["no-log-duplicate"]
    (trace,) = verdict.traces
    actions = [step.action for step in trace.steps]
    assert actions.count("send") == 2
    assert actions.index("give_up") < len(actions) - 1 - actions[::-1].index("send")


@pytest.mark.slow
def test_idempotence_fails_only_by_renumbering() -> None:
    """Without a resend by the application, a duplicate takes an epoch bump that renumbers a possibly appended batch.

    The broker cannot recognise the retry then (semantics 3.4, and the table in 13: "only via KAFKA-14034").
    """
    verdict = ask(example("idempotent", ALL, 1), "no-log-duplicate")["no-log-duplicate"]
    assert not {cut(R), cut(Q), cut(K)} & set(verdict.cut_sets)
    for trace in verdict.traces:
        assert "give_up" in [step.action for step in trace.steps]
        assert any("bumps its epoch" in step.text for step in trace.steps)


def test_fast_restart_before_4_0() -> None:
    """Kafka 3.9 (semantics 6.4): a power loss and a stall of the controller, by which the broker is not fenced.

    The session ends after the controller takes up the registration and before it looks at the session, so that ISR and
    leadership stay as they were: a leader that lost its suffix still leads, and its followers truncate to it.
    """
    verdict = ask(example("fast-restart-3.9", (P, STALL), 2), "no-acked-loss")["no-acked-loss"]
    assert verdict.cut_sets == (cut(P, STALL),)
    (trace,) = verdict.traces
    actions = [step.action for step in trace.steps]
    assert actions.index("acknowledge") < actions.index("lose_power") < actions.index("restart_before_fenced")
    assert not {"fence", "elect_unclean", "move_leader"} & set(actions), "nobody else ever led"


def test_an_ordinary_restart_before_4_0_is_fenced_first() -> None:
    """On real clusters of 3.9 a quick restart is refused until the broker is fenced, and loses nothing (6.4)."""
    check(Row("fast-restart-3.9", "no-acked-loss", (P,), 1), example("fast-restart-3.9", (P,), 1))


@pytest.mark.slow
def test_fast_restart_is_harmless_after_a_kill() -> None:
    """The page cache survives a kill, and with it what the ISR seat stands for."""
    check(Row("fast-restart-3.9", "no-acked-loss", (K, STALL), 2), example("fast-restart-3.9", (K, STALL), 2))


@pytest.mark.slow
def test_fast_restart_since_4_0() -> None:
    """The same settings on 4.0, where registering anew always gives up the seat: exhaustively no loss."""
    fixed = changed(example("fast-restart-3.9", (P, STALL), 2), restart_before_fenced=False)
    check(Row("fast-restart-4.0", "no-acked-loss", (P, STALL), 2), fixed)
    assert not example("acks-all-min-isr-2").cluster.restart_before_fenced
    assert example("fast-restart-3.9").cluster.restart_before_fenced


@pytest.mark.slow
@pytest.mark.parametrize("name", ["acks-0", "auto-commit-handed-off"])
def test_asking_for_one_property_is_asking_for_all(name: str) -> None:
    """The whole check groups properties otherwise, and must come to the same cut sets."""
    deployment = example(name, (K, Q, C), 1)
    whole = explore(deployment, Budget()).verdicts()
    for verdict in whole:
        alone = ask(deployment, verdict.property)[verdict.property]
        assert (alone.status, alone.cut_sets) == (verdict.status, verdict.cut_sets), verdict.property
        assert [len(t.steps) for t in alone.traces] == [len(t.steps) for t in verdict.traces]
