"""``proofka reproduce`` writes the result with the outcomes of replays, here without a cluster."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from proofka.checker import cli
from proofka.checker.bundle import CERTIFICATE, SourceFile, read_bundle, write_bundle
from proofka.checker.check import check
from proofka.checker.cli import exploring
from proofka.checker.cluster.errors import CannotStart
from proofka.checker.reproduction import keeping, session
from proofka.checker.reproduction.plan import Plan
from proofka.checker.verify import verify
from proofka.properties.certified import Certificate
from proofka.properties.certified import to_document as to_certificate
from proofka.properties.reproduced import Fact, Outcome, digest
from proofka.properties.sealing import SEAL, seal
from proofka.reports.document import result_from_document, to_document
from tests.checker.asking import deployment_of
from tests.checker.test_verify import DEPLOYMENT

COMMAND = "proofka check orders.yaml --faults 1"
Document = dict[str, Any]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a result with violations, as JSON."""
    deployment = deployment_of(DEPLOYMENT, tmp_path_factory.mktemp("replayed"))
    return json.dumps(to_document(deployment, check(deployment), command=COMMAND))


@pytest.fixture
def result(written: str, tmp_path: Path) -> Path:
    file = tmp_path / "orders.json"
    file.write_text(written, encoding="utf-8")
    return file


def made_up(plan: Plan, kind: str = "reproduced") -> Outcome:
    """Return an outcome of a plan as a replay gives it."""
    outcome = Outcome(
        kind=kind,
        trace=digest((step.action, step.arguments) for step in plan.steps),
        properties=tuple(name for name, _ in plan.failures),
        kafka="4.0.2",
        clients=("java 4.0.2",),
        on="2026-11-27",
        seconds=14.0,
        facts=(Fact(1, "proxy", "request with record 1 from the producer to broker 1", 0.5),),
    )
    if kind == "reproduced":
        return replace(outcome, evidence=("record 1 is not in the log of broker 2, which leads",))
    first = plan.steps[0]
    return replace(outcome, step=1, action=first.action, model=first.text, observed="nothing happened within 30 s")


Replaying = Callable[[Plan], Outcome]


def replayed(monkeypatch: pytest.MonkeyPatch, outcome_of: Replaying = made_up) -> list[Plan]:
    """Replace clusters by ``outcome_of``, and return the list that takes the replayed plans."""
    plans: list[Plan] = []

    def replay_all(given: Sequence[Plan], **_options: object) -> Iterator[tuple[Plan, Outcome]]:
        for plan in given:
            outcome = outcome_of(plan)
            plans.append(plan)
            yield plan, outcome

    monkeypatch.setattr(session, "replay_all", replay_all)
    return plans


def run(*words: object) -> Result:
    return CliRunner(env={"COLUMNS": "120"}).invoke(cli.app, ["reproduce", *map(str, words)])


def read(file: Path) -> Document:
    found: Document = json.loads(file.read_text(encoding="utf-8"))
    return found


