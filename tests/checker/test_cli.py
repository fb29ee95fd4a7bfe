"""The command line: exit status, what goes where, and one line for whatever is wrong."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from proofka import checker as proofka_checker
from proofka.checker import cli
from proofka.checker.budget import Budget
from proofka.checker.cli import answering as checking
from proofka.checker.cli import options, written
from proofka.checker.cli.endings import exit_status
from proofka.checker.cli.verify import MAX_RESULT_BYTES
from proofka.checker.source import Source
from proofka.model.deployment import KNOWN_PROPERTIES
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.errors import NotModelledError
from proofka.model.deployment.given import Given, GivenDeployment
from proofka.model.deployment.setting import Origin
from proofka.properties.verdict import Result, Status
from proofka.reports.document import to_document
from proofka.reports.schema import problem
from tests.reports import samples
from tests.reports.samples import verdict

ROOT = Path(__file__).parent.parent.parent

HOLDS = verdict("a", Status.HOLDS, required=True)
VIOLATED = verdict("b", Status.VIOLATED, required=True)
UNKNOWN = verdict("c", Status.UNKNOWN, required=True)
VACUOUS = verdict("d", Status.VACUOUS, required=True)


def proofka(*arguments: str | Path) -> Any:
    return CliRunner().invoke(cli.app, [str(a) for a in arguments])


def fails_in_one_line(run: Any, *parts: str) -> None:
    """Assert that the run ended with status 2 and one line on standard error that contains every part."""
    assert run.exit_code == 2, run.output
    assert run.stdout == ""
    assert len(run.stderr.splitlines()) == 1, run.stderr
    assert all(part in run.stderr for part in parts), run.stderr
    assert "Traceback" not in run.stderr


@pytest.mark.parametrize(
    ("verdicts", "status"),
    [
        ([], 0),
        ([HOLDS], 0),
        ([HOLDS, replace(VIOLATED, required=False)], 0),
        ([HOLDS, VACUOUS], 4),
        ([HOLDS, VACUOUS, UNKNOWN], 3),
        ([VACUOUS, UNKNOWN, VIOLATED, HOLDS], 1),
    ],
)
def test_exit_status(verdicts: list[Any], status: int) -> None:
    assert exit_status(verdicts) == status


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> Callable[[Result], None]:
    """Have ``check`` read the sample deployment and explore it to the given result."""

    def use(result: Result) -> None:
        said = GivenDeployment("orders", Given("kafka", "4.0", Origin("option")))
        monkeypatch.setattr(Source, "read", lambda self: replace(samples.DEPLOYMENT, given=said))
        monkeypatch.setattr(checking, "run_check", lambda *_, **__: (None, result))
        monkeypatch.setattr(checking, "with_more", lambda _, found, *__: found)

    return use


def test_check_prints_the_table_and_the_traces(checked: Callable[[Result], None]) -> None:
    checked(samples.RESULT)
    run = proofka("check", "orders.yaml", "--faults", "2", "--memory", "2G", "--details")
    assert run.exit_code == 1
    assert "no-acked-loss*       ✗ violated" in run.stdout
    assert "FAULT kill: broker 1 is killed" in run.stdout
    assert "again: proofka check orders.yaml --faults 2 --memory 2147483648\n" in run.stdout
    assert run.stderr == ""


def test_quiet_says_why_where_that_is_asked(checked: Callable[[Result], None], monkeypatch: pytest.MonkeyPatch) -> None:
    checked(samples.RESULT)
    monkeypatch.setattr(checking, "with_preventions", lambda _, found: replace(found, preventions=()))
    told = proofka("check", "orders.yaml", "--quiet", "--explain").stdout.splitlines()
    assert told[0].startswith("No: ")
    assert told[told.index("Why") + 1].startswith("  no-acked-loss (")
    assert "no single known change was found to prevent this" in " ".join(" ".join(told).split())
    assert "none of the known" not in proofka("check", "orders.yaml", "--quiet").stdout


def test_quiet_is_one_sentence(checked: Callable[[Result], None]) -> None:
    checked(samples.HARMLESS)
    run = proofka("check", "orders.yaml", "--quiet")
    assert run.exit_code == 0
    bounds = "any 2 faults (records 2, log 3, sends 2)"
    assumed = "under 1 assumption that no file states"  # the sample assumes processing=poll-thread
    assert run.stdout == f"Yes: the required property, no-skip, holds within {bounds}, {assumed}.\n"


def test_json_on_standard_output_is_alone(checked: Callable[[Result], None]) -> None:
    checked(samples.RESULT)
    run = proofka("check", "orders.yaml", "--json", "-")
    assert run.exit_code == 1
    document = json.loads(run.stdout)
    assert problem(document) is None
    assert document["command"] == "proofka check orders.yaml"


def test_files_are_written(checked: Callable[[Result], None], tmp_path: Path) -> None:
    checked(samples.RESULT)
    run = proofka(
        "check",
        "orders.yaml",
        "--json",
        tmp_path / "r.json",
        "--report",
        tmp_path / "pages",
        "--report",
        tmp_path / "p.html",
    )
    assert run.exit_code == 1
    assert (tmp_path / "p.html").read_text(encoding="utf-8") == (tmp_path / "pages" / "orders.html").read_text(
        encoding="utf-8"
    )
    assert problem(json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))) is None
    assert (tmp_path / "pages" / "orders.md").read_text(encoding="utf-8").startswith("# orders\n")
    assert "orders.md" in run.stderr


def test_failed_write_does_not_prevent_other_writes(
    checked: Callable[[Result], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked(samples.RESULT)
    (tmp_path / "r.json").write_text("good")

    def full(path: Path, content: str | bytes) -> None:
        if path.suffix in (".json", ".md"):
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        path.write_bytes(content.encode() if isinstance(content, str) else content)

    monkeypatch.setattr(written, "write_whole", full)
    names = ("r.json", "pages", "p.xml")
    words = zip(("--json", "--report", "--report"), (tmp_path / name for name in names), strict=True)
    run = proofka("check", "orders.yaml", *(word for pair in words for word in pair))
    assert run.exit_code == 2
    for name in ("r.json", "pages/orders.md"):
        assert f"not written: {tmp_path / name}: no space left on device" in run.stderr
    for name in ("pages/orders.html", "p.xml"):
        assert f"report: {tmp_path / name}" in run.stderr
        assert (tmp_path / name).stat().st_size > 0
    assert (tmp_path / "r.json").read_text() == "good"
    assert "no-skip" in run.stdout, "what was found is printed all the same"


def test_standard_output_that_is_full(capsys: pytest.CaptureFixture[str]) -> None:
    def full() -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    assert not written.attempt(written.STANDARD_OUTPUT, full)
    assert capsys.readouterr().err == "not written: standard output: no space left on device\n"


def test_again_keeps_every_limit(checked: Callable[[Result], None]) -> None:
    checked(samples.RESULT)
    limits = "--faults 0 --time 2.5 --states 7 --memory 1048576 --threads 2 --require no-skip --require no-loss"
    run = proofka("check", "orders.yaml", "--no-sensitivity", *limits.split())
    assert f"again: proofka check orders.yaml {limits} --more 0\n" in run.stdout


def test_more_than_six_fault_sets_need_all_traces(checked: Callable[[Result], None]) -> None:
    checked(replace(samples.RESULT, verdicts=(samples.MANY_SETS,)))
    assert re.search(r"\+[678]\b", proofka("check", "orders.yaml").stdout)
    assert "+3 more" in proofka("check", "orders.yaml", "--details").stdout
    run = proofka("check", "orders.yaml", "--all-traces")
    assert "{kill, 9 power-loss}" in run.stdout
    assert re.search(r"\+\d+ more", run.stdout) is None
    document = json.loads(proofka("check", "orders.yaml", "--json", "-").stdout)
    assert len(document["verdicts"][0]["cut_sets"]) == 9


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Stand in for a module of the checker."""

    def stand_in(name: str, **contents: object) -> None:
        made = SimpleNamespace(**contents)
        monkeypatch.setitem(sys.modules, f"proofka.checker.{name}", made)
        monkeypatch.setattr(proofka_checker, name, made, raising=False)

    return stand_in


