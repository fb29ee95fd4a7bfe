"""The cause of a changed verdict is computed: one setting, two together, faults, bounds, or no known cause."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

from proofka.checker import cli, variants
from proofka.checker.bundle import write_bundle
from proofka.checker.check import check
from proofka.checker.difference import difference, reading
from proofka.checker.variants import between, settings_changed
from proofka.model.deployment import read_deployment
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.explored import FaultBudget
from proofka.model.deployment.question import question
from proofka.model.deployment.rebuilding import FAULTS, built_of, said_of
from proofka.properties.difference import Cause, Difference, VerdictChange
from proofka.properties.sealing import SEAL, seal
from proofka.properties.verdict import Result, Status
from proofka.reports.document import to_document
from tests.checker.asking import EXAMPLES

TEXT = """\
kafka: "{kafka}"
topic: {{replicas: 2, min.insync.replicas: {isr}, unclean.leader.election.enable: true}}
producer: {{acks: {acks}, linger.ms: {linger}}}
consumer: {{group.id: orders, auto.offset.reset: earliest, enable.auto.commit: false}}
require: [no-acked-loss, no-log-duplicate, read-stability]
assume: {{faults: {faults}}}
bounds: {{records: 1, log: 2, epochs: 3, sends: 1}}
"""
STANDARD = {"kafka": "4.0", "isr": 1, "acks": 1, "linger": 0, "faults": "{total: 1, kill: 1, slow-follower: 1}"}
TWO = "{total: 2, kill: 1, slow-follower: 1}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("deployments")


@cache
def checked(folder: Path, **changes: object) -> tuple[Deployment, Result]:
    file = folder / f"{len(list(folder.iterdir()))}.yaml"
    file.write_text(TEXT.format(**{**STANDARD, **changes}), encoding="utf-8")
    deployment = read_deployment(file)
    return deployment, check(deployment)


def change_of(found: Difference, name: str) -> VerdictChange:
    return next(change for change in found.verdicts if change.property == name)


def causes(cause: Cause | None) -> list[set[str]]:
    assert cause is not None
    assert not cause.unknown, cause.unknown
    return [{f"{change.scope} {change.key}" for change in changes} for changes in cause.sets]


def test_equal_results_have_no_difference(folder: Path) -> None:
    one = checked(folder)
    found = difference(one, one)
    assert found.is_empty
    assert found.unchanged == len(one[1].verdicts)
    assert found.remarks == ()


@pytest.mark.slow
def test_one_setting_of_several(folder: Path) -> None:
    """linger.ms changed too, and decides nothing; acks alone suffices for one fault."""
    found = difference(checked(folder), checked(folder, acks="all", linger=20))
    assert found.separated
    loss = change_of(found, "no-acked-loss")
    assert loss.of == ("status", "fault sets")
    assert causes(loss.cause) == [{"producer acks"}]
    assert {(one.scope, one.key) for one in found.settings} >= {("producer", "acks"), ("producer", "linger.ms")}
    acks = next(one for one in found.settings if one.key == "acks")
    assert (acks.old, acks.new) == ("1", "all")
    assert acks.new_setting is not None and acks.new_setting.origin.line == 3


@pytest.mark.slow
def test_two_settings_together(folder: Path) -> None:
    """With acks=all alone a follower that falls behind still makes room for a loss: both are needed."""
    found = difference(checked(folder, faults=TWO), checked(folder, faults=TWO, acks="all", isr=2))
    assert causes(change_of(found, "no-acked-loss").cause) == [{"producer acks", "topic min.insync.replicas"}]
    assert causes(change_of(found, "no-log-duplicate").cause) == [{"producer acks"}]
    assert causes(change_of(found, "read-stability").cause) == [{"topic min.insync.replicas"}]


@pytest.mark.slow
def test_faults_that_are_explored(folder: Path) -> None:
    """No setting changed: what changed is what is asked."""
    found = difference(checked(folder, faults="{total: 1, slow-follower: 1}"), checked(folder))
    loss = change_of(found, "no-acked-loss")
    assert loss.old is not None and loss.old.status is not Status.VIOLATED
    assert causes(loss.cause) == [{"assume faults"}]


def test_bounds_alone(folder: Path) -> None:
    one, (deployment, result) = checked(folder), checked(folder)
    verdicts = tuple(replace(v, coverage=replace(v.coverage, complete_to=0)) for v in result.verdicts)
    found = difference(one, (deployment, replace(result, verdicts=verdicts)))
    assert {change.of for change in found.verdicts} == {("bounds",)}
    assert all(change.cause is None for change in found.verdicts)
    assert found.settings == ()


def test_a_result_that_cannot_be_reproduced(folder: Path) -> None:
    """The new one says that acks=1 holds: no setting is blamed for what is not so."""
    deployment, result = checked(folder, linger=20)
    wrong = tuple(
        replace(v, status=Status.HOLDS, cut_sets=(), traces=()) if v.property == "no-acked-loss" else v
        for v in result.verdicts
    )
    found = difference(checked(folder), (deployment, replace(result, verdicts=wrong)))
    cause = change_of(found, "no-acked-loss").cause
    assert cause is not None and not cause.sets
    assert "the new deployment does not give its verdict again" in cause.unknown


def test_another_model(folder: Path) -> None:
    """The same deployment, of which another model said otherwise: its version is to blame."""
    deployment, result = checked(folder)
    other = tuple(
        replace(v, status=Status.HOLDS, cut_sets=(), traces=()) if v.property == "no-acked-loss" else v
        for v in result.verdicts
    )
    old = replace(result, verdicts=other, versions={**result.versions, "model": "1"})
    found = difference((deployment, old), (deployment, result))
    cause = change_of(found, "no-acked-loss").cause
    assert cause is not None and "so the model's version" in cause.unknown
    assert found.versions == (("model", "1", result.versions["model"]),)


def test_undecided_verdicts_have_no_cause(folder: Path) -> None:
    deployment, result = checked(folder, linger=20)
    open_ones = tuple(
        replace(
            v,
            status=Status.UNKNOWN,
            cut_sets=(),
            traces=(),
            coverage=replace(v.coverage, complete_to=-1, stopped="time"),
        )
        for v in result.verdicts
    )
    found = difference(checked(folder), (deployment, replace(result, verdicts=open_ones)))
    assert all(change.cause is not None and "undecided" in change.cause.unknown for change in found.verdicts)


@pytest.mark.slow
def test_fields_where_settings_cannot_be_told_apart(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(variants, "_is_of_what_was_said", lambda deployment: False)
    found = difference(checked(folder), checked(folder, acks="all", linger=20))
    assert not found.separated
    assert "cannot be separated" in found.remarks[1]
    cause = change_of(found, "no-acked-loss").cause
    assert causes(cause) == [{" acks"}]


def test_difference_without_causes_has_none(folder: Path) -> None:
    found = difference(checked(folder), checked(folder, acks="all"), causes=False)
    assert change_of(found, "no-acked-loss").cause is None


def test_parts_that_lie_between_two_deployments(folder: Path) -> None:
    old, new = checked(folder)[0], checked(folder, acks="all", linger=20, faults=TWO)[0]
    whole = between(old, new)
    assert set(whole.places) == {("producer", "acks"), ("producer", "linger.ms"), FAULTS}
    assert question(whole.with_changes(())) == question(old)
    assert question(whole.with_changes(whole.places)) == question(new)
    only = whole.with_changes([("producer", "linger.ms")])
    assert (only.producer.acks, only.durations.linger.most, only.faults) == (old.producer.acks, 20, old.faults)
    assert settings_changed(old, old) == ()


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.yaml")) + sorted((EXAMPLES / "time").glob("*.yaml")), ids=str)
def test_deployment_is_rebuilt_from_its_effective_settings(file: Path) -> None:
    """Built again from its effective settings alone it is the same."""
    deployment = read_deployment(file)
    assert question(built_of(said_of(deployment), deployment)) == question(deployment)


def test_reading_of_a_verdict_is_compared(folder: Path) -> None:
    verdict = next(v for v in checked(folder)[1].verdicts if v.property == "no-acked-loss")
    kill = (("kill", 1),)
    assert reading(verdict, FaultBudget(1, kill), with_status=False) == (None, (kill,))
    assert reading(verdict, FaultBudget(0, kill), with_status=False) == (None, ())
    assert reading(verdict, FaultBudget(1, (("cut-off", 1),)), with_status=True) == (Status.VIOLATED, ())


def test_command_line_compares_stored_results(folder: Path, tmp_path: Path) -> None:
    old, new = tmp_path / "old.zip", tmp_path / "new.json"
    (before, result), after = checked(folder), checked(folder, acks="all", linger=20)
    old.write_bytes(write_bundle(to_document(before, result)))
    new.write_text(json.dumps(to_document(*after)), encoding="utf-8")

    def run(*words: object) -> tuple[int, str]:
        done = CliRunner().invoke(cli.app, ["diff", *map(str, words)])
        assert "Traceback" not in done.output
        return done.exit_code, " ".join(done.output.split())

    assert run(old, old)[0] == 0
    status, said = run(old, new, "--no-causes")
    assert status == 1
    assert "producer acks: 1" in said and "caused by" not in said
    document = json.loads(new.read_text(encoding="utf-8"))
    del document["deployment"]["acks"]
    new.write_text(json.dumps(document), encoding="utf-8")
    assert run(old, new) == (2, f"{new}: was changed after --json wrote it; proofka verify names the difference")
    new.write_text(json.dumps({**document, SEAL: seal(document)}), encoding="utf-8")
    status, said = run(old, new)
    assert status == 2 and "check it again" in said
    old.write_bytes(old.read_bytes()[:-1])
    status, said = run(old, new)
    assert status == 2 and "comment of the file" in said
    assert run(tmp_path / "gone.json", new)[0] == 2
