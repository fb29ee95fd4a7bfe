"""``proofka trace``: results are listed and told, configurations checked first, and what cannot be is one line."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from proofka.checker.bundle import write_bundle
from proofka.checker.cli import app, exploring
from proofka.reports.document import to_document
from tests.reports import samples

RUNNER = CliRunner(env={"COLUMNS": "80"})


@pytest.fixture
def result(tmp_path: Path) -> Path:
    file = tmp_path / "orders.json"
    file.write_text(json.dumps(to_document(samples.DEPLOYMENT, samples.RESULT)), encoding="utf-8")
    return file


def run(*words: object) -> tuple[int, str, str]:
    ran = RUNNER.invoke(app, ["trace", *map(str, words)])
    return ran.exit_code, ran.stdout, ran.stderr


def test_a_result_is_listed(result: Path) -> None:
    status, out, _ = run(result)
    assert status == 0
    assert out.startswith("No: no-acked-loss can fail")
    assert [line.split()[0] for line in out.splitlines()[3:] if line.split()[0].isdigit()] == ["1", "2", "3", "4"]


def test_a_trace_is_told(result: Path) -> None:
    status, out, _ = run(result, 2)
    assert status == 0
    assert out.startswith("── no-acked-loss violated by {leader-move}, 3 steps")


def test_a_trace_of_a_bundle_is_told(result: Path, tmp_path: Path) -> None:
    bundle = tmp_path / "orders.zip"
    bundle.write_bytes(write_bundle(json.loads(result.read_text(encoding="utf-8"))))
    assert run(bundle, 2) == run(result, 2)
    bundle.write_bytes(bundle.read_bytes()[:-9])
    status, out, complaint = run(bundle, 2)
    assert (status, out) == (2, "")
    assert str(bundle) in complaint


def test_the_state_after_a_step(result: Path) -> None:
    status, out, _ = run(result, 1, "--step", 3)
    assert status == 0
    assert "● broker 1: down (before: up)" in out


def test_itf_and_figures_are_written_instead(result: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    names = {"--itf": "t.itf.json", "--png": "t.png", "--svg": "t.svg", "--layers": "l.svg"}
    options = [word for option, name in names.items() for word in (option, tmp_path / name)]
    status, out, err = run(result, 1, *options)
    assert (status, out) == (0, "")
    assert err.count("written: ") == 4
    assert json.loads((tmp_path / "t.itf.json").read_text(encoding="utf-8"))["#meta"]["source"] == "orders.json"
    assert (tmp_path / "t.png").read_bytes().startswith(b"\x89PNG")
    for name in ("t.svg", "l.svg"):
        assert (tmp_path / name).read_text(encoding="utf-8").startswith("<?xml")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("9",), "has no trace 9; the result has 4"),
        (("1", "--step", "5"), "trace 1 has no step 5; it has 4"),
        (("--step", "1"), "--step: needs the number N of a trace"),
        (("--itf", "x.itf.json"), "--itf: needs the number N of a trace"),
        (("1", "--png", "x.jpg"), "ends in .png"),
        (("1", "--itf", "no/such/x.json"), "no such directory"),
        (("1", "--faults", "2"), "options of a check apply to configurations only"),
    ],
)
def test_impossible_request_prints_one_line(result: Path, words: tuple[str, ...], said: str) -> None:
    status, out, err = run(result, *words)
    assert (status, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_a_result_that_was_changed_is_not_told(result: Path) -> None:
    text = result.read_text(encoding="utf-8")
    result.write_text(text.replace("broker 1 is killed", "broker 9 is killed", 1), encoding="utf-8")
    status, out, err = run(result, 1)
    assert (status, out) == (2, "")
    assert "was changed" in err


def test_nothing_is_violated(tmp_path: Path) -> None:
    file = tmp_path / "fine.json"
    file.write_text(json.dumps(to_document(samples.DEPLOYMENT, samples.HARMLESS)), encoding="utf-8")
    assert "no trace" in run(file)[1]
    assert "no violation was found" in run(file, 1)[2]


def test_a_configuration_is_checked_first(tmp_path: Path) -> None:
    file = tmp_path / "orders.yaml"
    file.write_text(
        "kafka: '4.0'\nproducer: {settings: {acks: 0}}\ntopic: {replicas: 1}\n"
        "assume: {faults: {lost-request: 1}}\nbounds: {records: 1}\nrequire: [no-silent-loss]\n",
        encoding="utf-8",
    )
    status, out, _ = run(file, "--faults", "1")
    assert status == 0
    assert "{lost-request}" in out


def test_a_file_that_cannot_be_written_keeps_no_other_from_being_written(result: Path, tmp_path: Path) -> None:
    (tmp_path / "t.itf.json").symlink_to(tmp_path / "gone" / "t.itf.json")
    status, _, err = run(result, "1", "--itf", tmp_path / "t.itf.json", "--svg", tmp_path / "t.svg")
    assert status == 2
    assert f"not written: {tmp_path / 't.itf.json'}: no such file" in err
    assert f"written: {tmp_path / 't.svg'}" in err
    assert (tmp_path / "t.svg").stat().st_size > 0


def test_hostile_results_move_no_cursor(tmp_path: Path) -> None:
    file = tmp_path / "hostile.json"
    document = to_document(samples.HOSTILE_DEPLOYMENT, samples.HOSTILE_RESULT)
    file.write_text(json.dumps(document), encoding="utf-8")
    for words in ((), ("1",), ("1", "--step", "1")):
        status, out, _ = run(file, *words)
        assert status == 0
        assert "\x1b" not in out


def test_a_result_is_shown_without_the_heavy_packages(result: Path) -> None:
    program = (
        "import sys; from proofka.checker.cli import app\n"
        f"try: app(['trace', {str(result)!r}, '1'])\n"
        "except SystemExit: pass\n"
        "print(*{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"z3", "numba", "matplotlib", "networkx"}.intersection(ran.stderr.split())


def test_a_trace_that_an_interrupt_kept_from_being_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message claims neither that all properties hold nor that the file is wrong."""
    verdict = next(one for one in samples.RESULT.verdicts if not one.traces)
    stopped = replace(verdict, coverage=replace(verdict.coverage, stopped="interrupted"))
    found = replace(samples.RESULT, verdicts=(stopped,))
    monkeypatch.setattr(exploring, "run_check", lambda *_: (None, found))
    file = tmp_path / "orders.yaml"
    file.write_text('kafka: "4.0"\n', encoding="utf-8")
    assert run(file, 1) == (3, "", f"{file}: interrupted before trace 1 was found; 0 were\n")


def test_command_for_more_steps_keeps_files_named_by_options(tmp_path: Path) -> None:
    """``trace`` takes one file."""
    topic = tmp_path / "topic.properties"
    topic.write_text("replication.factor=3\n", encoding="utf-8")
    words = ["check", "--kafka", "3.9", "--topic", str(topic), "--faults", "1", "--more", "0"]
    first = CliRunner().invoke(app, [*words, "--require", "no-reprocessing"]).stdout
    line = next(line for line in first.splitlines() if line.startswith("... more steps: proofka "))
    assert line.startswith("... more steps: proofka check --all-traces --kafka 3.9 --topic ")
