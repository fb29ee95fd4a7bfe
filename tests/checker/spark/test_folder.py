"""An audit's folder: nobody else's files, no other audit at the same time, nothing half-written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from proofka.checker.spark.exploring import Limits
from proofka.checker.spark.folder import MARKER, FolderTaken, claimed
from tests.checker.test_cli import ROOT


def test_a_new_folder_and_again(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    with claimed(out) as folder:
        folder.sign("question", "signature")
    with claimed(out) as folder:
        assert folder.signatures() == {"question": "signature"}


def test_files_that_are_no_signatures_are_ignored(tmp_path: Path) -> None:
    with claimed(tmp_path / "out") as folder:
        folder.sign("one", "alone-one")
        folder.sign("other", "second")
        (folder.signed / "README").touch()
        (signed,) = (file for file in folder.signed.iterdir() if file.name.startswith("other"))
        signed.rename(signed.with_name(signed.name.replace("second", "alone-one")))
        assert folder.signatures() == {"one": "alone-one"}


def test_an_empty_folder_is_as_good_as_none(tmp_path: Path) -> None:
    with claimed(tmp_path) as folder:
        assert folder.explored.is_dir()


def other_files(folder: Path) -> Path:
    (folder / "thesis.txt").write_text("years of work")
    return folder


def a_file(folder: Path) -> Path:
    return other_files(folder) / "thesis.txt"


def another_version(folder: Path) -> Path:
    (folder / MARKER).write_text('{"proofka": "audit", "format": 99}')
    return folder


def a_foreign_marker(folder: Path) -> Path:
    (folder / MARKER).write_text("[1, 2]")
    return folder


def no_json(folder: Path) -> Path:
    (folder / MARKER).write_text("audit")
    return folder


@pytest.mark.parametrize(
    ("taken", "words"),
    [
        (a_file, "is no folder"),
        (other_files, "holds files that no audit wrote"),
        (another_version, "another version's audit"),
        (a_foreign_marker, "no audit's"),
        (no_json, "no audit's"),
    ],
)
def test_files_of_other_programs_are_left_alone(tmp_path: Path, taken: object, words: str) -> None:
    out = taken(tmp_path)  # type: ignore[operator]
    before = {file: file.read_bytes() for file in tmp_path.rglob("*")}
    with pytest.raises(FolderTaken, match=words) as caught, claimed(out):
        pass
    assert str(caught.value).startswith(f"{out}: ")
    assert {file: file.read_bytes() for file in tmp_path.rglob("*")} == before


HOLD = """
import sys
from pathlib import Path
from proofka.checker.spark.folder import claimed
with claimed(Path(sys.argv[1])):
    print("claimed", flush=True)
    sys.stdin.read()
"""


def test_two_audits_at_once(tmp_path: Path) -> None:
    """The second is refused as long as the first lives, also if that dies without a word."""
    out = tmp_path / "out"
    program = [sys.executable, "-c", HOLD, str(out)]
    with subprocess.Popen(program, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "claimed\n"
        with pytest.raises(FolderTaken, match="another audit is writing into it"), claimed(out):
            pass
        other.kill()
        other.wait()
        with claimed(out):
            pass


def test_a_claim_that_was_cut_short(tmp_path: Path) -> None:
    """After the marker was made and before it was written."""
    (tmp_path / MARKER).touch()
    with claimed(tmp_path):
        pass
    with claimed(tmp_path):
        pass


def test_half_written_tables_are_deleted(tmp_path: Path) -> None:
    with claimed(tmp_path) as folder:
        (folder.explored / ".half").write_text("PAR1")
        (folder.explored / "whole.parquet").touch()
    with claimed(tmp_path) as folder:
        assert [file.name for file in folder.explored.iterdir()] == ["whole.parquet"]


def test_the_best_that_is_known_of_a_system(tmp_path: Path) -> None:
    limits = Limits(seconds=1.0)
    with claimed(tmp_path) as folder:
        assert folder.found(["a"], limits) == folder.failed(["a"]) == {}
        whole, limited, failed = folder.files_of("a", limits)
        failed.touch()
        assert (folder.found(["a"], limits), folder.failed(["a", "b"])) == ({}, {"a": failed})
        limited.touch()
        assert folder.found(["a", "b"], limits) == {"a": limited}
        assert folder.found(["a"], Limits(seconds=2.0)) == {}
        whole.touch()
        assert folder.found(["a"], limits) == folder.found(["a"], Limits()) == {"a": whole}


def test_an_audit_that_came_to_nothing_leaves_nothing(tmp_path: Path) -> None:
    """Former files stay."""
    new, old = tmp_path / "new", tmp_path / "old"
    old.mkdir()
    for out in (new, old):
        with pytest.raises(ZeroDivisionError), claimed(out):
            raise ZeroDivisionError
    assert not new.exists()
    assert (old / MARKER).exists()
    with claimed(new) as folder:
        folder.sign("question", "signature")
    assert new.exists()
