"""Certificates of states with ranks: for any number of faults, and with ranked epochs; and what is refused."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import z3

from proofka.checker import fixed_point
from proofka.checker.budget import Budget
from proofka.checker.certificates import claims
from proofka.checker.certificates.agreement import CoversFewerFaults, claims_agree
from proofka.checker.certificates.ranked import _Unbounded, _with_ranks, ranked_text
from proofka.checker.certificates.reading import NoCertificate, read_certificate
from proofka.checker.certificates.systems import written
from proofka.checker.certificates.verifying import verify_certificate
from proofka.checker.certificates.writing import write_certificate
from proofka.checker.check import Run
from proofka.checker.engine import EMBEDDED
from proofka.checker.fixed_point import LEADER_EPOCH, with_epochs
from proofka.checker.questions import LIMIT, Prepared, group, prepare
from proofka.checker.reductions.choice import USED_UNLESS_TOLD_OTHERWISE, Reduction
from proofka.checker.reductions.ranking import NotRankable, ranked_state
from proofka.checker.tampered import TamperedDocument
from proofka.model.faults import Fault
from proofka.model.language import Ranked
from proofka.model.pipeline import build
from proofka.model.replication import controller
from proofka.properties.catalogue import properties_of
from tests.certificates.reading import members_of
from tests.checker.asking import SMALL, example, run
from tests.checker.certificates.accepting import answer, certified
from tests.checker.certificates.accepting import changed as with_changes
from tests.checker.test_any_number import two_brokers
from tests.deployments import changed

pytestmark = pytest.mark.usefixtures("no_fast_checker")
TEXT = "certificate.txt"
ASKED = ("no-acked-loss", "recoverability")


def asked(folder: Path, faults: str = "{kill: any}", *properties: str) -> Run:
    """Return the finished check of two brokers with any number of faults."""
    return run(two_brokers(folder, faults), properties or ASKED)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a certificate for any number of kills and of slow followers, and up to one lost response."""
    folder = tmp_path_factory.mktemp("any")
    finished = asked(folder, "{kill: any, slow-follower: any, lost-response: 1}", "no-acked-loss")
    assert certified(finished, folder / "a.cert").certified == ("no-acked-loss",)
    return folder / "a.cert"


def test_a_pass_for_any_number_of_faults_is_certified(tmp_path: Path) -> None:
    assert certified(asked(tmp_path), tmp_path / "a.cert").certified == ASKED
    _, text = answer(tmp_path / "a.cert")
    assert text.count("holds: any number of kill") == len(ASKED)


def test_other_kinds_are_counted_as_in_every_certificate(certificate: Path) -> None:
    found = verify_certificate(certificate)
    assert found.is_accepted
    (claim,) = found.read.claims
    assert claim.unlimited == {"kill", "slow-follower"}
    assert b"(set (lost-response))" in with_text(certificate)


def with_text(file: Path) -> bytes:
    """Return the text of the claims of a certificate."""
    found: list[bytes] = []
    with_changes(file, {TEXT: lambda text: found.append(text) or text})
    return found[0]


def test_a_kind_that_is_not_unlimited_is_named(certificate: Path) -> None:
    """The rest of the file is a certificate: its set of no faults is closed under the kind all the same."""
    other = with_changes(certificate, {TEXT: lambda text: text.replace(b"(unlimited slow-follower)\n", b"")})
    assert answer(other)[0] == 1
    with pytest.raises(TamperedDocument, match="without a limit are not those of"):
        verify_certificate(other)


def test_a_system_without_ranks_is_refused_however_well_its_sets_are_closed(tmp_path: Path) -> None:
    """A bound of three leader epochs closes a set, which the plain checker accepts, and which says nothing."""
    deployment = with_epochs(two_brokers(tmp_path, "{kill: any}"), 3)
    finished = run(deployment, ["no-acked-loss"])
    write_certificate(finished, tmp_path / "a.cert", tool="a test")
    bounded = closed_by_a_bound(finished)

    def other_system(_: bytes) -> bytes:
        return bounded

    forged = with_changes(tmp_path / "a.cert", {"system.1.smt2": other_system})
    with pytest.raises(TamperedDocument, match=r"system\.1\.smt2 is another system"):
        verify_certificate(forged)


