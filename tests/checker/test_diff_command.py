"""``proofka diff`` of configurations: files, folders, a result beside a file, and what cannot be compared."""

from __future__ import annotations

import signal
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from proofka.checker import cli, difference
from proofka.checker.cli import diff as command
from proofka.model.deployment import read_deployment

TEXT = """\
kafka: "4.0"
topic: {{replicas: 2, min.insync.replicas: 1}}
producer: {{acks: {acks}, linger.ms: {linger}}}
consumer: {{group.id: orders, auto.offset.reset: earliest, enable.auto.commit: false}}
require: [no-acked-loss]
assume: {{faults: {{kill: 1}}}}
bounds: {{records: 1, log: 2, epochs: 3, sends: 1}}
"""
PRODUCER = "bootstrap.servers=b:9092\nkey.serializer=S\nacks=1\n"


def run(*arguments: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(cli.app, ["diff", *map(str, arguments)])
    return result.exit_code, " ".join(result.stdout.split()), result.stderr


def written(file: Path, acks: object = 1, linger: int = 0) -> Path:
    file.write_text(TEXT.format(acks=acks, linger=linger), encoding="utf-8")
    return file


def test_a_setting_that_prevents_a_violation_is_the_cause(tmp_path: Path) -> None:
    status, out, _ = run(written(tmp_path / "a.yaml"), written(tmp_path / "b.yaml", "all"))
    assert status == command.EXIT_CHANGED
    assert "no-acked-loss old: is violated by {kill} (any 1 fault) new: holds" in out
    assert f"caused by producer acks: 1 ({tmp_path}/a.yaml:3) -> all ({tmp_path}/b.yaml:3), alone".replace(" ", "") in (
        out.replace(" ", "")
    )


def test_the_difference_is_printed_before_any_cause_is_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The changes are printed before the search for causes, each cause at once, and an interrupt keeps them."""
    told: list[str] = []
    found = difference.Search.of

    def of(search: difference.Search, places: difference.Tried) -> object:
        told.append(capfd.readouterr().out)
        if len(told) == 1:
            signal.raise_signal(signal.SIGINT)
        return found(search, places)

    monkeypatch.setattr(difference.Search, "of", of)
    old, new = written(tmp_path / "a.yaml"), written(tmp_path / "b.yaml", "all")
    with pytest.raises(SystemExit) as end:
        cli.app(["diff", str(old), str(new)])
    assert end.value.code == command.EXIT_CHANGED
    assert " verdicts changed" in told[0]
    assert "Settings that changed" in told[0]
    assert "caused by" not in told[0]
    after = capfd.readouterr()
    assert "cause: not known: interrupted" in after.out
    assert "interrupted: some causes were not searched for" in after.err


def test_differences_without_effect_are_listed_and_change_no_verdict(tmp_path: Path) -> None:
    status, out, _ = run(written(tmp_path / "a.yaml"), written(tmp_path / "b.yaml", linger=5))
    assert status == command.EXIT_CHANGED
    assert "0 verdicts changed" in out or "No verdict changed" in out
    assert "linger.ms" in out


def test_the_same_twice_is_no_difference(tmp_path: Path) -> None:
    file = written(tmp_path / "a.yaml")
    status, out, _ = run(file, file)
    assert (status, "Nothing changed" in out) == (command.EXIT_SAME, True)


def test_a_file_beside_a_result_is_checked_as_the_result_was(tmp_path: Path) -> None:
    file, result = written(tmp_path / "a.yaml"), tmp_path / "a.json"
    CliRunner().invoke(cli.app, ["check", str(file), "--faults", "0", "--more", "0", "--json", str(result)])
    status, out, _ = run(result, written(tmp_path / "b.yaml", linger=5), "--no-causes")
    assert status == command.EXIT_CHANGED
    assert "is violated" not in out, "a fault would lose what acks=1 acknowledged"
    assert "0 verdicts changed" in out or "No verdict changed" in out


def test_options_of_a_check_change_nothing_in_two_results(tmp_path: Path) -> None:
    file, result = written(tmp_path / "a.yaml"), tmp_path / "a.json"
    CliRunner().invoke(cli.app, ["check", str(file), "--faults", "0", "--more", "0", "--json", str(result)])
    status, _, told = run(result, result, "--faults", "1")
    assert (status, "apply to configurations only" in told) == (2, True)


def test_pipelines_of_folders_are_paired_by_name(tmp_path: Path) -> None:
    for folder, topics in (("old", ("orders", "bills")), ("new", ("orders", "carts"))):
        (tmp_path / folder).mkdir()
        for topic in topics:
            text = f"{PRODUCER}topic={topic}\n"
            (tmp_path / folder / f"{topic}-producer.properties").write_text(text, encoding="utf-8")
    status, out, _ = run(tmp_path / "old", tmp_path / "new", "--kafka", "3.9", "--no-causes", "--faults", "0")
    assert status == command.EXIT_CHANGED
    assert "bills: producer: NEW has no pipeline of this name" in out
    assert "carts: producer: OLD has no pipeline of this name" in out
    assert "Nothing changed: " in out


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("kafka: '4.0'\nproducer: {ackss: 1}\n", "did you mean acks?"),
        ("just words\n", "is neither a known configuration"),
    ],
)
def test_a_configuration_with_a_mistake_is_no_side(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "b.yaml").write_text(text, encoding="utf-8")
    status, _, complaint = run(written(tmp_path / "a.yaml"), tmp_path / "b.yaml")
    assert (status, told in complaint) == (2, True)


def test_the_total_of_the_files_counts() -> None:
    """The larger total is for both sides; without any it is one."""
    orders = Path(__file__).parents[2] / "examples" / "orders.yaml"

    def with_total(total: int | None) -> command._One:
        deployment = read_deployment(orders)
        return command._One(orders, replace(deployment, faults=deployment.faults.up_to(total)))

    assert command._total_of_files(with_total(2), with_total(1)) == "2"
    assert command._total_of_files(with_total(None), with_total(3)) == "3"
    assert command._total_of_files(with_total(None), with_total(None)) == "1"
