"""``import proofka``: the examples of its page run, every public name has a docstring, and importing is quick."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import proofka

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.M | re.S)


def test_the_program_of_the_page_prints_a_trace(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    exec(compile(PROGRAMS[0], "docs/python.md", "exec"), {})
    said = capsys.readouterr().out
    assert said.startswith("no-acked-loss (('leader-move', 1),)\n   ")
    assert "the application sends record 1\n" in said


def test_the_test_of_the_page_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {}
    exec(compile(PROGRAMS[1], "docs/python.md", "exec"), names)
    test = names["test_orders_are_not_lost"]
    assert callable(test)
    test()


def test_the_page_has_every_function() -> None:
    functions = {name for name in proofka.__all__ if inspect.isfunction(getattr(proofka, name))}
    assert functions == set(re.findall(r"^\| `(\w+)\(", PAGE, flags=re.M))


@pytest.mark.parametrize("name", proofka.__all__)
def test_every_public_name_has_a_docstring(name: str) -> None:
    assert inspect.getdoc(getattr(proofka, name))


def test_properties_files_and_folders_are_read(tmp_path: Path) -> None:
    (tmp_path / "producer.properties").write_text("acks=1\n", encoding="utf-8")
    (tmp_path / "topic.properties").write_text("replication.factor=3\n", encoding="utf-8")
    by_files = proofka.read_properties(
        kafka="3.9", topic=tmp_path / "topic.properties", producer=str(tmp_path / "producer.properties")
    )
    assert (by_files.producer.acks, by_files.cluster.replicas, by_files.cluster.kafka) == ("1", 3, (3, 9, 0))
    (by_folder,) = proofka.read_all(tmp_path, kafka="3.9")
    assert (by_folder.producer.acks, by_folder.cluster.replicas, by_folder.cluster.kafka) == ("1", 3, (3, 9, 0))
    (tmp_path / "producer.properties").write_text("acks=7\n", encoding="utf-8")
    with pytest.raises(proofka.DeploymentError, match="acks"):
        proofka.read_all(tmp_path, kafka="3.9")
    (alone,) = proofka.read_all(ROOT / "examples" / "acks-1.yaml")
    assert alone == proofka.read(ROOT / "examples" / "acks-1.yaml")


def test_assumptions_and_requirements_count() -> None:
    deployment = proofka.read(ROOT / "examples" / "acks-0.yaml", assume={"commit": "before"})
    assert deployment.application.commit == "before"
    result = proofka.check(deployment, faults=0, require=["no-loss"])
    assert [verdict.property for verdict in result.verdicts if verdict.required] == ["no-loss"]
    assert {verdict.coverage.total for verdict in result.verdicts} == {0}


def test_wrong_values_are_told(tmp_path: Path) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text("kafka: 3.9\nproducer: {acks: 7}\n", encoding="utf-8")
    with pytest.raises(proofka.DeploymentError, match="acks"):
        proofka.read(file)
    with pytest.raises(proofka.DeploymentError, match="no-such"):
        proofka.check(proofka.read(ROOT / "examples" / "acks-0.yaml"), faults=0, require=["no-such"])


def test_importing_loads_nothing_heavy() -> None:
    program = "import sys, proofka; print(*{name.partition('.')[0] for name in sys.modules})"
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not {"z3", "numba", "numpy", "matplotlib", "pyspark"} & set(run.stdout.split())