def closed_by_a_bound(finished: Run) -> bytes:
    """Return the text of the system of a closed space, with ranks, and with the condition that an epoch is left."""
    found = finished.closures["no-acked-loss"].fixed_point
    assert found is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_Unbounded, "__call__", lambda self, term: z3.substitute(term, *self.prepared.constants))
        patch.setattr("proofka.checker.certificates.ranked._rankable", lambda declared, *_: declared)
        text = ranked_text(found.prepared, found.exploration.layout.fields, ["no-acked-loss"]).text()
    return text.encode()


def test_a_space_that_a_bound_on_epochs_closed_is_refused_by_the_checker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An explorer that overlooks that the bound was reached writes a set from which a kill leads out."""
    monkeypatch.setattr(fixed_point, "RANKS", (2,))
    monkeypatch.setattr(fixed_point, "LIMIT", LIMIT + "no ")
    finished = asked(tmp_path, "{kill: any}", "no-acked-loss")
    assert finished.verdicts()[0].coverage.any_number
    write_certificate(finished, tmp_path / "a.cert", tool="a test")
    status, text = answer(tmp_path / "a.cert")
    assert status == 1
    assert text.startswith(("refused: outside", "refused: step", "refused: unlimited"))


@pytest.fixture(scope="module")
def bounded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a certificate for one kill, of a system with a bound on leader epochs."""
    folder = tmp_path_factory.mktemp("bounded")
    deployment = with_epochs(two_brokers(folder, "{total: 1, kill: 1}"), 3)
    assert certified(run(deployment, ["no-acked-loss"]), folder / "a.cert").certified == ("no-acked-loss",)
    return folder / "a.cert"


@pytest.mark.parametrize("place", [b"(set ())", b"(claim ", b"(witness "])
def test_a_kind_that_is_declared_unlimited_is_noticed_wherever_it_stands(bounded: Path, place: bytes) -> None:
    """A kind behind the claim was no kind of the claim for ``verify``, and one for the checkers."""
    text = with_text(bounded)
    assert place in text
    other = with_changes(bounded, {TEXT: lambda text: text.replace(place, b"(unlimited kill)\n" + place, 1)})
    with pytest.raises((TamperedDocument, NoCertificate)):
        verify_certificate(other)
    assert answer(other)[0] != 0


def test_a_kind_behind_all_claims_is_refused_by_everyone(bounded: Path) -> None:
    other = with_changes(bounded, {TEXT: lambda text: text + b"(unlimited kill)\n"})
    with pytest.raises(NoCertificate, match="stands behind a claim"):
        verify_certificate(other)
    status, told = answer(other)
    assert (status, "stands behind a set or a claim" in told) == (2, True)


def test_a_pass_for_a_number_of_faults_is_no_answer_to_a_question_for_any_number(bounded: Path, tmp_path: Path) -> None:
    asked_for = tmp_path / "any.cert"
    certified(run(with_epochs(two_brokers(tmp_path, "{kill: any}"), 3), ["no-acked-loss"]), asked_for)
    members = members_of(asked_for.read_bytes())
    (claim,) = read_certificate(asked_for).claims
    (bounded_claim,) = read_certificate(bounded).claims

    def with_id(text: bytes) -> bytes:
        return text.replace(bounded_claim.id.encode(), claim.id.encode()).replace(b"(limit kill 1)", b"(limit kill 9)")

    other = with_changes(bounded, {TEXT: with_id, "deployment.json": lambda _: members["deployment.json"]})
    with pytest.raises(TamperedDocument, match="for a number of faults, and its question is for any number"):
        verify_certificate(other)


def test_a_certificate_for_a_number_of_faults_is_less_than_a_verdict_for_any_number(certificate: Path) -> None:
    (claim,) = read_certificate(certificate).claims
    bounds = {"faults_complete_to": 1, "any_number": ["kill", "slow-follower"]}
    document = {"verdicts": [{"property": claim.property, "id": claim.id, "bounds": bounds, "cut_sets": []}]}
    claims_agree([claim], document)
    with pytest.raises(CoversFewerFaults, match="is for a number of kill, and the verdict for any number"):
        claims_agree([replace(claim, unlimited=frozenset({"slow-follower"}))], document)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    """Return a model with ranks to spare."""
    return prepare(build(with_epochs(two_brokers(tmp_path_factory.mktemp("model"), "{kill: any}"), 9)))


