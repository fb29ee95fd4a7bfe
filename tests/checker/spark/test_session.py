"""A real Spark session: the driver's interpreter on the executors, silence, and one line where Java is missing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from proofka.checker.spark.session import NoSpark, _patient, check_java, java_version, one_line, spark_session
from tests.checker.test_cli import ROOT

SESSION = """
import signal, sys
from collections.abc import Iterator
from proofka.checker.spark.session import spark_session

def where(batches):
    from proofka import checker
    for batch in batches:
        batch["ran"] = sys.executable + " " + checker.__file__
        yield batch

with spark_session("local[1]") as spark:
    (ran,) = {row.ran for row in spark.range(3).mapInPandas(where, "id long, ran string").collect()}
with spark_session("local[2]") as again:
    assert again.sparkContext.master == "local[2,3]"
    assert again.range(5).count() == 5
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
from proofka import checker
assert ran == sys.executable + " " + checker.__file__, ran
"""


@pytest.mark.parametrize(
    ("said", "line"),
    [
        (
            "[PATH_NOT_FOUND] Path does not exist: file:/a.  \n\nJVM stacktrace:\njava.io.Exception: a",
            "[PATH_NOT_FOUND]",
        ),
        ("\n An error occurred while calling o1.count.\n: org.apache.spark.SparkException: no", "An error occurred"),
        (
            "thrown:\nTraceback (most recent call last):\n  x\n  ValueError: a: b\n\n\tat org.apache.X\n",
            "ValueError: a: b",
        ),
        (
            "Traceback (most recent call last):\n  x\n checker.solver.UnsafeUpdate: no\n",
            "checker.solver.UnsafeUpdate: no",
        ),
        ("", "it does not say why"),
    ],
)
def test_error_of_spark_is_reduced_to_its_most_specific_line(said: str, line: str) -> None:
    found = one_line(said)
    assert found.startswith(line)
    assert found == found.strip()
    assert "\n" not in found


@pytest.mark.parametrize(
    ("master", "patient"),
    [
        ("local", "local[1,3]"),
        ("local[4]", "local[4,3]"),
        ("local[*]", "local[*,3]"),
        ("local[2,9]", "local[2,9]"),
        ("spark://host:7077", "spark://host:7077"),
    ],
)
def test_a_task_whose_process_dies_is_tried_again_on_one_machine_too(master: str, patient: str) -> None:
    assert _patient(master) == patient


@pytest.mark.parametrize("master", ["local[0]", "local[two]", "local[]", "nonsense"])
def test_an_invalid_master_is_refused_before_java_starts(has_java: None, master: str) -> None:
    with pytest.raises(NoSpark, match="is no Spark master"), spark_session(master):
        pass


@pytest.fixture
def has_java() -> None:
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    try:
        check_java()
    except NoSpark as missing:
        pytest.skip(str(missing))


@pytest.mark.slow
def test_sessions_run_this_interpreter_and_are_silent(has_java: None) -> None:
    """Two, one after the other, in a process whose PATH and folder lead to no Python of ours."""
    done = subprocess.run([sys.executable, "-c", SESSION], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def java_saying(folder: Path, text: str) -> Path:
    home = folder / "java"
    (home / "bin").mkdir(parents=True)
    java = home / "bin" / "java"
    java.write_text(f"#!/bin/sh\necho '{text}' >&2\n")
    java.chmod(0o755)
    return home


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('openjdk version "25" 2025-09-16', 25),
        ('java version "1.8.0_402"', 8),
        ("Picked up JAVA_TOOL_OPTIONS: -Dx=1", None),
    ],
)
def test_versions(tmp_path: Path, text: str, found: int | None) -> None:
    assert java_version(str(java_saying(tmp_path, text) / "bin" / "java")) == found


@pytest.mark.parametrize(
    ("text", "words"),
    [('openjdk version "11.0.2" 2019-01-15', "is Java 11"), ("no", "cannot be asked for its version")],
)
def test_java_that_is_too_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, words: str) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java_saying(tmp_path, text)))
    said = complaint()
    assert words in said
    assert "Spark needs Java 17 or later" in said
    assert "apt install" in said


def test_no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert f"JAVA_HOME={tmp_path} holds none" in complaint()
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "there is none here" in complaint()


def complaint() -> str:
    with pytest.raises(NoSpark) as caught:
        check_java()
    assert "\n" not in str(caught.value)
    return str(caught.value)


SECONDS_TO_END = 20
INTERRUPTED = """
import signal, time, types
import pyspark.java_gateway as gateway
from proofka.checker.spark.session import spark_session

def sleep(seconds):
    "Java was begun, and has not said yet where it listens."
    time.sleep(0.3)
    signal.raise_signal(signal.SIGINT)

gateway.time = types.SimpleNamespace(sleep=sleep)
try:
    with spark_session("local[1]"):
        print("begun")
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")
def test_java_that_was_still_beginning_does_not_outlive_an_interrupt(has_java: None) -> None:
    """Java listened without end, because Python had deleted the folder for Java's address."""
    run = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED], cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert run.communicate(timeout=120)[0] == "interrupted\n"
    until = time.monotonic() + SECONDS_TO_END
    while left := [one for one in Path("/proc").glob("[0-9]*") if session_of(one) == run.pid]:
        if time.monotonic() > until:
            os.killpg(run.pid, signal.SIGKILL)
            pytest.fail(f"{len(left)} processes are left")
        time.sleep(0.1)


def session_of(process: Path) -> int:
    try:
        state, _, _, session, *_ = (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return 0 if state in "ZX" else int(session)
