"""Values that are rejected: all of them are told at once, whichever way files are named, and ``--partial`` goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.checker.test_cli import proofka

QUICK = ("--faults", "0", "--no-sensitivity", "--require", "no-acked-loss")
WRONG = {
    "producer": "bootstrap.servers=b:9092\nack=all\nacks=0\nenable.idempotence=true\ndelivery.timeout.ms=1000\n"
    "request.timeout.ms=30000\nretries=abc\n",
    "consumer": "bootstrap.servers=b:9092\ngroup.id=g\nauto.offset.reset=newest\n",
    "topic": "replication.factor=3\nmin.insync.replica=2\n",
}
TOLD = ("acks must be all", "linger.ms + request.timeout.ms", "value abc", "value newest", "did you mean acks?")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for role, text in WRONG.items():
        (tmp_path / f"{role}.properties").write_text(text, encoding="utf-8")
    return tmp_path


def by_options(folder: Path) -> list[str]:
    files = [word for role in WRONG for word in (f"--{role}", str(folder / f"{role}.properties"))]
    return ["--kafka", "3.9", *files]


def test_all_that_is_wrong_is_told_of_a_folder_and_by_options(folder: Path) -> None:
    for words in ([str(folder)], by_options(folder)):
        run = proofka("check", *words, *QUICK)
        assert run.exit_code == 2
        assert not [one for one in (*TOLD, "did you mean min.insync.replicas?") if one not in run.stderr]
        assert "--partial" in run.stderr.splitlines()[-1]


def test_partial_checks_without_values_that_a_client_refuses_and_notes_them(folder: Path) -> None:
    for words in ([str(folder)], by_options(folder)):
        run = proofka("check", *words, "--partial", *QUICK)
        assert run.exit_code in (0, 4), run.stderr
        assert run.stderr == ""
        assert "ignored because it was rejected" in run.stdout


def test_partial_says_why_it_cannot_go_on(folder: Path) -> None:
    for words in ([str(folder), "--kafka", "9.9"], ["--kafka", "9.9", *by_options(folder)[2:]]):
        run = proofka("check", *words, "--partial", *QUICK)
        assert run.exit_code == 2
        assert "9.9" in run.stderr
        assert "in no single value" in run.stderr.splitlines()[-1]
        assert "--partial" not in proofka("check", *words, *QUICK).stderr


def test_partial_is_not_for_a_deployment(tmp_path: Path) -> None:
    file = tmp_path / "d.yaml"
    file.write_text('kafka: "4.0"\nproducer: {acks: two}\n', encoding="utf-8")
    assert "files of other programs" in proofka("check", file, "--partial").stderr


def test_a_file_that_cannot_be_read_hides_nothing_of_the_others(folder: Path) -> None:
    (folder / "topic.properties").write_text("a=1\na=2\n", encoding="utf-8")
    run = proofka("check", *by_options(folder), *QUICK)
    assert "is given twice" in run.stderr
    assert "value abc" in run.stderr
    assert "value newest" in run.stderr


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("producer.retires", "producer.retries"),
        ("producer.linger.ms", "producer.properties.linger.ms"),
        ("consumer.auto-ofset-reset", "consumer.auto-offset-reset"),
        ("consumer.nothing-like-any", ""),
    ],
)
def test_a_name_that_spring_binds_to_nothing_is_told_with_the_one_that_is_meant(
    name: str, meant: str, tmp_path: Path
) -> None:
    file = tmp_path / "application.properties"
    file.write_text(f"spring.kafka.{name}=1\nspring.kafka.consumer.group-id=a\n", encoding="utf-8")
    said = "".join(proofka("check", file, *QUICK).stdout.split())
    assert (f"didyoumeanspring.kafka.{meant}?" in said) if meant else ("didyoumean" not in said)


def test_note_of_a_reader_is_on_the_first_screen_and_in_the_result(tmp_path: Path) -> None:
    """However many lines the list of files would take."""
    for number in range(4):
        (tmp_path / f"other{number}.yaml").write_text("a: [\n# kafka\n", encoding="utf-8")
    (tmp_path / "application.properties").write_text("spring.kafka.consumer.group-id=a\n", encoding="utf-8")
    result = tmp_path / "result.json"
    run = proofka("check", tmp_path, "--partial", "--json", result, *QUICK)
    said = "a failed record is delivered ten times"
    assert "as Proofka reads it" in run.stdout
    assert " ".join(run.stdout.split()).count(said) == 1
    assert any(said in note for note in json.loads(result.read_text(encoding="utf-8"))["deployment"]["notes"])


def test_the_trace_that_a_screen_names_is_told(folder: Path) -> None:
    assert proofka("trace", folder, "--partial", "--faults", "0", "--time", "20").exit_code == 0
    assert proofka("trace", folder, "--faults", "0").exit_code == 2
