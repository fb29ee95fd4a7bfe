"""``proofka policy``: what it prints and writes, and its exit statuses, with given outcomes in place of exploring."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from proofka.checker import cli
from proofka.checker.policies import exploring
from proofka.checker.policies.exploring import Explored, Limits, Outcome, Question
from proofka.model.deployment import read_deployment
from proofka.model.deployment.document import from_document
from proofka.properties.verdict import Status
from tests.checker.policies.decided import MATRIX

KILL = (("kill", 1),)


def outcome(question: Question, *_: Any) -> Outcome:
    """Return an outcome in place of exploring: acks=all and two replicas have every property."""
    deployment = from_document(json.loads(question.document))
    if deployment.producer.acks.value == "all" and deployment.cluster.replicas > 1:
        return Outcome(Status.HOLDS, of=question.digest)
    return Outcome(Status.VIOLATED, (KILL,), KILL, "record 1 is lost", ("a step", "another"), question.digest)


def given_outcomes(questions: Iterable[Question], limits: Limits, **_: Any) -> Explored:
    asked = list(dict.fromkeys(questions))
    return Explored({one: outcome(one) for one in asked}, {one: one.digest for one in asked})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(exploring, "outcomes", given_outcomes)
    monkeypatch.setattr(exploring, "explore", lambda question, limits: outcome(question))
    (tmp_path / "matrix.yaml").write_text(MATRIX, encoding="utf-8")
    return tmp_path


def policy(folder: Path, rules: str, *options: str, head: str = "property: no-acked-loss\n") -> Result:
    file = folder / "policy.yaml"
    file.write_text(f"matrix: matrix.yaml\n{head}rules:\n{rules}", encoding="utf-8")
    return CliRunner().invoke(cli.app, ["policy", str(file), *options])


@pytest.mark.parametrize(
    ("rules", "status"),
    [
        ("  - acks == all and replicas >= 2\n", 0),
        ("  - acks == all\n", 1),
        ("  - acks == all\n  - replicas >= 2\n", 0),
        ("  - acks == all\n  - {property: no-skip, allow: acks == 1}\n", 1),
        ("  - partitions > 2\n", 3),
        ("  - replicas > 4\n", 4),
        ("  - acks == all and replicas >= 2\n  - cel: size(x) > 1\n", 10),
        ("  - acks > 1\n", 10),
        ("  - aks == all\n", 10),
    ],
)
def test_exit_status_says_the_answer(folder: Path, rules: str, status: int) -> None:
    ran = policy(folder, rules)
    assert ran.exit_code == status, ran.output


def test_answers_are_printed_with_their_witnesses(folder: Path) -> None:
    said = " ".join(policy(folder, "  - replicas >= 3\n").stdout.split())
    assert "matrix small: 36 deployments" in said
    assert "not sufficient: 6 of 12 allowed deployments can violate no-acked-loss" in said
    assert "{kill}, 2 steps: record 1 is lost" in said
    assert "stricter than needed: 6 of 24 forbidden deployments have no-acked-loss" in said
    assert "not a deployment (9): refused by the Java producer" in said


def test_rule_that_cannot_be_decided_loses_no_other_rule(folder: Path) -> None:
    ran = policy(folder, "  - acks == all\n  - cel: size(x) > 1\n  - acks > 1\n")
    assert "necessary: all" in ran.stdout and "all rules together" not in ran.stdout
    assert ran.stderr.count("\n") == 2
    assert "policy.yaml:5:10: not decided: the function size() (X02)" in ran.stderr
    assert "(X06)" in ran.stderr


def test_condition_of_a_policy_keeps_its_deployments(folder: Path) -> None:
    head = "property: no-acked-loss\ngiven: acks == all\n"
    ran = policy(folder, "  - replicas >= 2\n", head=head)
    assert ran.exit_code == 0
    assert "only the deployments with acks == all" in ran.stdout
    assert policy(folder, "  - replicas >= 2\n", head="given: replicas > 4\nproperty: no-skip\n").exit_code == 2
    assert policy(folder, "  - replicas >= 2\n", head="given: acks > 4\nproperty: no-skip\n").exit_code == 10


def test_written_witness_is_the_deployment(folder: Path) -> None:
    ran = policy(folder, "  - replicas >= 3\n", "--out", str(folder / "out"), "--faults", "1")
    written = sorted((folder / "out").glob("*.yaml"))
    assert len(written) == 2
    for file in written:
        assert file.name in "".join(ran.stdout.split())
        deployment = read_deployment(file)
        assert deployment.require == ("no-acked-loss",)
        assert deployment.faults.total == 1


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ((), "give a policy FILE, or --derive"),
        (("policy.yaml", "--derive", "no-skip"), "give a policy FILE, or --derive"),
        (("--derive", "no-skp"), "did you mean no-skip?"),
        (("--derive", "no-skip", "--property", "no-skip"), "--property belongs to a policy"),
        (("--derive", "no-skip", "--matrix", "none.yaml"), "none.yaml"),
        (("none.yaml",), "none.yaml"),
    ],
)
def test_wrong_options_are_refused_in_a_line(folder: Path, options: tuple[str, ...], text: str) -> None:
    ran = CliRunner().invoke(cli.app, ["policy", *options])
    assert ran.exit_code == 2
    assert text in ran.stderr and ran.stderr.count("\n") == 1


def test_policy_without_a_property_needs_the_option(folder: Path) -> None:
    assert policy(folder, "  - acks == all\n", head="").exit_code == 2
    assert policy(folder, "  - acks == all and replicas > 1\n", "--property", "no-skip", head="").exit_code == 0


def test_the_property_of_a_file_that_cannot_name_one_is_asked_for(folder: Path) -> None:
    file = folder / "policy.cel"
    file.write_text('producer["acks"] == "all"\n', encoding="utf-8")
    ran = CliRunner().invoke(cli.app, ["policy", str(file)])
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "a file of this kind cannot name the property; use --property NAME" in ran.stderr
    assert "add property:" not in ran.stderr


def test_all_errors_of_a_policy_are_printed_in_the_order_of_the_file(folder: Path) -> None:
    ran = policy(folder, "  - acks == al\n", head="property: no-aked-loss\n")
    assert ran.exit_code == 10
    lines = [line.partition("policy.yaml:")[2] for line in ran.stderr.splitlines()]
    assert lines == [
        "2: unknown property 'no-aked-loss'; did you mean no-acked-loss? (X05)",
        "4:5: producer.acks is never al; did you mean all? (X09)",
    ]


def test_derived_rule_is_printed_and_written(folder: Path) -> None:
    out = folder / "derived"
    words = ["policy", "--derive", "no-acked-loss", "--matrix", str(folder / "matrix.yaml"), "--out", str(out)]
    ran = CliRunner().invoke(cli.app, words)
    assert ran.exit_code == 0, ran.output
    said = " ".join(ran.stdout.split())
    assert "in words: replication.factor >= 2 and acks == all" in said
    assert "allows 12 of 12 deployments that have no-acked-loss" in said
    assert "assumed, and not seen by the policy: acks == all" in said
    assert (out / "policy.cel").read_text() == 'topic["replication.factor"] >= 2 && producer["acks"] == "all"\n'
    assert "allow if replication.factor >= 2" in (out / "create-topic-policy.txt").read_text()
    again = CliRunner().invoke(cli.app, ["policy", str(out / "policy.yaml")])
    assert again.exit_code == 0, again.output
    assert "necessary: all 24 forbidden" in again.stdout


def test_matrix_without_the_property_has_no_derived_rule(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def all_violated(questions: Iterable[Question], limits: Limits, **_: Any) -> Explored:
        asked = list(questions)
        return Explored(dict.fromkeys(asked, Outcome(Status.VIOLATED, (KILL,), KILL)), dict.fromkeys(asked, "0"))

    monkeypatch.setattr(exploring, "outcomes", all_violated)
    words = ["policy", "--derive", "no-acked-loss", "--matrix", str(folder / "matrix.yaml")]
    ran = CliRunner().invoke(cli.app, words)
    assert ran.exit_code == 3
    assert "no rule was found" in ran.stdout


def test_decisions_are_printed_as_one_json_object(folder: Path) -> None:
    rules = "  - acks == all and replicas >= 2\n  - acks == all\n  - cel: size(x) > 1\n"
    ran = policy(folder, rules, "--json", head="property: no-acked-loss\ngiven: replicas <= 3\n")
    assert ran.exit_code == 10
    answer = json.loads(ran.stdout)
    assert (answer["format"], answer["given"]) == (1, "replicas <= 3")
    assert [one["sufficient"] for one in answer["judgements"]] == ["sufficient", "not sufficient"]
    wrong = answer["judgements"][1]["allowed_wrongly"]
    assert wrong["status"] == "violated"
    assert wrong["faults"] == [["kill", 1]]
    assert sum(answer["judgements"][0]["counts"]["allowed"].values()) > 0
    (problem,) = answer["problems"]
    assert problem in " ".join(ran.stderr.split())


def test_a_policy_without_a_readable_rule_is_json_as_well(folder: Path) -> None:
    ran = policy(folder, "  - aks == all\n", "--json")
    assert ran.exit_code == 10
    answer = json.loads(ran.stdout)
    assert answer["judgements"] == []
    assert len(answer["problems"]) == 1
