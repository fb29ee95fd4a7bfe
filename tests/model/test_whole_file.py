"""A file is written whole, or what was there before is there still."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from proofka.model.input import whole_file
from proofka.model.input.whole_file import write_whole

CAUGHT = "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)); signal.signal(signal.SIGXFSZ, signal.SIG_IGN)"


def alone(folder: Path, *names: str) -> bool:
    return sorted(one.name for one in folder.iterdir()) == sorted(names)


def test_written_and_written_again(tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    write_whole(file, "ä\n")
    assert file.read_bytes() == "ä\n".encode()
    write_whole(file, b"\x00")
    assert file.read_bytes() == b"\x00"
    assert alone(tmp_path, "r.json")


def test_names_that_are_no_text_stay_json(tmp_path: Path) -> None:
    write_whole(tmp_path / "r.json", '"\udcff"')
    assert (tmp_path / "r.json").read_bytes() == b'"\\udcff"'


def test_a_disk_that_is_full_keeps_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    file.write_text("good")
    program = (
        f"import resource, signal, pathlib; {CAUGHT}; from proofka.model.input.whole_file import write_whole\n"
        f"try: write_whole(pathlib.Path({str(file)!r}), b'x' * 9999)\n"
        "except OSError as error: print(error.filename)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(file)
    assert file.read_text() == "good"
    assert alone(tmp_path, "r.json")


def test_a_killed_writer_leaves_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    file.write_text("good")
    program = (
        "import os, pathlib; from proofka.model.input import whole_file\n"
        "whole_file.os.fsync = lambda _: os.kill(os.getpid(), 9)\n"
        f"whole_file.write_whole(pathlib.Path({str(file)!r}), b'new')"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -9
    assert file.read_text() == "good"


def test_an_interrupt_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(whole_file.os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "r.json", "new")
    assert alone(tmp_path)


def test_modes(tmp_path: Path) -> None:
    """An existing file keeps its mode; a new file has the mode that the umask leaves."""
    old = tmp_path / "old"
    old.write_text("old")
    old.chmod(0o604)
    before = os.umask(0o027)
    try:
        write_whole(old, "new")
        write_whole(tmp_path / "new", "new")
    finally:
        os.umask(before)
    assert stat.S_IMODE(old.stat().st_mode) == 0o604
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    for name, target in (("one", "there/old"), ("two", "there/none")):
        (tmp_path / name).symlink_to(tmp_path / target)
    (tmp_path / "there" / "old").write_text("old")
    for name in ("one", "two"):
        write_whole(tmp_path / name, "new")
        assert (tmp_path / name).is_symlink()
        assert (tmp_path / name).read_text() == "new"
    assert alone(tmp_path / "there", "old", "none")


def test_a_pipe_is_written_into(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    heard: list[bytes] = []
    reader = threading.Thread(target=lambda: heard.append(pipe.read_bytes()))
    reader.start()
    write_whole(pipe, "through")
    reader.join(10)
    assert heard == [b"through"]
    write_whole(Path(os.devnull), "nowhere")
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="there is no such file here")
def test_standard_output_goes_on_where_it_leads(tmp_path: Path) -> None:
    out = tmp_path / "out"
    program = (
        "import pathlib; from proofka.model.input.whole_file import write_whole; print('before')\n"
        "write_whole(pathlib.Path('/dev/stdout'), 'between\\n'); print('after')"
    )
    with out.open("w") as stream:
        subprocess.run([sys.executable, "-c", program], stdout=stream, check=True)
    assert out.read_text() == "before\nbetween\nafter\n"


@pytest.mark.parametrize("number", whole_file.IN_PLACE)
def test_a_folder_that_takes_no_new_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    file = tmp_path / "old"
    file.write_text("old")

    def refuse(*_: object) -> int:
        raise OSError(number, "refused")

    monkeypatch.setattr(whole_file.os, "open", refuse)
    write_whole(file, "new")
    assert file.read_text() == "new"
    with pytest.raises(OSError, match="refused") as refused:
        write_whole(tmp_path / "none", "new")
    assert refused.value.filename == str(tmp_path / "none")


def test_file_without_permission_to_write_stays_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "old"
    file.write_text("old")
    monkeypatch.setattr(whole_file.os, "access", lambda *_: False)
    with pytest.raises(PermissionError) as refused:
        write_whole(file, "new")
    assert refused.value.filename == str(file)
    assert file.read_text() == "old"
    with pytest.raises(IsADirectoryError):
        write_whole(tmp_path, "new")
