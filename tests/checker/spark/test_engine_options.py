"""An error in the options of an engine is one line, printed before the exploration."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.checker.test_cli import ROOT, fails_in_one_line, proofka

SMALL = ("published", "kip-320", "--replicas", "2")
WITHOUT = """
import sys
for name in {absent!r}:
    sys.modules[name] = None
from proofka.checker import cli
cli.main()
"""


@pytest.mark.parametrize("command", [SMALL, ("check", ROOT / "examples" / "acks-1.yaml")], ids=["published", "check"])
def test_options_of_spark_alone(command: tuple[str | Path, ...]) -> None:
    fails_in_one_line(proofka(*command, "--master", "local[1]"), "--master: needs --engine spark or --engine auto")
    fails_in_one_line(proofka(*command, "--engine", "flink"), "'--engine': 'flink' is not one of")


@pytest.mark.parametrize("engine", ["spark", "auto"])
def test_a_cluster_needs_a_folder_that_all_reach(engine: str) -> None:
    for master in ("spark://host:7077", "yarn", "k8s://https://host"):
        said = f"--master {master}: name a folder that all executors reach, with --checkpoint"
        fails_in_one_line(proofka(*SMALL, "--engine", engine, "--master", master), said)


@pytest.mark.parametrize("absent", [["pyspark"], ["pyarrow"], ["pyspark", "pyarrow"]])
def test_spark_is_not_installed(absent: list[str]) -> None:
    program = WITHOUT.format(absent=absent)
    command = [sys.executable, "-c", program, *SMALL, "--engine", "spark"]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == 'Spark is not installed: pip install "proofka[spark]"\n'


def test_no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    fails_in_one_line(proofka(*SMALL, "--engine", "spark"), "Spark needs Java", f"JAVA_HOME={tmp_path} holds none")
    outgrown = ("published", "kip-320", "--engine", "auto", "--memory", "1M")
    fails_in_one_line(proofka(*outgrown), "Spark needs Java", "apt install")
    enough = proofka(*SMALL, "--engine", "auto")
    assert (enough.exit_code, enough.stderr) == (0, "")


def test_the_folder_of_another_question(tmp_path: Path) -> None:
    """Every engine refuses the folder before it explores, also an engine that would perhaps not need the folder."""
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    folder = ("--engine", "auto", "--checkpoint", tmp_path / "work")
    assert proofka(*SMALL, *folder).exit_code == 0
    said = "is the checkpoint of another question; name another folder"
    fails_in_one_line(proofka("published", "kip-101", *folder), str(tmp_path), said)
    snapshots = ("--checkpoint", tmp_path / "snapshots")
    assert proofka(*SMALL, *snapshots).exit_code == 0
    fails_in_one_line(proofka(*SMALL, "--engine", "auto", *snapshots), "holds no checkpoint; name another folder")
    fails_in_one_line(proofka(*SMALL, *folder[2:]), "holds no checkpoint; name another folder")
