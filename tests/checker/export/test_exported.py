"""The exported system of a deployment; every run writes the same text."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from proofka.checker.export.exported import UnknownProperty, export_deployment, export_protocol
from proofka.checker.export.names import Names, camel_case, identifier, instance_name, snake_case
from proofka.checker.export.writing import Format, write
from proofka.checker.solver import prove_domain_safety
from proofka.model.faults import Fault
from proofka.model.published.protocols import protocol
from tests.checker.asking import SMALL, example
from tests.checker.export.systems import turnstile

ROOT = Path(__file__).parent.parent.parent.parent

PROGRAM = """
import sys
from pathlib import Path
from proofka.checker.export.exported import export_deployment
from proofka.checker.export.writing import Format, write
from dataclasses import replace
from tests.checker.asking import SMALL, example
names = sys.argv[2:]
for name in names:
    exported = export_deployment(replace(example(name), bounds=SMALL), total=1)
for form in (Format.TLA, Format.PROMELA, Format.SMT2):
    write(exported, form, Path(sys.argv[1]))
"""


@pytest.mark.slow
def test_two_processes_write_the_same(tmp_path: Path) -> None:
    """A former export and another hash seed of Python make no difference."""
    digests = set()
    for number, names in enumerate((["idempotent"], ["acks-1", "idempotent"])):
        folder = tmp_path / str(number)
        subprocess.run(
            [sys.executable, "-c", PROGRAM, str(folder), *names],
            cwd=ROOT,
            check=True,
            env={"PYTHONHASHSEED": str(number), "PATH": "", "PYTHONPATH": str(ROOT)},
        )
        files = sorted(folder.iterdir())
        assert [path.name for path in files] == [f"idempotent.{end}" for end in ("cfg", "pml", "smt2", "tla")]
        digests.add(hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest())
    assert len(digests) == 1


@pytest.mark.slow
def test_a_deployment() -> None:
    exported = export_deployment(replace(example("acks-1", (Fault.KILL, Fault.POWER_LOSS)), bounds=SMALL), total=2)
    assert "no-acked-loss" in exported.violated
    assert set(exported.goals) == {"recoverability"}
    assert {v.name for v in exported.system.variables} > {"faults_kill", "faults_power_loss", "leader"}
    assert all(action.fault is None for action in exported.system.actions)
    assert exported.remarks["kill(broker=1)"][-1].startswith("fault: kill (")
    assert exported.remarks["send(batch=0)"][0].startswith("Let the application call send()")
    assert "Faults: 2 in total at most (kill: 9, power-loss: 9)." in exported.comment
    assert prove_domain_safety(exported.system).actions == exported.system.actions
    rendered = {display.what: display.render(exported.system.initial) for display in exported.system.displays}
    assert rendered["broker 1"] == "up"


@pytest.mark.slow
def test_only_variables_that_chosen_properties_see() -> None:
    deployment = replace(example("acks-1"), bounds=SMALL)
    whole, part = (export_deployment(deployment, properties=names) for names in ((), ("no-log-duplicate",)))
    assert set(part.violated) == {"no-log-duplicate"} and not part.goals
    assert len(part.system.variables) < len(whole.system.variables)


@pytest.mark.slow
def test_an_unknown_property() -> None:
    with pytest.raises(UnknownProperty, match="unknown property no-such"):
        export_deployment(example("acks-1"), properties=["no-such", "no-loss"])


def test_export_without_a_total_has_two_faults() -> None:
    deployment = replace(example("acks-0"), bounds=SMALL)
    without = replace(deployment, faults=replace(deployment.faults, total=None))
    assert any("Faults: 2 in total" in line for line in export_deployment(without).comment)


def test_a_published_protocol() -> None:
    published = protocol("kip-320", replicas=2, log_size=2, records=2, epochs=1)
    exported = export_protocol(published)
    assert exported.name == "kip-320"
    assert exported.violated == published.violated
    assert exported.system.variables == published.system.variables


def test_files(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    written = [path.name for form in Format for path in write(turnstile(), form, folder)]
    assert written == [f"turnstile_1.{end}" for end in ("tla", "cfg", "pml", "smt2", "dot", "graphml")]
    assert write(turnstile(), Format("dot"), folder) == [folder / "turnstile_1.dot"]


@pytest.mark.parametrize(
    ("text", "snake", "camel"),
    [
        ("no-acked-loss", "no_acked_loss", "NoAckedLoss"),
        ("WeakIsr", "weak_isr", "WeakIsr"),
        ("fast-restart-3.9", "fast_restart_3_9", "FastRestart39"),
        ("2 brokers", "m_2_brokers", "M2Brokers"),
        ("--", "model", "Model"),
    ],
)
def test_identifiers(text: str, snake: str, camel: str) -> None:
    assert snake_case(text) == snake
    assert camel_case(text) == camel


def test_names_are_taken_once() -> None:
    names = Names({"init"})
    assert [names.take(name) for name in ("init", "x", "x", "x_1", "x_2")] == ["init_", "x", "x_2", "x_1", "x_3"]
    assert names.inner().take("x") == "x_4"
    assert instance_name("push", {"person": -2}) == "push_person_minus_2"
    assert identifier("") == "model"
