"""``proofka defects``, the page of the register, and how a check says what stands beside a pass."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from proofka.properties.known_defects.register import defects_of, products, register
from scripts import write_defects
from tests.checker.test_cli import fails_in_one_line, proofka

ROOT = Path(__file__).parents[2]
FILE = "examples/time/lagging-follower-kept.yaml"
ONE_FAULT = ("--faults", "1", "--more", "0")


def test_the_page_is_that_of_the_register() -> None:
    """Otherwise: python scripts/write_defects.py"""
    assert write_defects.PAGE.read_text(encoding="utf-8") == write_defects.text()


def test_command_without_a_word_counts_defects_by_product() -> None:
    ran = proofka("defects")
    assert ran.exit_code == 0
    said = " ".join(ran.stdout.split())
    assert all(f"{known.name}: {len(defects_of(product))} defects" in said for product, known in products().items())


@pytest.mark.parametrize("word", ["KAFKA-18991", "kafka-18991"])
def test_one_defect(word: str) -> None:
    said = " ".join(proofka("defects", word).stdout.split())
    assert "KAFKA-18991: Kafka's brokers" in said
    assert "releases: 2.8.0 to 4.0.0; fixed in 3.9.1, 4.0.1, 4.1.0" in said
    assert "source: KAFKA-18991" in said


@pytest.mark.parametrize(
    ("word", "has", "has_not"),
    [
        ("4.0.0", {"KAFKA-18991", "KAFKA-19012"}, {"KAFKA-9254"}),
        ("2.4.0", {"KAFKA-9254"}, {"KAFKA-18991"}),
        ("sarama=1.60.0", {"sarama-3689"}, {"KAFKA-18991"}),
        ("sarama=1.60.1", set(), {"sarama-3689"}),
        ("sarama", {"sarama-3689"}, {"KAFKA-18991"}),
        (FILE, {"KAFKA-18991"}, {"KAFKA-9254", "sarama-3689"}),
    ],
)
def test_a_release_a_client_or_a_file(word: str, has: set[str], has_not: set[str]) -> None:
    ran = proofka("defects", word, "--json")
    found = {one["id"] for one in json.loads(ran.stdout)}
    assert has <= found
    assert not has_not & found


def test_all_as_json() -> None:
    assert len(json.loads(proofka("defects", "--json").stdout)) == len(register())


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("KAFKA-1899", "did you mean KAFKA-18991, KAFKA-19899?"),
        ("kafka-15150", "did you mean KAFKA-15100, KAFKA-15510, KAFKA-15170?"),
        ("librdkafka-3200", "did you mean librdkafka-3020?"),
        ("KAFKA-1", "has that name; proofka defects says what there is"),
        ("KAFKA-99999", "has that name; proofka defects says what there is"),
        ("librdkafak", "did you mean librdkafka"),
        ("9.9", "proofka defects says what there is"),
        ("3.9.9", "Kafka 3.9.9 was never released"),
        ("sarama=new", "new is no release"),
    ],
)
def test_a_word_that_names_nothing(word: str, said: str) -> None:
    fails_in_one_line(proofka("defects", word), said)


def test_answer_marks_a_pass_and_counts_its_known_defects() -> None:
    ran = proofka("check", FILE, *ONE_FAULT)
    said = " ".join(ran.stdout.split())
    assert ran.exit_code == 0
    assert "known defects of these releases could violate it." in said
    assert re.search(r"no-acked-loss\* ✓ holds( in time)? !", said)
    assert "! known defects of these releases, which the model does not have, could violate what holds: KAFKA-" in said


def test_details_and_json_have_each(tmp_path: Path) -> None:
    kept = tmp_path / "result.json"
    said = " ".join(proofka("check", FILE, *ONE_FAULT, "--details", "--json", str(kept)).stdout.split())
    verdicts = {one["property"]: one for one in json.loads(kept.read_text())["verdicts"]}
    named = verdicts["no-acked-loss"]["known_defects"]
    assert named
    assert all(
        f"{one['id']} ({one['product']}; {one['fix']}), not modelled: {one['sentence']}" in said for one in named
    )
    assert not verdicts["exactly-once-effect"]["known_defects"]
    assert not verdicts["no-skip"]["known_defects"], "a vacuous pass says nothing that a defect could falsify"


def test_known_defects_can_decide_the_exit_status(tmp_path: Path) -> None:
    ran = proofka("check", FILE, *ONE_FAULT, "--fail-on-known-defects")
    assert ran.exit_code == 3
    assert "--fail-on-known-defects: exit status 3" in ran.stdout
    unaffected = ("--fail-on", "exactly-once-effect")
    assert proofka("check", FILE, *ONE_FAULT, "--fail-on-known-defects", *unaffected).exit_code == 0


def listed(text: str) -> list[str]:
    """Return the defects of a list, in its order."""
    return re.findall(r"^(\S+) \((?:noted|modelled|refused);", text, flags=re.MULTILINE)


def test_a_configuration_is_named_as_for_check(tmp_path: Path) -> None:
    (tmp_path / "producer.properties").write_text("acks=all\n", encoding="utf-8")
    deployment = tmp_path / "d.yaml"
    deployment.write_text('kafka: "3.7.0"\nproducer: {acks: all}\n', encoding="utf-8")
    by_options = proofka("defects", "--kafka", "3.7.0", "--producer", tmp_path / "producer.properties")
    assert by_options.exit_code == 0
    assert by_options.stdout.startswith("Kafka 3.7.0 and its clients: ")
    by_file = proofka("defects", deployment).stdout
    assert listed(by_options.stdout) == listed(by_file) != []


def test_options_without_a_release_are_refused(tmp_path: Path) -> None:
    assert "--kafka V is needed" in proofka("defects", "--producer", tmp_path / "producer.properties").stderr


def test_a_word_beside_options_is_a_file() -> None:
    ran = proofka("defects", "KAFKA-18991", "--kafka", "3.7")
    assert (ran.exit_code, "KAFKA-18991: no such file" in ran.stderr) == (2, True)
