"""``import proofka``: the examples of its page run, every public name has a docstring, and importing is quick."""

from __future__ import annotations

import dataclasses
import inspect
import os
import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import proofka
from proofka.properties.verdict import KnownDefect
from proofka.testing import _against, assert_holds

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
PLUGIN = "proofka.pytest_plugin"
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


def environment() -> dict[str, str]:
    """Return an environment in which a program finds the packages of this project."""
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def acks_1() -> proofka.Result:
    return proofka.check(ROOT / "examples" / "acks-1.yaml", faults=1)


def test_a_property_holds_by_the_verdict_of_a_result() -> None:
    result = acks_1()
    assert result.holds("no-skip")
    assert not result.holds("no-acked-loss")
    with pytest.raises(proofka.NoVerdict, match=r"no verdict on 'loss'; it has verdicts on .*no-acked-loss"):
        result.holds("loss")


def test_a_notebook_shows_the_verdicts_with_their_fault_sets() -> None:
    result = acks_1()
    shown = result._repr_html_()
    assert shown.count("<tr>") == 1 + len(result.verdicts)
    assert "<td>no-acked-loss</td><td>violated</td><td>by 1 leader-move, or by " in shown
    assert "<td>no-skip</td><td>holds</td><td>within at most 1 fault" in shown


def test_a_data_frame_has_a_row_for_each_verdict() -> None:
    pytest.importorskip("pandas")
    result = acks_1()
    table = proofka.frame(result, result)
    assert len(table) == 2 * len(result.verdicts)
    lost = table[table["property"] == "no-acked-loss"].iloc[0]
    assert (lost["status"], lost["complete_to"]) == ("violated", 1)
    assert lost["smallest_fault_sets"].startswith("1 leader-move; ")
    assert lost["id"] == result.verdict_on("no-acked-loss").id


def test_an_assertion_fails_with_the_trace_of_a_violation() -> None:
    with pytest.raises(AssertionError) as failure:
        assert_holds(ROOT / "examples" / "acks-1.yaml", "no-skip", "no-acked-loss")
    first, *steps = str(failure.value).splitlines()
    assert re.match(
        r"no-acked-loss is violated by 1 leader-move \(and by \d+ other smallest fault sets\); verdict", first
    )
    assert any("the application sends record 1" in step for step in steps)
    with pytest.raises(TypeError, match="needs the name of a property"):
        assert_holds(ROOT / "examples" / "acks-1.yaml")
    with pytest.raises(proofka.DeploymentError):
        assert_holds(ROOT / "examples" / "acks-1.yaml", "loss")


def test_a_pass_with_known_defects_fails_only_where_the_test_says_so() -> None:
    verdict = next(one for one in acks_1().verdicts if one.status is proofka.Status.HOLDS)
    named = dataclasses.replace(verdict, known_defects=(KnownDefect("KAFKA-1", "Kafka", "4.2", "none", "a page"),))
    assert [*_against(named, accepts_known_defects=True)] == []
    (line,) = _against(named, accepts_known_defects=False)
    assert line.endswith("which lacks known defects of these releases: KAFKA-1 (Kafka)")
    vacuous = dataclasses.replace(verdict, status=proofka.Status.VACUOUS)
    assert next(_against(vacuous, accepts_known_defects=True)).startswith(f"{verdict.property} is vacuous: ")
    unknown = dataclasses.replace(verdict, status=proofka.Status.UNKNOWN)
    assert next(_against(unknown, accepts_known_defects=True)).startswith(f"{verdict.property} is not decided: ")


def test_pytest_gives_the_assertion_to_tests_as_a_fixture(tmp_path: Path) -> None:
    file = ROOT / "examples" / "acks-1.yaml"
    (tmp_path / "test_it.py").write_text(
        f"def test_good(assert_holds):\n    assert_holds({str(file)!r}, 'no-skip')\n"
        f"def test_bad(assert_holds):\n    assert_holds({str(file)!r}, 'no-acked-loss')\n",
        encoding="utf-8",
    )
    plugin = [] if any(one.name == "proofka" for one in entry_points(group="pytest11")) else ["-p", PLUGIN]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plugin, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment())
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "E       AssertionError: no-acked-loss is violated by 1 leader-move" in done.stdout
    assert "  1. " in done.stdout