def test_json_has_the_result_with_the_outcome(result: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = read(result)
    plans = replayed(monkeypatch)
    out = tmp_path / "out.json"
    ran = run(result, 1, "--json", out)
    assert ran.exit_code == 0, ran.output
    after = read(out)
    assert result_from_document(after).reproductions == (made_up(plans[0]),)
    assert {key: value for key, value in after.items() if key not in ("reproductions", "checksum")} == {
        key: value for key, value in before.items() if key != "checksum"
    }
    assert verify(after)


def test_outcomes_are_added_and_newer_ones_replace(result: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plans = replayed(monkeypatch)
    assert run(result, 1, "--json", result).exit_code == 0
    replayed(monkeypatch, lambda plan: replace(made_up(plan), kafka="3.9.2"))
    assert run(result, 1, "--json", result).exit_code == 0
    replayed(monkeypatch, lambda plan: replace(made_up(plan, "diverged"), on="2026-11-30"))
    assert run(result, 1, "--json", result).exit_code == 3
    found = result_from_document(read(result)).reproductions
    assert [(one.kind, one.kafka, one.on) for one in found] == [
        ("reproduced", "3.9.2", "2026-11-27"),
        ("diverged", "4.0.2", "2026-11-30"),
    ]
    assert {one.trace for one in found} == {made_up(plans[0]).trace}
    assert verify(read(result))


def test_reports_and_a_bundle_have_the_outcome(result: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replayed(monkeypatch)
    page, bundle = tmp_path / "review.md", tmp_path / "orders.zip"
    ran = run(result, "--property", "no-acked-loss", "--report", page, "--bundle", bundle)
    assert ran.exit_code == 0, ran.output
    assert "reproduced on Apache Kafka 4.0.2, 2026-11-27" in page.read_text(encoding="utf-8")
    document = read_bundle(bundle.read_bytes()).document
    assert document["command"] == COMMAND
    assert [one["kind"] for one in document["reproductions"]] == ["reproduced"]
    assert CliRunner().invoke(cli.app, ["verify", str(bundle)]).exit_code == 0


def test_a_bundle_keeps_the_source_files_of_the_bundle_that_was_read(
    result: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replayed(monkeypatch)
    bundle, source = tmp_path / "orders.zip", SourceFile("orders.yaml", 12, "0" * 64)
    bundle.write_bytes(write_bundle(read(result), (source,)))
    assert run(bundle, 1, "--bundle", bundle).exit_code == 0
    again = read_bundle(bundle.read_bytes())
    assert again.sources == (source,)
    assert len(again.document["reproductions"]) == 1


def test_a_bundle_keeps_the_certificate_of_the_bundle_that_was_read(
    result: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replayed(monkeypatch)
    proof = b"a certificate"
    named = Certificate("a.cert", len(proof), hashlib.sha256(proof).hexdigest(), 1, {}, ())
    document = {**read(result), "certificate": to_certificate(named)}
    bundle = tmp_path / "orders.zip"
    bundle.write_bytes(write_bundle({**document, SEAL: seal(document)}, (), proof))
    assert run(bundle, 1, "--bundle", bundle).exit_code == 0
    again = read_bundle(bundle.read_bytes())
    assert again.members[CERTIFICATE] == proof
    assert result_from_document(dict(again.document)).certificate == named
    assert len(again.document["reproductions"]) == 1


def test_a_checked_deployment_is_written_with_its_command_and_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replayed(monkeypatch)
    file, bundle = tmp_path / "orders.yaml", tmp_path / "orders.zip"
    file.write_text(DEPLOYMENT, encoding="utf-8")
    ran = run(file, 1, "--faults", 1, "--bundle", bundle)
    assert ran.exit_code == 0, ran.output
    found = read_bundle(bundle.read_bytes())
    assert found.document["command"] == f"proofka check {file} --faults 1 --more 0"
    assert [one.name for one in found.sources] == [str(file)]


def test_outcomes_before_a_failure_are_written(result: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = [made_up]

    def failing(plan: Plan) -> Outcome:
        if not left:
            raise CannotStart("broker 2 did not start")
        return left.pop()(plan)

    replayed(monkeypatch, failing)
    out = tmp_path / "out.json"
    ran = run(result, "--all", "--json", out)
    assert ran.exit_code == 2
    assert "broker 2 did not start" in ran.stderr
    assert len(read(out)["reproductions"]) == 1


def test_outcomes_before_an_interrupt_are_written(
    result: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(plan: Plan) -> Outcome:
        if plans:
            raise KeyboardInterrupt
        return made_up(plan)

    plans = replayed(monkeypatch, interrupted)
    out = tmp_path / "out.json"
    assert run(result, "--all", "--json", out).exit_code == 130
    assert len(read(out)["reproductions"]) == 1


def test_the_outcome_is_written_before_a_kept_cluster_ends(
    result: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def replay_all(
        plans: Sequence[Plan], *, kept: Callable[[list[str]], None], **_options: object
    ) -> Iterator[tuple[Plan, Outcome]]:
        yield plans[0], made_up(plans[0])
        kept(["at a port"])

    out = tmp_path / "out.json"
    seen: list[int] = []
    monkeypatch.setattr(session, "replay_all", replay_all)
    monkeypatch.setattr(keeping, "wait_for_an_end", lambda *_: seen.append(len(read(out)["reproductions"])))
    ran = run(result, 1, "--keep", "--json", out)
    assert ran.exit_code == 0, ran.output
    assert seen == [1]


def test_json_on_standard_output_is_alone(result: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replayed(monkeypatch)
    ran = run(result, 1, "--json", "-")
    assert ran.exit_code == 0
    assert len(json.loads(ran.stdout)["reproductions"]) == 1
    assert "reproduced" in ran.stderr


def test_wrong_options_are_refused_before_a_replay(
    result: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans = replayed(monkeypatch)
    refused = {
        ("--script", tmp_path / "x.zip", "--json", tmp_path / "x.json"): "--script: starts no cluster",
        ("--report", tmp_path / "x.doc"): "a report must be",
        ("--bundle", tmp_path / "x.tar"): "a bundle is a zip file",
        ("--json", tmp_path / "missing" / "x.json"): "no such directory",
        ("--script", tmp_path / "x.tar"): "--script writes a zip file; name it",
        ("--script", tmp_path / "x.zip", "--keep"): "--script: starts no cluster that --keep could keep",
        ("--property", "no-loss"): "exclude each other",
    }
    for words, said in refused.items():
        ran = run(result, 1, *words)
        assert (ran.exit_code, said in ran.stderr) == (2, True), ran.output
    assert plans == []


def test_a_property_without_a_trace_is_told_with_its_verdict(result: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plans = replayed(monkeypatch)
    holds = next(one["property"] for one in read(result)["verdicts"] if one["status"] == "holds")
    ran = run(result, "--property", holds)
    assert (ran.exit_code, f"has no trace of {holds}, which holds" in ran.stderr) == (2, True), ran.output
    ran = run(result, "--property", "no-skipp")
    assert (ran.exit_code, "no-skipp: no such property; did you mean no-skip?" in ran.stderr) == (2, True), ran.output
    assert plans == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--property", "no-ackd-loss"), "--property no-ackd-loss: no such property; did you mean no-acked-loss?"),
        (("1", "--kafka-home", "nowhere"), "--kafka-home: nowhere is no installation of Kafka"),
    ],
)
def test_a_wrong_option_is_refused_before_the_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: Sequence[str], said: str
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("the deployment is checked")

    monkeypatch.setattr(exploring, "run_check", never)
    file = tmp_path / "orders.yaml"
    file.write_text(DEPLOYMENT, encoding="utf-8")
    ran = run(file, *options)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.startswith(said)
    assert ran.stderr.count("\n") == 1


def test_no_cluster_starts_after_a_check_that_was_interrupted(
    result: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans = replayed(monkeypatch)
    found = result_from_document(read(result))
    cut = tuple(replace(one, coverage=replace(one.coverage, stopped="interrupted")) for one in found.verdicts)
    monkeypatch.setattr(exploring, "run_check", lambda *_, **__: (None, replace(found, verdicts=cut)))
    file = tmp_path / "orders.yaml"
    file.write_text(DEPLOYMENT, encoding="utf-8")
    ran = run(file, 1, "--faults", 1)
    assert (ran.exit_code, "the check was interrupted" in ran.stderr) == (3, True), ran.output
    assert plans == []


def test_a_result_of_another_model_is_refused(result: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plans = replayed(monkeypatch)
    document = read(result)
    document["versions"]["model"] = "0"
    result.write_text(json.dumps({**document, SEAL: seal(document)}), encoding="utf-8")
    ran = run(result, 1)
    assert (ran.exit_code, "is a result of model 0" in ran.stderr) == (2, True), ran.output
    assert plans == []


def _of(document: Document) -> Document:
    """Return the first trace of a result, by verdict."""
    found: Document = next(one for one in document["verdicts"] if one["traces"])
    return found


def _other_text(document: Document) -> None:
    for trace in (_of(document)["trace"], _of(document)["traces"][0]):
        trace["steps"][0]["text"] = "the broker forgets the record"


def _no_argument(document: Document) -> None:
    for trace in (_of(document)["trace"], _of(document)["traces"][0]):
        step = next(one for one in trace["steps"] if one["arguments"])
        step["arguments"].popitem()


def _other_broker(document: Document) -> None:
    for trace in (_of(document)["trace"], _of(document)["traces"][0]):
        for shown in trace["start"]:
            shown["owner"] = "broker x"


def _no_client(document: Document) -> None:
    settings = document["deployment"]["settings"]
    document["deployment"]["settings"] = [one for one in settings if (one["scope"], one["key"]) != ("producer", "acks")]


@pytest.mark.parametrize("edit", [_other_text, _no_argument, _other_broker, _no_client])
def test_an_edited_result_is_refused_before_its_replay(
    edit: Callable[[Document], None], result: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans = replayed(monkeypatch)
    document = read(result)
    edit(document)
    result.write_text(json.dumps({**document, SEAL: seal(document)}), encoding="utf-8")
    ran = run(result, 1)
    assert (ran.exit_code, "the model contradicts the result" in ran.stderr) == (2, True), ran.output
    assert plans == []
