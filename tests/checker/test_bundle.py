"""A bundle verifies as it was written; changed with all hashes made anew, it is found out by what it is about."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import z3
from typer.testing import CliRunner

from proofka.checker import cli
from proofka.checker.archive import DamagedBundle, read_archive, write_archive
from proofka.checker.budget import Budget
from proofka.checker.bundle import (
    DEPLOYMENT,
    RESULT,
    SourceFile,
    about,
    json_bytes,
    read_bundle,
    sources_of,
    write_bundle,
)
from proofka.checker.bundle_check import is_of_this_model, of_another_model, recheck
from proofka.checker.check import check, prepare_groups, question_ids
from proofka.checker.reexploration import RecountStopped, recount
from proofka.checker.source import Source
from proofka.checker.tampered import TamperedDocument
from proofka.model.deployment import DeploymentError, from_document
from proofka.properties.sealing import SEAL, seal
from proofka.reports.document import to_document
from tests.checker.asking import deployment_of
from tests.checker.test_verify import DEPLOYMENT as YAML

Document = dict[str, Any]
SOURCES = (SourceFile("orders.yaml", 12, "0" * 64),)
SMT, TLA = "systems/system_1.smt2", "systems/system_1.tla"


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Document:
    deployment = deployment_of(YAML, tmp_path_factory.mktemp("small"))
    return to_document(deployment, check(deployment), command="proofka check acks-1.yaml")


@pytest.fixture(scope="module")
def content(document: Document) -> bytes:
    return write_bundle(document, SOURCES)


def forged(content: bytes, change: Callable[[dict[str, bytes], Document], None]) -> bytes:
    """Return the bundle with other members, and right hashes of all of them."""
    archive = read_archive(content)
    members, manifest = dict(archive.members), copy.deepcopy(dict(archive.manifest))
    change(members, manifest)
    return write_archive(members, {key: value for key, value in manifest.items() if key not in ("format", "members")})


def resealed(document: Mapping[str, Any], change: Callable[[Document], None]) -> Document:
    changed = copy.deepcopy(dict(document))
    change(changed)
    return {**changed, SEAL: seal(changed)}


@pytest.mark.slow
def test_bundle_is_read_as_written(content: bytes, document: Document) -> None:
    bundle = read_bundle(content)
    assert bundle.document == json.loads(json.dumps(document))
    assert bundle.sources == SOURCES
    asked = {prop.name for group in prepare_groups(from_document(bundle.deployment))[1] for prop in group.properties}
    assert {name for system in bundle.systems for name in system.properties} == asked
    assert all(system.faults == 1 for system in bundle.systems)
    assert is_of_this_model(bundle.document)
    found = recheck(bundle)
    assert found.lines[-1].startswith(f"systems: {len(bundle.systems)} system computed again")
    assert not found.open


def test_the_same_result_gives_the_same_bytes(content: bytes, document: Document) -> None:
    assert write_bundle(json.loads(json.dumps(document)), SOURCES) == content


def test_deployment_in_a_bundle_asks_the_same_question(content: bytes, document: Document, tmp_path: Path) -> None:
    file = tmp_path / "deployment.json"
    file.write_bytes(read_bundle(content).members[DEPLOYMENT])
    assert Source(file).seek() is None
    deployment = Source(file).read()
    ids = question_ids(deployment, *prepare_groups(deployment))
    assert ids == {verdict["property"]: verdict["id"] for verdict in document["verdicts"]}
    with pytest.raises(DeploymentError, match="holds every value already"):
        Source(file, assume=("sends=sync",)).read()


@pytest.mark.parametrize(("key", "value"), [("acks", "some"), ("kafka", "4.0"), ("surprise", 1)])
def test_a_deployment_that_is_none(content: bytes, tmp_path: Path, key: str, value: Any) -> None:
    file = tmp_path / "deployment.json"
    file.write_text(json.dumps({**json.loads(read_bundle(content).members[DEPLOYMENT]), key: value}))
    with pytest.raises(DeploymentError, match=rf"deployment\.{key}: "):
        Source(file).read()


def edited(name: str, old: bytes, new: bytes) -> Callable[[dict[str, bytes], Document], None]:
    def change(members: dict[str, bytes], _: Document) -> None:
        assert old in members[name]
        members[name] = members[name].replace(old, new, 1)

    return change


def systems_swapped(_: dict[str, bytes], manifest: Document) -> None:
    manifest["systems"][0]["properties"].reverse()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (edited(DEPLOYMENT, b'"acks": "1"', b'"acks": "0"'), r"deployment\.json: is not the deployment"),
        (edited(SMT, b"(assert", b"(check-sat)\n(assert"), r"systems/system_1\.smt2:\d+: is not what the model gives"),
        pytest.param(
            edited(TLA, b"\nInit ==", b"\nInit == FALSE /\\"),
            r"systems/system_1\.tla:\d+: is not what the model gives",
            marks=pytest.mark.slow,
        ),
        pytest.param(lambda members, _: members.pop(TLA), r"systems/system_1\.tla: is missing", marks=pytest.mark.slow),
        pytest.param(
            lambda members, _: members.update({"systems/system_9.tla": b""}),
            r"system_9\.tla: the model has no such",
            marks=pytest.mark.slow,
        ),
        (systems_swapped, "does not assign the properties"),
    ],
)
def test_forged(content: bytes, change: Callable[[dict[str, bytes], Document], None], named: str) -> None:
    with pytest.raises(TamperedDocument, match=named):
        recheck(read_bundle(forged(content, change)))


@pytest.mark.parametrize("name", [RESULT, DEPLOYMENT])
@pytest.mark.parametrize("text", [None, b"no json", b"[" * 99_999, b"\xff"])
def test_no_bundle_for_all_its_hashes(content: bytes, name: str, text: bytes | None) -> None:
    def change(members: dict[str, bytes], _: Document) -> None:
        if text is None:
            del members[name]
        else:
            members[name] = text

    with pytest.raises(DamagedBundle, match="but is no bundle"):
        read_bundle(forged(content, change))


def test_systems_that_are_none(content: bytes) -> None:
    for systems in (None, [1], [{}], [{"name": "x", "properties": 1, "faults": 0, "files": []}]):
        with pytest.raises(DamagedBundle, match="but is no bundle"):
            read_bundle(forged(content, lambda _, manifest, systems=systems: manifest.update(systems=systems)))


@pytest.mark.parametrize(
    "source",
    [1, {}, {"name": "x", "bytes": 1, "sha256": "short"}, {"name": "x" * 5000, "bytes": 1, "sha256": "0" * 64}],
)
def test_sources_that_are_none(content: bytes, source: Any) -> None:
    with pytest.raises(DamagedBundle, match="but is no bundle"):
        read_bundle(forged(content, lambda _, manifest: manifest.update(sources=[source])))


def test_solver_reads_the_system_in_a_bundle(content: bytes) -> None:
    solver = z3.Solver()
    solver.from_string(read_bundle(content).members[SMT].decode() + "(assert (and init violated_no_acked_loss))")
    assert solver.check() == z3.unsat, "nothing is lost at the start"
    solver = z3.Solver()
    solver.from_string(read_bundle(content).members[SMT].decode() + "(assert (and domain violated_no_acked_loss))")
    assert solver.check() == z3.sat


@pytest.mark.slow
def test_bundle_of_another_model_is_not_replayed(document: Document) -> None:
    """Ids and traces are not replayed against a model that they are not of; what can be verified is said."""
    other = resealed(document, lambda changed: changed["versions"].update(model="3", proofka="0.0.1"))
    bundle = read_bundle(write_bundle(other))
    assert not is_of_this_model(bundle.document)
    said = " ".join(of_another_model(bundle.document))
    assert "not verified: ids, traces, systems and counts, which belong to model 3" in said
    assert "proofka 0.0.1" in said
    unsealed = {**other, "command": "proofka check other.yaml"}
    with pytest.raises(TamperedDocument, match="checksum"):
        of_another_model(read_bundle(write_bundle(unsealed)).document)


def test_counts_again(document: Document) -> None:
    (line,) = recount(document, Budget(threads=1)).lines
    assert f"{document['engine']['states']:,} states, {document['engine']['transitions']:,} transitions" in line


def lost(document: Document) -> Document:
    return next(one for one in document["verdicts"] if one["property"] == "no-acked-loss")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda d: d["engine"].update(states=d["engine"]["states"] + 1), "all together: states"),
        (lambda d: d["engine"].update(transitions=1), "all together: transitions"),
        (lambda d: d["engine"]["layers"].__setitem__(1, 7), "states with 1 fault:"),
        (lambda d: d["engine"]["layers"].pop(), "layers of faults"),
        (lambda d: lost(d).update(states=3), "no-acked-loss: states"),
        (lambda d: lost(d)["cut_sets"].append({"kill": 2}), "no-acked-loss: fault sets"),
        (lambda d: d["verdicts"][-1].update(status="vacuous"), "recoverability: status"),
        pytest.param(
            lambda d: lost(d)["bounds"].update(faults_complete_to=2),
            "no-acked-loss: number of faults explored",
            marks=pytest.mark.slow,
        ),
        (lambda d: d.update(command="proofka check --with 'x"), "its command cannot be read"),
    ],
)
def test_other_counts(document: Document, change: Callable[[Document], None], named: str) -> None:
    """With a checksum that is right: only exploring again tells."""
    with pytest.raises(TamperedDocument, match=named):
        recount(resealed(document, change), Budget(threads=1))


@pytest.mark.slow
def test_counts_again_of_a_stopped_exploration(document: Document) -> None:
    """An exploration that time stopped is repeated as far as it was complete."""

    def stop(changed: Document) -> None:
        for verdict in changed["verdicts"]:
            verdict["bounds"].update(stopped="time", faults_complete_to=0)

    found = recount(resealed(document, stop), Budget(threads=1))
    assert "up to 0 faults explored again, with the same result; beyond that it was stopped (time)" in found.lines[0]
    assert found.lines[-1] == f"counts: {document['engine']['layers'][0]:,} states with up to 0 faults as before"

    def miscount(changed: Document) -> None:
        stop(changed)
        changed["engine"]["layers"][0] += 1

    with pytest.raises(TamperedDocument, match="states with 0 faults"):
        recount(resealed(document, miscount), Budget(threads=1))


def test_counting_that_is_stopped(document: Document) -> None:
    with pytest.raises(RecountStopped, match="states"):
        recount(document, Budget(threads=1, states=1))


def test_sources(tmp_path: Path) -> None:
    file = tmp_path / "orders.yaml"
    file.write_text(YAML, encoding="utf-8")
    deployment = Source(file).read()
    (source,) = sources_of([deployment], [file, None, tmp_path, tmp_path / "gone"])
    assert (source.name, source.bytes) == (str(file), len(YAML))
    assert about([source], [])["sources"][0]["sha256"] == source.sha256
    file.unlink()
    assert sources_of([deployment], []) == ()


@pytest.mark.skipif(os.name != "posix", reason="such names of files are possible elsewhere only")
def test_names_of_files_that_are_no_text() -> None:
    name = os.fsdecode(b"\xff.yaml")
    assert json.loads(json_bytes({"name": name})) == {"name": name}


def test_command_line_writes_and_verifies_a_bundle(tmp_path: Path) -> None:
    source, bundle = tmp_path / "deployment.yaml", tmp_path / "result.zip"
    source.write_text(YAML + "# secret: hunter2\n", encoding="utf-8")

    def run(*words: str) -> tuple[int, str]:
        done = CliRunner().invoke(cli.app, list(words))
        assert "Traceback" not in done.output
        return done.exit_code, " ".join(done.output.split())

    status, _ = run("check", str(source), "--bundle", str(bundle), "--no-sensitivity", "--quiet")
    assert status == 1
    content = bundle.read_bytes()
    assert not any(b"hunter2" in member for member in read_bundle(content).members.values())
    status, said = run("verify", str(bundle))
    assert status == 0, said
    assert "hashes: correct for all" in said
    assert "counts: not compared; --recount explores again, which also checks the passes: " in said
    assert f"source named in the bundle: {source} (SHA-256 " in said
    for place in range(0, len(content), len(content) // 7):
        changed = bytearray(content)
        changed[place] ^= 4
        bundle.write_bytes(bytes(changed))
        status, said = run("verify", str(bundle))
        assert status == 1
        assert said.startswith(f"{bundle}: ")
        assert "was changed" in said or "is not the one" in said  # the hash of the manifest stands in the comment
    bundle.write_bytes(b"no zip at all")
    assert run("verify", str(bundle))[0] == 1


def test_bundle_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "deployment.yaml"
    source.write_text(YAML, encoding="utf-8")
    for name, why in (("result.json", "a bundle is a zip file"), ("gone/result.zip", "no such directory")):
        done = CliRunner().invoke(cli.app, ["check", str(source), "--bundle", str(tmp_path / name)])
        assert done.exit_code == 2
        assert why in " ".join(done.output.split())
    for number in (1, 2):
        (tmp_path / f"{number}.yaml").write_text(YAML, encoding="utf-8")
    done = CliRunner().invoke(cli.app, ["check", str(tmp_path), "--bundle", str(tmp_path / "result.zip")])
    assert done.exit_code == 2
    assert "choose one with --pipeline" in " ".join(done.output.split())
