"""``proofka verify`` with a second solver, and with a folder of obligations."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import z3
from typer.testing import CliRunner, Result

from proofka.checker import cli
from proofka.checker.cli.obligation_options import SecondSolver
from proofka.checker.cli.verify_again import Found
from proofka.checker.cli.verify_obligations import Obligations
from proofka.checker.obligations import collecting, second_solver
from proofka.checker.obligations.obligation import Obligation
from proofka.properties.sealing import SEAL, seal
from tests.checker.certificates.conftest import no_fast_checker
from tests.checker.obligations.answers import answer
from tests.checker.test_verify import DEPLOYMENT

__all__ = ["no_fast_checker"]

Change = Callable[[tuple[Obligation, ...]], tuple[Obligation, ...]]


def proofka(*words: object) -> Result:
    return CliRunner().invoke(cli.app, [str(word) for word in words])


@dataclass(frozen=True)
class Files:
    """The files of one check."""

    json: Path
    bundle: Path
    certificate: Path


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    folder = tmp_path_factory.mktemp("obligations")
    deployment = folder / "orders.yaml"
    deployment.write_text(DEPLOYMENT, encoding="utf-8")
    made = Files(*(folder / name for name in ("orders.json", "orders.zip", "orders.cert")))
    options = ["--json", made.json, "--bundle", made.bundle, "--certificate", made.certificate]
    assert proofka("check", deployment, *options, "--more", "0", "--quiet").exit_code == 1
    return made


@pytest.fixture
def forge(monkeypatch: pytest.MonkeyPatch) -> Callable[[Change], None]:
    """Change the obligations that verify collects."""
    honest = collecting.obligations_of

    def forge(change: Change) -> None:
        monkeypatch.setattr(collecting, "obligations_of", lambda *asked: change(honest(*asked)))

    return forge


def few(obligations: tuple[Obligation, ...]) -> tuple[Obligation, ...]:
    return (obligations[0], obligations[-1])


def with_another_answer(obligations: tuple[Obligation, ...]) -> tuple[Obligation, ...]:
    """Leave the asserted condition out of one script, so that the script has the answer sat."""
    one, other = few(obligations)
    kept = [line for line in other.script.splitlines() if not line.startswith("(assert (and")]
    assert len(kept) == len(other.script.splitlines()) - 1
    return one, replace(other, script="\n".join(kept) + "\n")


@pytest.mark.usefixtures("no_fast_checker")
@pytest.mark.parametrize("of", ["json", "bundle", "certificate"])
def test_agreement_of_the_solvers_is_told(files: Files, forge: Callable[[Change], None], of: str) -> None:
    forge(few)
    found = proofka("verify", getattr(files, of), "--solver", "cvc5")
    assert found.exit_code == 0, found.output
    kinds = "constants filled in, and terms simplified: 1; updates that stay within their domains: 1"
    assert f"both answer unsat to all 2 obligations ({kinds})" in found.stdout


@pytest.mark.usefixtures("no_fast_checker")
@pytest.mark.parametrize("of", ["json", "bundle", "certificate"])
def test_a_verdict_is_withdrawn_with_both_answers(
    files: Files, forge: Callable[[Change], None], of: str, tmp_path: Path
) -> None:
    forge(with_another_answer)
    file, report = getattr(files, of), tmp_path / "report.md"
    wanted = [] if of == "certificate" else ["--report", report]
    found = proofka("verify", file, "--solver", "cvc5", *wanted)
    assert found.exit_code == 1, found.output
    assert found.stdout == ""
    (line,) = found.stderr.splitlines()
    assert line.startswith(f"{file}: the verdicts are withdrawn: Z3 ")
    assert "answers sat, and cvc5" in line
    assert "answers sat: domains-" in line
    assert not report.exists()


def test_solvers_that_differ_are_both_named(
    files: Files, forge: Callable[[Change], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    forge(with_another_answer)
    monkeypatch.setattr(second_solver, "z3_answer", lambda script, seconds: second_solver.Answer("unsat"))
    found = proofka("verify", files.json, "--solver", "cvc5")
    assert found.exit_code == 1
    assert "answers unsat, and cvc5" in found.stderr
    assert "answers sat: domains-" in found.stderr


def test_no_answer_is_said_and_no_agreement(
    files: Files, forge: Callable[[Change], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    forge(few)
    unknown = second_solver.Answer("unknown", "no answer within 60 s")
    monkeypatch.setattr(second_solver, "asking_cvc5", lambda seconds: ("cvc5 0", lambda script: unknown))
    found = proofka("verify", files.json, "--solver", "cvc5")
    assert found.exit_code == 3, found.output
    assert "both answer unsat to 0 of 2 obligations" in found.stdout
    told = [line for line in found.stdout.splitlines() if line.startswith("not verified: Z3 ")]
    assert len(told) == 2
    assert "answers unsat, and cvc5 0 answers unknown (no answer within 60 s): constants-0001: " in told[0]


def test_the_missing_solver_is_said_before_anything_is_verified(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_solver, "find_spec", lambda name: None)
    found = proofka("verify", files.json, "--solver", "cvc5")
    assert (found.exit_code, found.stdout) == (2, "")
    assert found.stderr == 'cvc5 is not installed: pip install "proofka[cvc5]"\n'


def test_every_written_file_has_the_expected_answer(files: Files, tmp_path: Path) -> None:
    folder = tmp_path / "new"
    found = proofka("verify", files.json, "--obligations", folder)
    assert found.exit_code == 0, found.output
    written = sorted(folder.iterdir())
    assert f"obligations: {len(written)} files written to {folder}" in found.stdout
    assert len(written) > 50
    for file in (*written[::10], written[-1]):
        text = file.read_text(encoding="utf-8")
        first, *_ = text.splitlines()
        assert first.startswith(f"; {file.stem}: ")
        assert "; Expected answer: unsat" in text
        assert z3.parse_smt2_file(str(file))
        assert answer(text) == "unsat"


def test_a_folder_with_files_is_refused(files: Files, tmp_path: Path) -> None:
    (tmp_path / "old.smt2").write_text("")
    found = proofka("verify", files.json, "--obligations", tmp_path)
    assert (found.exit_code, found.stdout) == (2, "")
    assert "is not empty" in found.stderr
    found = proofka("verify", files.json, "--obligations", tmp_path / "old.smt2")
    assert "is no directory" in found.stderr


def test_lemmas_without_a_new_exploration_are_left_open(files: Files, forge: Callable[[Change], None]) -> None:
    forge(few)
    document = json.loads(files.json.read_text(encoding="utf-8"))
    holds = next(verdict for verdict in document["verdicts"] if verdict["status"] == "holds")
    holds["lemmas"] = [{"needed": [], "allowed": [], "inequality": "2 > 1"}]
    asked = Obligations(SecondSolver.CVC5, None)
    found = asked.of_result(Found(()), document, "orders.json")
    name = holds["property"]
    line = f"not verified: the cycles behind the timing lemmas of {name}; --recount finds these again"
    assert (found.lines[-1], found.status) == (line, 3)
    assert asked.of_result(Found((), cycles={name: ()}), document, "orders.json").status == 0


def test_a_result_of_another_model_is_not_asked_about(files: Files, tmp_path: Path) -> None:
    document = json.loads(files.json.read_text(encoding="utf-8"))
    document["versions"]["model"] = "1"
    document[SEAL] = seal(document)
    other = tmp_path / "other.json"
    other.write_text(json.dumps(document), encoding="utf-8")
    found = proofka("verify", other, "--solver", "cvc5")
    assert found.exit_code == 3, found.output
    assert "not verified: what the verdicts leave to Z3" in found.stdout
    assert "both answer" not in found.stdout


def test_obligations_of_another_model_are_not_verified_and_the_status_says_so(tmp_path: Path) -> None:
    asked = Obligations(None, tmp_path / "obligations")
    found = asked.of_another_model(Found(("all ids agree",)))
    assert found.status == 3
    assert found.lines[-1].startswith("not verified: what the verdicts leave to Z3")
    assert asked.of_another_model(Found((), status=1)).status == 1
    unasked = Found(("all ids agree",))
    assert Obligations(None, None).of_another_model(unasked) is unasked
