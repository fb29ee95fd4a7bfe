"""Certificates of real checks: the plain checker accepts each, and refuses what explored too little."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from proofka.checker.budget import Budget
from proofka.checker.certificates import claims
from proofka.checker.certificates.part import Part
from proofka.checker.certificates.writing import write_certificate
from proofka.checker.check import Run
from proofka.checker.questions import group
from proofka.model.faults import Fault
from proofka.properties.catalogue import properties_of
from tests.checker.asking import SMALL, example, run
from tests.checker.certificates.accepting import answer, certified
from tests.deployments import changed

KILLS = (Fault.KILL, Fault.POWER_LOSS)


def small(name: str, kinds: tuple[Fault, ...] = KILLS, *properties: str, total: int = 1) -> Run:
    """Return the finished check of an example with one record and two brokers."""
    return run(changed(example(name, kinds, total), bounds=SMALL, replicas=2), properties)


def test_every_decided_property_is_certified(tmp_path: Path) -> None:
    written = certified(small("acks-all-min-isr-2"), tmp_path / "a.cert")
    assert "no-acked-loss" in written.certified
    assert "recoverability" in written.certified
    assert not set(written.left_out.values()) - {claims.RESTS_ON_TIMES, "the property is not decided"}
    assert written.states > 500


def test_a_violation_is_certified_with_its_smallest_fault_sets(tmp_path: Path) -> None:
    written = certified(small("acks-1", KILLS, "no-acked-loss"), tmp_path / "a.cert")
    assert written.certified == ("no-acked-loss",)
    _, text = answer(tmp_path / "a.cert")
    assert "kill" in text


def test_a_goal_that_some_state_cannot_reach_is_certified_by_a_stuck_set(tmp_path: Path) -> None:
    asked = run(example("transaction-state", (Fault.LOST_TRANSACTION_STATE,)), ["recoverability"])
    assert certified(asked, tmp_path / "a.cert").certified == ("recoverability",)


def test_two_faults_are_certified(tmp_path: Path) -> None:
    certified(small("acks-1", KILLS, "no-acked-loss", "log-order", total=2), tmp_path / "a.cert")


def test_a_verdict_that_rests_on_times_is_certified_with_its_lemmas(tmp_path: Path) -> None:
    asked = run(example("acks-all-min-isr-2", (Fault.DELAYED_REQUEST,)), ["no-log-duplicate"])
    (verdict,) = asked.verdicts()
    assert verdict.lemmas
    assert certified(asked, tmp_path / "a.cert").certified == ("no-log-duplicate",)
    _, text = answer(tmp_path / "a.cert")
    assert "system.1.smt2" in text


def test_a_fault_that_leads_to_no_further_state_has_an_empty_set(tmp_path: Path) -> None:
    """The checkers refused a set without a member, and so the whole file."""
    asked = small("fast-restart-3.9", (Fault.CONTROLLER_STALL, Fault.KILL))
    assert any(not shard.count for one in asked.explorations for shard in one.shards.values())
    assert certified(asked, tmp_path / "a.cert").certified


def test_the_same_check_gives_the_same_file(tmp_path: Path) -> None:
    for name in ("a", "b"):
        certified(small("acks-1", KILLS, "no-acked-loss"), tmp_path / f"{name}.cert")
    assert (tmp_path / "a.cert").read_bytes() == (tmp_path / "b.cert").read_bytes()


def test_an_action_that_the_explorer_does_not_know_is_noticed(tmp_path: Path) -> None:
    """An explorer without one action finds a smaller set, which the action leaves."""
    asked = small("acks-all-min-isr-2", KILLS, "no-acked-loss")
    lost = next(action for action in asked.prepared.system.actions if action.name == "fetch")
    rest = tuple(action for action in asked.prepared.system.actions if action is not lost)
    narrow = replace(asked.prepared, system=replace(asked.prepared.system, actions=rest))
    props = [one for one in properties_of(narrow.model.pipeline) if one.name == "no-acked-loss"]
    again = Run(asked.deployment, narrow, group(narrow, props), asked.budget)
    again.explore(None)
    write_certificate(again, tmp_path / "a.cert", tool="a test")
    status, text = answer(tmp_path / "a.cert")
    assert (status, "refused: step" in text) == (1, True), text


def test_a_smallest_fault_set_beyond_the_explored_faults_is_not_claimed(tmp_path: Path) -> None:
    """A limit of states ends this check after it found that a kill loses the record."""
    asked = changed(example("acks-1", KILLS), bounds=SMALL, replicas=2)
    stopped = run(asked, ["no-acked-loss"], Budget(threads=1, states=150))
    (verdict,) = stopped.verdicts()
    assert (verdict.coverage.complete_to, verdict.coverage.stopped) == (0, "states")
    assert any(sum(count for _, count in one) == 1 for one in verdict.cut_sets)
    written = write_certificate(stopped, tmp_path / "a.cert", tool="a test")
    assert (written.certified, written.left_out) == ((), {"no-acked-loss": claims.NOT_EXPLORED})


def test_a_combination_that_was_not_explored_to_the_end_is_no_evidence() -> None:
    asked = small("acks-1", KILLS, "no-acked-loss")
    found = claims.claims_of(asked)
    (part,) = found.parts
    assert all(part.is_evident(claim) for claim in part.claims)
    for shard in part.exploration.shards.values():
        shard.closed = False
    assert not any(Part(part.exploration, part.system, part.text, part.claims).is_evident(one) for one in part.claims)