def family_of(model: Prepared) -> Ranked:
    """Return the leader epochs of a model."""
    (family,) = (one for one in model.model.system.ranked if one.name == LEADER_EPOCH)
    present = {variable.name for variable in model.system.variables}
    return replace(family, variables=tuple(one for one in family.variables if one.name in present), reserved=1)


@pytest.mark.parametrize("seed", range(12))
def test_next_values_are_the_ranks_of_the_next_values(model: Prepared, seed: int) -> None:
    """The terms are compared with the sorted values of the state after a step, on random states."""
    dice, family = random.Random(seed), family_of(model)
    names = {variable.name for variable in model.system.variables}
    actions = [written(action, names, _Unbounded(model)) for action in model.model.system.actions]
    assigning = [action for action in actions if not action.updates.keys().isdisjoint(family.variables)]
    for action in dice.sample(assigning, 4):
        state = {one.name: dice.randrange(one.low, one.high + 1) for one in model.system.variables}
        values = [(variable.term, z3.IntVal(state[variable.name])) for variable in model.system.variables]

        def computed(updates: dict[str, z3.ArithRef], values: list[tuple[z3.ArithRef, z3.IntNumRef]]) -> dict[str, int]:
            return {name: z3.simplify(z3.substitute(term, *values)).as_long() for name, term in updates.items()}

        after = computed({one.name: term for one, term in action.updates.items()}, values)
        ranked = _with_ranks(action, family)
        found = computed({one.name: ranked.updates[one] for one in family.variables}, values)
        expected = ranked_state({**state, **after}, [family])
        assert found == {one.name: expected[one.name] for one in family.variables}


def test_a_guard_that_still_asks_for_the_bound_is_refused(model: Prepared, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = [variable.name for variable in model.system.variables]
    assert ranked_text(model, kept, ["no-acked-loss"]).text()
    fits = controller.epoch_left

    def differently(pipeline: object) -> z3.BoolRef:
        return z3.Not(fits(pipeline))  # a term that no guard has

    monkeypatch.setattr(controller, "epoch_left", differently)
    with pytest.raises(NotRankable, match="depends on more than the order"):
        ranked_text(model, kept, ["no-acked-loss"])


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace(b"(declare-const epoch Int)", b"(declare-const epoch.more Int)"),
        lambda text: text.replace(b'"no-acked-loss"', b'"no-such-property"'),
    ],
)
def test_a_text_that_the_model_does_not_have_is_named(certificate: Path, change: Callable[[bytes], bytes]) -> None:
    with pytest.raises(TamperedDocument):
        verify_certificate(with_changes(certificate, {"system.1.smt2": change}))


@pytest.mark.parametrize("name", ["acks-all-min-isr-2", "idempotent-restart"])
def test_ranked_epochs_are_certified_with_violations_and_passes(name: str, tmp_path: Path) -> None:
    asked_for = example(name, (Fault.KILL, Fault.PRODUCER_CRASH), 1)
    small = changed(asked_for, bounds=replace(SMALL, epochs=6, producer_epochs=4), replicas=2)
    reductions = USED_UNLESS_TOLD_OTHERWISE | {Reduction.RANKED_EPOCHS}
    names = ("no-acked-loss", "no-log-duplicate", "recoverability")
    model = prepare(build(small))
    groups = group(model, [prop for prop in properties_of(model.model.pipeline) if prop.name in names])
    finished = Run(small, model, groups, Budget(threads=2), EMBEDDED, reductions)
    finished.explore(None)
    assert any(one.canonical is not None for one in finished.explorations)
    told = certified(finished, tmp_path / "a.cert")
    assert told.certified
    assert claims.NOT_WRITTEN not in told.left_out.values()
    assert verify_certificate(tmp_path / "a.cert").is_accepted
    weaker = with_changes(tmp_path / "a.cert", {"system.1.smt2": lambda text: text.replace(b"(>= ", b"(> ", 1)})
    with pytest.raises(TamperedDocument, match=r"system\.1\.smt2 is another system"):
        verify_certificate(weaker)