@pytest.mark.parametrize(
    ("arguments", "budget"),
    [
        ([], {"seconds": None}),
        (["--faults", "3"], {"seconds": None}),
        (["--faults", "3", "--time", "2.5"], {"seconds": 2.5}),
        (
            ["--states", "7", "--memory", "1G", "--threads", "2"],
            {"seconds": None, "states": 7, "memory": 1 << 30, "threads": 2},
        ),
    ],
)
def test_budgets(
    module: Callable[..., None], monkeypatch: pytest.MonkeyPatch, arguments: list[str], budget: dict[str, object]
) -> None:
    asked: dict[str, Any] = {}

    def explore(deployment: Deployment, budget: Budget, *_: Any) -> SimpleNamespace:
        asked.update(budget=budget, faults=deployment.faults.total)
        return SimpleNamespace(result=lambda: samples.HARMLESS)

    monkeypatch.setattr(Source, "read", lambda self: samples.DEPLOYMENT)
    module("check", explore=explore)
    assert proofka("check", "orders.yaml", "--no-sensitivity", *arguments).exit_code == 0
    assert asked["budget"] == Budget(**budget)
    assert asked["faults"] == (3 if "--faults" in arguments else None)


def test_an_interrupt_prints_the_covered_faults() -> None:
    """Ctrl-C in the middle of an exploration that would take minutes; before it begins (130) nothing is covered."""
    for seconds in (5, 20, 80):
        status, printed, complaints = interrupted_after(seconds)
        if status != 130:
            break
    assert status == 3, complaints
    assert "Undecided: " in printed
    assert complaints == "stopping; what is decided follows\n"


