"""``proofka prove``: what is proved and of what, and the end of a proof that solvers do not confirm."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from proofka.checker import cli
from proofka.checker.obligations import second_solver
from proofka.checker.obligations.second_solver import Answer, z3_answer
from tests.checker.invariants.test_deployment_proofs import ONE_BROKER

SMALL = ("--replicas", "2", "--log-size", "1")


def prove(*words: object) -> Result:
    return CliRunner().invoke(cli.app, ["prove", *(str(word) for word in words)])


def test_proofs_name_the_missing_bounds_and_the_bounds() -> None:
    run = prove("kip-320", *SMALL)
    assert run.exit_code == 0, run.output
    lines = run.stdout.splitlines()
    assert lines[0] == "kip-320: any number of steps, leader epochs and records written; 2 replicas, 1 log slots"
    assert lines[1:3] == ["  WeakIsr: proved", "  StrongIsr: proved"]
    assert lines[3] == "invariant: 63 lemmas, which the initial state has and each of 18 steps keeps"
    assert "  if A follows B, then B has taken over in that epoch" in lines
    assert "Z3" in lines[-1]
    assert "answers unsat to all 21 obligations" in lines[-1]


def test_properties_that_do_not_follow_are_not_proved() -> None:
    run = prove("kip-101", *SMALL, "--details")
    assert run.exit_code == 3
    assert "StrongIsr: not proved: the lemmas that every step keeps do not imply it" in run.stdout
    assert ": proved" not in run.stdout
    assert "no lemma: the record at offset 0 of r2 is of no later epoch than r2: is not kept by fetch" in run.stdout


def test_one_property_that_is_not_proved_changes_the_status() -> None:
    run = prove("kip-320", *SMALL, "--property", "StrongIsr", "--property", "LeaderInIsr", "--json")
    assert run.exit_code == 3
    document = json.loads(run.stdout)
    assert document["properties"] == {
        "StrongIsr": "proved",
        "LeaderInIsr": "not proved: the lemmas that every step keeps do not imply it",
    }
    assert document["any_number_of"] == ["steps", "leader epochs", "records written"]
    assert document["within"] == ["2 replicas", "1 log slots"]
    assert len(document["lemmas"]) == 63
    assert document["obligations"] == 20


def test_obligations_are_files_that_a_solver_decides(tmp_path: Path) -> None:
    folder = tmp_path / "obligations"
    assert prove("kip-320", *SMALL, "--obligations", folder).exit_code == 0
    files = sorted(folder.iterdir())
    assert [file.name for file in files][:2] == ["invariants-0001.smt2", "invariants-0002.smt2"]
    assert len(files) == 21
    texts = [file.read_text(encoding="utf-8") for file in files]
    assert "(declare-fun request_leader (Int) Int)" in texts[1]
    assert z3_answer(texts[0]).word == "unsat"
    refused = prove("kip-320", *SMALL, "--obligations", folder)
    assert refused.exit_code == 2
    assert "is not empty; --obligations takes a new or an empty directory" in refused.stderr


def answering(word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a second solver give this answer to the last obligation of a proof, and ``unsat`` to the others."""

    asked: list[str] = []

    def remembering(script: str) -> Answer:
        asked.append(script)
        return Answer(word if len(asked) == 21 else "unsat")

    monkeypatch.setattr(second_solver, "asking_cvc5", lambda seconds: ("another solver", remembering))


def test_proofs_that_a_second_solver_refutes_are_withdrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    answering("sat", monkeypatch)
    run = prove("kip-320", *SMALL, "--solver", "cvc5")
    assert run.exit_code == 1
    assert "kip-320: the proof is withdrawn: Z3" in run.stderr
    assert "another solver answers sat: invariants-0021: no state with the invariant violates StrongIsr." in run.stderr
    assert "proved" not in run.stdout


def test_proofs_without_an_answer_of_the_second_solver_are_not_confirmed(monkeypatch: pytest.MonkeyPatch) -> None:
    answering("unknown", monkeypatch)
    run = prove("kip-320", *SMALL, "--solver", "cvc5")
    assert run.exit_code == 3
    assert "StrongIsr: not proved: the invariant is not confirmed" in run.stdout
    assert "not confirmed: Z3" in run.stdout


def test_the_missing_second_solver_is_said_before_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_solver, "find_spec", lambda name: None)
    run = prove("kip-320", *SMALL, "--solver", "cvc5")
    assert run.exit_code == 2
    assert 'pip install "proofka[cvc5]"' in run.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["kip-1"], "no published protocol 'kip-1': choose one of"),
        (["kip-320", "--property", "TypeOk"], "no property 'TypeOk' of published protocols: choose WeakIsr"),
        (["kip-320", "--replicas", "0"], "replicas is 0: it must be at least 1"),
    ],
)
def test_wrong_input_is_refused_in_a_line(words: list[str], message: str) -> None:
    run = prove(*words)
    assert run.exit_code == 2
    assert message in run.stderr


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "one.yaml"
    path.write_text(ONE_BROKER, encoding="utf-8")
    return path


def test_deployments_are_proved_for_any_number_of_some_faults(file: Path) -> None:
    run = prove(file, "--faults", "kill")
    assert run.exit_code == 0, run.output
    lines = run.stdout.splitlines()
    assert lines[0] == (
        "one: any number of steps, leader epochs and faults (kill); records: 1, log slots: 2, sends of a record: 1, "
        "producer epochs: 2"
    )
    assert lines[1] == "  no-acked-loss: proved"
    assert any(line.startswith("  if ") and ", then " in line and "broker 1" in line for line in lines)
    assert "answers unsat to all" in lines[-1]


def test_deployments_that_violate_a_property_are_not_proved(file: Path) -> None:
    run = prove(file, "--json")
    assert run.exit_code == 3
    document = json.loads(run.stdout)
    assert document["any_number_of"] == ["steps", "leader epochs", "faults (kill, power-loss)"]
    assert document["properties"] == {
        "no-acked-loss": "not proved: an explored run violates it, if times are left aside"
    }
    assert not document["obligations"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("kip-321",), "no published protocol 'kip-321'"),
        (("no-such.yaml",), "no-such.yaml: no such file"),
        (("kip-320", "--faults", "kill"), "--faults: takes a deployment file, and not a published protocol"),
    ],
)
def test_names_and_options_that_fit_to_no_protocol_are_refused(words: tuple[str, ...], message: str) -> None:
    run = prove(*words)
    assert run.exit_code == 2
    assert message in run.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--replicas", "2"), "--replicas: takes a published protocol, and not a deployment file"),
        (("--faults", "flood"), "one: has no fault 'flood'; its kinds are kill, power-loss"),
        (("--faults", "kill,"), "one: has no fault ''; its kinds are kill, power-loss"),
        (("--property", "no-luck"), "one: unknown property 'no-luck': choose from no-acked-loss"),
        (("--property", "recoverability"), "recoverability: it asks that a goal stays within reach"),
    ],
)
def test_options_that_do_not_fit_to_a_deployment_are_refused(file: Path, words: tuple[str, ...], message: str) -> None:
    run = prove(file, *words)
    assert run.exit_code == 2
    assert message in run.output
    assert len(run.output.strip().splitlines()) == 1
