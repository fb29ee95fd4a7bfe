"""The archive of Java's classes: whole or not there, and nothing that Spark depends on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

from proofka.checker.spark.class_archive import ClassArchive, class_archive
from proofka.checker.spark.session import NoSpark, check_java
from tests.checker.test_cli import ROOT

SHARED, MADE = "-XX:SharedArchiveFile=", "-XX:ArchiveClassesAtExit="


def ending(program: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", program])


@pytest.mark.parametrize(("status", "kept"), [(0, True), (1, False)])
def test_class_archive_is_kept_if_java_ended_with_status_0(tmp_path: Path, status: int, kept: bool) -> None:
    archive = ClassArchive(tmp_path, "classes")
    option = archive.java_option()
    assert option.startswith(MADE)
    archive.keep(ending(f"open({option.removeprefix(MADE)!r}, 'w').write('classes'); raise SystemExit({status})"))
    assert [file.name for file in tmp_path.iterdir()] == ["classes-7.jsa"] * kept
    assert archive.java_option().startswith(SHARED if kept else MADE)


def test_archives_of_killed_commands_are_deleted(tmp_path: Path) -> None:
    ended = ending("")
    ended.wait()
    left, written = tmp_path / f"classes-{ended.pid}.new", tmp_path / f"classes-{os.getpid()}.new"
    for file in (left, written, tmp_path / "other.new"):
        file.touch()
    ClassArchive(tmp_path, "classes").clear()
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted([written.name, "other.new"])


def test_a_java_that_leaves_none_does_no_harm(tmp_path: Path) -> None:
    archive = ClassArchive(tmp_path, "classes")
    archive.keep(ending(""))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("cache", ["/dev/null", "with a space"])
def test_no_archive_where_none_can_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: str) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / cache))
    assert class_archive(Path(sys.executable)) is None


def test_truncated_class_archive_is_ignored(tmp_path: Path) -> None:
    archive = ClassArchive(tmp_path, "classes")
    (tmp_path / "classes-8.jsa").write_text("classes")
    assert archive.kept() is None
    (tmp_path / "classes-8.jsa").write_text("classes!")
    assert archive.kept() == tmp_path / "classes-8.jsa"
    archive.forget()
    assert archive.kept() is None


def test_another_spark_has_another_class_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "spark" / "jars").mkdir(parents=True)
    usual = class_archive(Path(sys.executable))
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "spark"))
    other = class_archive(Path(sys.executable))
    assert usual is not None
    assert other is not None
    assert usual.name != other.name


@pytest.mark.slow
def test_sessions_with_every_kind_of_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first leaves one, the second takes it; one that is cut off or none at all is passed over."""
    try:
        java = check_java()
    except NoSpark as missing:
        pytest.skip(str(missing))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    archive = class_archive(java)
    assert archive is not None

    def count() -> None:
        program = (
            "from proofka.checker.spark.session import spark_session\n"
            "with spark_session('local[1]') as s: s.range(9).count()"
        )
        run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
        assert (run.returncode, run.stdout, run.stderr) == (0, "", "")

    count()
    place = archive.kept()
    assert place is not None
    whole = place.read_bytes()
    assert len(whole) > 1 << 20
    count()
    assert place.read_bytes() == whole
    for damaged in (whole[: len(whole) // 2], b"no archive"):
        archive.forget()
        place.with_name(f"{archive.name}-{len(damaged)}.jsa").write_bytes(damaged)
        assert archive.kept() is not None
        count()