def interrupted_after(seconds: float) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of a check that gets SIGINT after so long."""
    command = [sys.executable, "-m", "proofka", "check", "examples/orders.yaml", "--faults", "5", "--no-sensitivity"]
    running = subprocess.Popen(
        [*command, "--require", "replica-agreement"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    time.sleep(seconds)
    running.send_signal(signal.SIGINT)
    printed, complaints = running.communicate(timeout=120)
    return running.returncode, printed, complaints


class Tampered(Exception):
    """The error that the replay raises."""


@pytest.fixture
def replayed(module: Callable[..., None], tmp_path: Path) -> Callable[[Callable[[object], object]], Path]:
    """Stand in for what checks a result again; a result to check."""

    def stand_in(replay: Callable[[object], object]) -> Path:
        module("bundle_check", is_of_this_model=lambda _: True, of_another_model=None)
        module("tampered", TamperedDocument=Tampered, compare=None)
        module("verify", verify=replay)
        file = tmp_path / "result.json"
        file.write_text(json.dumps(to_document(samples.DEPLOYMENT, samples.RESULT)), encoding="utf-8")
        return file

    return stand_in


@pytest.mark.parametrize("left_open", [(), ("settings: who knows",)])
def test_verify(replayed: Callable[[Callable[[object], object]], Path], left_open: tuple[str, ...]) -> None:
    told = ("no-acked-loss {kill}: 2 steps", ("step 1", "step 2"))
    found = SimpleNamespace(lines=("traces: 1",), replayed=(told,), passes=("no-skip",), open=left_open)
    file = replayed(lambda _: found)
    run = proofka("verify", file)
    assert run.stdout.splitlines() == [
        "traces: 1",
        "counts: not compared; --recount explores again, which also checks the passes: no-skip",
        *(f"not verified: {one}" for one in left_open),
    ]
    assert run.exit_code == (3 if left_open else 0)
    assert proofka("verify", file, "--steps").stdout.splitlines()[:4] == [told[0], *told[1], "traces: 1"]


def test_verify_names_the_tampered_part(replayed: Callable[[Callable[[object], object]], Path]) -> None:
    def replay(document: object) -> None:
        raise Tampered("no-acked-loss {kill}: step 3 is not allowed")

    file = replayed(replay)
    run = proofka("verify", file)
    assert run.exit_code == 1
    assert run.stderr == f"{file}: no-acked-loss {{kill}}: step 3 is not allowed\n"


def test_impossible_write_is_reported_before_the_exploration(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    fails_in_one_line(proofka("check", "x.yaml", "--json", tmp_path), "is a directory")
    fails_in_one_line(proofka("check", "x.yaml", "--json", tmp_path / "no" / "r.json"), "no such directory")
    fails_in_one_line(proofka("check", "x.yaml", "--report", file), "its name says no format")
    fails_in_one_line(proofka("check", "x.yaml", "--report", tmp_path / "r.docx"), "a file whose name ends in")
    fails_in_one_line(proofka("check", "x.yaml", "--report", tmp_path / "no" / "r.html"), "no such directory")


@pytest.mark.parametrize(
    ("name", "text"),
    [("orders.yaml", 'kafka: "4.0"\n'), ("producer.properties", "bootstrap.servers=a:1\nacks=1\n")],
)
def test_verify_says_that_a_configuration_is_no_result(tmp_path: Path, name: str, text: str) -> None:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    fails_in_one_line(proofka("verify", file), f"{file}: is a configuration, not a result; proofka check {file} --json")
    (tmp_path / "notes.txt").write_text("some notes", encoding="utf-8")
    fails_in_one_line(proofka("verify", tmp_path / "notes.txt"), "not JSON that --json wrote")


def test_choices_are_not_listed_beside_the_most_similar_one(tmp_path: Path) -> None:
    file = tmp_path / "orders.yaml"
    file.write_text('kafka: "4.0"\n', encoding="utf-8")
    similar = proofka("check", file, "--assume", "comit=after")
    fails_in_one_line(similar, "comit=after: unknown assumption; did you mean commit?")
    assert "choices" not in similar.stderr
    fails_in_one_line(proofka("check", file, "--assume", "xyz=after"), "unknown assumption (choices: on_send_error, ")


def test_an_interrupted_check_is_undecided(checked: Callable[[Result], None]) -> None:
    covered = replace(HOLDS, coverage=replace(samples.COVERAGE, stopped="interrupted"))
    checked(replace(samples.HARMLESS, verdicts=(covered,)))
    run = proofka("check", "orders.yaml")
    assert run.exit_code == 3
    assert "stopped: the check was interrupted" in run.stdout


ORDERS = ROOT / "examples" / "orders.yaml"


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["check"], "give a deployment FILE"),
        (["check", "a.yaml", "--kafka", "4.0"], "a.yaml: no such file"),
        (
            ["check", str(ORDERS), "--kafka", "4.0"],
            f"--kafka: {ORDERS} names its release (kafka:); change it there",
        ),
        (["check", str(ORDERS), "--topic", "t"], "--topic: "),
        (["check", str(ORDERS), "--producer", "p"], "(producer:); change it there, or leave FILE out"),
        (["show", "--producer", "p.properties"], "--kafka V is needed"),
        (["check", "a.yaml", "--assume", "processing"], "expected KEY=VALUE"),
        (["check", "a.yaml", "--assume", "sink=plain", "--assume", "sink=idempotent"], "given twice"),
    ],
)
def test_contradicting_options(arguments: list[str], part: str) -> None:
    fails_in_one_line(proofka(*arguments), part)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--faults", "-1"],
        ["--faults", "x"],
        ["--time", "0"],
        ["--time", "nan"],
        ["--memory", "much"],
        ["--memory", "2"],
        ["--threads", "0"],
        ["--states", "x"],
        ["--colour"],
    ],
)
def test_usage_errors(arguments: list[str]) -> None:
    fails_in_one_line(proofka("check", "orders.yaml", *arguments), arguments[0])


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--states", "0", "'0' is not a number of states above 0"),
        ("--threads", "0", "'0' is not a number of threads from 1 to 256"),
        ("--threads", "257", "'257' is not a number of threads from 1 to 256"),
        ("--threads", "x", "'x' is not a number of threads from 1 to 256"),
        ("--pipeline", "0", "'0' is not a pipeline number above 0"),
    ],
)
def test_a_wrong_number_is_named_with_its_range(option: str, value: str, words: str) -> None:
    fails_in_one_line(proofka("check", "orders.yaml", option, value), option, words)


@pytest.mark.parametrize("arguments", [["chek"], ["--colour"], ["verify"], ["check", "a", "b"], ["check", "--faults"]])
def test_usage_errors_elsewhere(arguments: list[str]) -> None:
    fails_in_one_line(proofka(*arguments))


def test_no_command_prints_help() -> None:
    run = proofka()
    assert run.exit_code == 2
    assert "\nCommands:\n" in run.output


@pytest.mark.parametrize(
    ("text", "size"),
    [("1048576", 1 << 20), ("512M", 512 << 20), ("2G", 2 << 30), ("1536k", 1536 << 10), ("2GiB", 2 << 30)],
)
def test_sizes(text: str, size: int) -> None:
    assert options.bytes_of(text) == size


@pytest.mark.parametrize("text", ["", "G", "-1", "0", "2X", "1e3", "NaN"])
def test_option_refuses_a_text_that_is_no_size(text: str) -> None:
    with pytest.raises(typer.BadParameter):
        options.bytes_of(text)


def test_behaviour_outside_the_model_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Source) -> None:
        raise NotModelledError("transactions\nreally", "N27", file="orders.yaml", line=3, key="x\x1b[31m")

    monkeypatch.setattr(Source, "read", refuse)
    refused = proofka("check", "orders.yaml")
    fails_in_one_line(refused, "orders.yaml:3: x", "not modelled yet: transactions", "(N27)")
    assert "\x1b" not in refused.stderr


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"\xff\xfe\x00", b"[" * 100_000, b'{"format": 2}', b"nonsense: true"],
    ids=["empty", "cut", "list", "binary", "deep", "format", "yaml"],
)
def test_verify_refuses_files_that_are_no_result(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "result.json"
    file.write_bytes(content)
    fails_in_one_line(proofka("verify", file), "result.json")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"verdicts": {"a": 1}}, 'verdicts: must be of type "array"'),
        ({"deployment": [{"a": 1}]}, 'deployment: must be of type "object"'),
        ({"command": {"a": 1}}, 'command: must be of type ["string", "null"]'),
        ({"format": {"a": 1}}, "format: must be 1"),
        ({"more": {"a": 1}}, "document: Additional properties are not allowed ('more' was unexpected)"),
        ({"engine": {"a": {"b": 1}}}, "engine: 'name' is a required property"),
    ],
)
def test_verify_names_the_place_and_the_error(tmp_path: Path, change: dict[str, Any], reason: str) -> None:
    file = tmp_path / "result.json"
    file.write_text(json.dumps({**to_document(samples.DEPLOYMENT, samples.RESULT), **change}), encoding="utf-8")
    run = proofka("verify", file)
    fails_in_one_line(run)
    assert run.stderr == f"{file}: {reason}\n"


def test_verify_refuses_missing_files(tmp_path: Path) -> None:
    fails_in_one_line(proofka("verify", tmp_path), "is a directory")
    fails_in_one_line(proofka("verify", tmp_path / "none.json"), "none.json: no such file")
    sparse = tmp_path / "huge.json"
    with sparse.open("wb") as handle:
        handle.truncate(MAX_RESULT_BYTES + 1)
    fails_in_one_line(proofka("verify", sparse), "larger than")


@pytest.mark.parametrize("command", ["check", "show"])
@pytest.mark.parametrize(
    "content",
    [b"", b"\x00\x01\x02", b"a: [", b"a: 1\na: 2\n", b"- 1\n"],
    ids=["empty", "binary", "cut", "twice", "list"],
)
def test_broken_deployments(tmp_path: Path, command: str, content: bytes) -> None:
    file = tmp_path / "orders.yaml"
    file.write_bytes(content)
    fails_in_one_line(proofka(command, file), "orders.yaml")


@pytest.mark.parametrize("command", ["check", "show"])
def test_deployments_that_are_no_file(tmp_path: Path, command: str) -> None:
    fails_in_one_line(proofka(command, tmp_path), str(tmp_path))
    fails_in_one_line(proofka(command, tmp_path / "none.yaml"), "none.yaml")


def test_a_closed_pipe_is_quiet() -> None:
    program = "import sys, proofka.checker.cli as cli; sys.argv = ['proofka', 'check', '--help']; cli.main()"
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        run = subprocess.run([sys.executable, "-c", program], stdout=closed, stderr=subprocess.PIPE, check=False)
    assert run.returncode in (-signal.SIGPIPE, 0)
    assert run.stderr == b""


def test_output_without_unicode_replaces_symbols() -> None:
    program = "from proofka.checker.cli import program; program.app = lambda: print('✗'); program.main()"
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, env=environment, check=True)
    assert run.stdout == b"?\n"


def test_requirements(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Deployment] = []

    def run(deployment: Deployment, *_: Any, **__: Any) -> tuple[None, Result]:
        asked.append(deployment)
        return None, samples.HARMLESS

    monkeypatch.setattr(Source, "read", lambda self: samples.DEPLOYMENT)
    monkeypatch.setattr(checking, "run_check", run)
    monkeypatch.setattr(checking, "with_more", lambda _, found, *__: found)
    run_once = proofka("check", "o.yaml", "--require", "no-skip", "--require", "no-loss", "--require", "no-skip")
    assert run_once.exit_code == 0, run_once.output
    assert set(asked[0].require) == {"no-skip", "no-loss"}
    unknown = proofka("check", "o.yaml", "--require", "no-skip", "--require", "no-los")
    fails_in_one_line(unknown, "--require no-los: unknown property; did you mean no-loss?")
    fails_in_one_line(proofka("check", "o.yaml", "--require", "zz"), "--require zz: unknown property; choose from ")
    fails_in_one_line(proofka("check", "o.yaml", "--require", "atomicity"), "--require atomicity: needs transactions")


def test_properties_are_listed() -> None:
    run = proofka("properties")
    assert run.exit_code == 0
    assert "\nno-skip (loss)\n  says " in run.stdout
    assert run.stdout.count("  witness ") == len(KNOWN_PROPERTIES)


def test_the_version_is_printed() -> None:
    run = proofka("--version")
    assert run.exit_code == 0
    assert run.stdout.startswith("proofka ")


@pytest.mark.parametrize(
    ("form", "names"),
    [("tla", ["kip_320.tla", "kip_320.cfg"]), ("promela", ["kip_320.pml"]), ("dot", ["kip_320.dot"])],
)
def test_export(tmp_path: Path, form: str, names: list[str]) -> None:
    options = ["--replicas", "2", "--log-size", "1", "--records", "1", "--epochs", "0"]
    run = proofka("export", "kip-320", "--format", form, "-o", str(tmp_path / "out"), *options)
    assert run.exit_code == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(names)
    assert all(name in run.output for name in names)


def test_failed_export_prints_one_line(tmp_path: Path) -> None:
    where = ["-o", str(tmp_path)]
    fails_in_one_line(proofka("export", "no-such", "--format", "tla", *where), "no-such", "no such file")
    fails_in_one_line(proofka("export", "kip-320", "--format", "dot", *where), "2000")
    fails_in_one_line(proofka("export", "kip-320", "--format", "pdf", *where), "graphml")
    file = str(ROOT / "examples" / "acks-0.yaml")
    fails_in_one_line(proofka("export", file, "--format", "smt2", "--property", "no-los", *where), "no-loss")


def test_the_release_of_the_clients_beside_properties(tmp_path: Path) -> None:
    """Producers before 3.0 have acks=1 by default."""
    file = tmp_path / "producer.properties"
    file.write_text("linger.ms=5\n", encoding="utf-8")
    options = ("show", "--kafka", "3.9", "--producer", file)
    assert "java 3.9" in proofka(*options).stdout
    shown = proofka(*options, "--client", "2.8").stdout
    assert "java 2.8" in shown and "java 3.9" not in shown
    fails_in_one_line(proofka(*options, "--client", "librdkafka=2.3"), "--client librdkafka", "check FILE --kafka V")
    deployment = tmp_path / "orders.yaml"
    deployment.write_text('kafka: "4.0"\n', encoding="utf-8")
    fails_in_one_line(proofka("show", deployment, "--client", "2.8"), "names the version of its clients")
