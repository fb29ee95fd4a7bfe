"""The cache on disk: a right entry is used, any other is made again, and no entry disturbs a run."""

from __future__ import annotations

import errno
import logging
import multiprocessing
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import z3
from typer.testing import CliRunner

from proofka.checker.cli import app
from proofka.checker.disk_cache import ABANDONED_AFTER, DiskCache
from proofka.checker.kernel import machine_code
from proofka.checker.kernel.canonical import Canonical
from proofka.checker.kernel.layout import Layout, lay_out
from proofka.checker.kernel.machine_code import FAST, QUICK, key_of
from proofka.checker.kernel.native import Kernel, compile_kernel, load_kernel, optimise
from proofka.checker.kernel.program import program
from proofka.checker.user_cache import VARIABLE
from proofka.model.language import Action, Permutation, Ranked, Variable
from tests.checker.small_disk import small_disk
from tests.checker.test_exploration import action

ROOT = Path(__file__).parents[2]
X, Y = Variable("x", 0, 9, 0), Variable("y", -1, 5, 0)
COUNT = action("count", X.term < 9, {X: X.term + 1})
RESET = action("reset", z3.And(X.term > 3, Y.term < 5), {X: z3.IntVal(0), Y: Y.term + 1})
ACTIONS = (COUNT, RESET)
FAR = X.term == 9


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "kept"
    monkeypatch.setenv(VARIABLE, str(place))
    return place


def made(*actions: Action, far: z3.BoolRef = FAR, optimised: bool = False) -> Kernel:
    numbered = list(enumerate(actions or ACTIONS))
    return compile_kernel(lay_out([X, Y]), {"step": numbered}, [far], optimised=optimised)


def behaves(kernel: Kernel) -> bool:
    """Tell whether the machine code expands x=4, y=2 as the actions say."""
    layout: Layout = lay_out([X, Y])
    found = {tuple(layout.unpack(row[:-1]).items()) for row in kernel.successors("step", layout.pack({"x": 4, "y": 2}))}
    wanted = {tuple(layout.unpack(layout.pack(state)).items()) for state in ({"x": 5, "y": 2}, {"x": 0, "y": 3})}
    return found == wanted and kernel.inspect(layout.pack({"x": 9, "y": 0})) == 1


def entries(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.kept"))


def test_code_is_made_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert behaves(made())
    assert len(entries(folder)) == 1
    monkeypatch.setattr("proofka.checker.kernel.native.machine_code", None)
    monkeypatch.setattr("proofka.checker.kernel.native.emit", None)
    assert behaves(made())


def test_better_code_that_is_kept_is_used_from_the_beginning(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = optimise(made())
    assert len(entries(folder)) == 2
    (folder / f"{key_of(kernel.written.digest, QUICK)}.kept").unlink()
    monkeypatch.setattr("proofka.checker.kernel.native.machine_code", None)
    assert behaves(made())
    assert behaves(optimise(made()))


def test_another_process_finds_the_machine_code_of_the_text(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = load_kernel(made().source, {"step": 2}, ["inspect"])
    monkeypatch.setattr("proofka.checker.kernel.native.machine_code", None)
    assert behaves(load_kernel(first.source, {"step": 2}, ["inspect"]))


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content[:-1],
        lambda content: content[:-1] + bytes([content[-1] ^ 1]),
        lambda content: content[:40],
        lambda content: b"",
        lambda content: b"something else " + content,
    ],
    ids=["cut off", "a bit", "only a head", "empty", "another format"],
)
def test_a_damaged_entry_is_made_again(folder: Path, change: object, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "proofka.cache")
    made()
    (entry,) = entries(folder)
    whole = entry.read_bytes()
    assert callable(change)
    entry.write_bytes(change(whole))
    assert behaves(made())
    assert "damaged" in caplog.text
    assert entry.read_bytes() == whole


def test_an_entry_under_another_name_is_not_used(folder: Path) -> None:
    """Its code is whole, but of another system."""
    made()
    (entry,) = entries(folder)
    other = made(COUNT)
    (second,) = (one for one in entries(folder) if one != entry)
    entry.write_bytes(second.read_bytes())
    assert behaves(made())
    assert other.most_successors == {"step": 1}


def test_an_entry_that_others_may_write_is_not_used(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "proofka.cache")
    made()
    (entry,) = entries(folder)
    entry.chmod(0o666)
    assert behaves(made())
    assert "another user" in caplog.text
    assert entry.stat().st_mode & 0o777 == 0o600


def test_written_files_are_readable_by_their_user_only(folder: Path) -> None:
    made()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert entries(folder)[0].stat().st_mode & 0o777 == 0o600


def _compile_and_say(barrier: object, answers: object) -> None:
    barrier.wait()  # type: ignore[attr-defined]
    answers.put(behaves(made()))  # type: ignore[attr-defined]


def test_two_processes_at_once(folder: Path) -> None:
    context = multiprocessing.get_context("fork")
    barrier, answers = context.Barrier(2), context.Queue()
    both = [context.Process(target=_compile_and_say, args=(barrier, answers)) for _ in range(2)]
    for one in both:
        one.start()
    assert [answers.get(timeout=60) for _ in both] == [True, True]
    for one in both:
        one.join()
    assert len(list(folder.iterdir())) == 1


def test_two_threads_at_once(folder: Path) -> None:
    cache, keys = DiskCache(folder), [str(number % 3) for number in range(60)]
    threads = [threading.Thread(target=cache.write, args=(key, b"code of " + key.encode())) for key in keys]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert {cache.read(key) for key in keys} == {b"code of 0", b"code of 1", b"code of 2"}
    assert len(list(folder.iterdir())) == 3


def test_a_folder_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "file" / "below"))
    assert behaves(made())


def test_a_folder_that_cannot_be_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **more: object) -> int:
        raise OSError(errno.EROFS, "read-only file system")

    monkeypatch.setattr("proofka.checker.disk_cache.Path.touch", refuse)
    assert behaves(made())
    assert not entries(folder)


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with small_disk(tmp_path / "disk", "4k") as place:
        monkeypatch.setenv(VARIABLE, str(place))
        (place / "other").write_bytes(bytes(4_096))
        assert behaves(made())
        assert [file.name for file in place.iterdir()] == ["other"]


@pytest.mark.parametrize(
    ("named", "reason"), [("file", "is not a folder"), ("file/below", "is not a folder"), ("/proc/nope", ": no such")]
)
def test_a_check_tells_once_that_nothing_is_kept(tmp_path: Path, named: str, reason: str) -> None:
    (tmp_path / "file").write_text("")
    place = tmp_path / named
    command = [sys.executable, "-m", "proofka", "check", "examples/orders.yaml", "--faults", "0", "--quiet"]
    ran = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env={**os.environ, VARIABLE: str(place)}, check=False
    )
    assert ran.returncode == 4, ran.stderr  # without faults the witnesses are not reached, with a cache or without
    (line,) = ran.stderr.splitlines()
    assert line.startswith(f"no cache: {place}") and reason in line and line.endswith(" (PROOFKA_CACHE)")


def test_a_check_without_a_folder_for_compiled_loops_tells_so(tmp_path: Path) -> None:
    """A program of the system runs for users without a home, such as nobody, in whose containers nothing is kept."""
    (tmp_path / "file").write_text("")
    place = tmp_path / "file" / "below"
    environment = {**os.environ, "XDG_CACHE_HOME": str(place), VARIABLE: "off", "TMPDIR": str(tmp_path)}
    program = (
        "from proofka.checker.cli.no_cache import one_line_without_cache\n"
        "with one_line_without_cache():\n"
        "    from proofka.checker.kernel.components import *\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, env=environment, check=False
    )
    assert ran.returncode == 0, ran.stderr
    (line,) = ran.stderr.splitlines()
    assert line.startswith(f"no cache: {place}") and line.endswith("compiles its loops anew (XDG_CACHE_HOME)")
    assert [file.name for file in tmp_path.iterdir()] == ["file"], "the temporary folder is removed"


def test_off(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "off")
    assert behaves(made())
    assert not folder.exists()


def test_the_oldest_used_go_first(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path, most_bytes=40_000)
    for number in range(3):
        cache.write(f"k{number}", bytes(10_000))
        os.utime(tmp_path / f"k{number}.kept", (number, number))
    assert cache.read("k0") is not None, "used just now"
    cache.write("k3", bytes(10_000))
    assert {file.stem for file in tmp_path.glob("*.kept")} == {"k0", "k3"}
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) <= 40_000


def test_files_of_a_killed_process_are_removed(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path)
    old, new = tmp_path / "a-1-1.new", tmp_path / "b-2-2.new"
    for file in (old, new):
        file.write_bytes(b"half")
    os.utime(old, (0, new.stat().st_mtime - ABANDONED_AFTER - 1))
    cache.write("c", b"whole")
    assert not old.exists()
    assert new.exists()


RANKED = Ranked("x", (X,), X)
EXCHANGE = Permutation("exchange", {X: Y, Y: X})


@pytest.mark.parametrize(
    "changed",
    [
        {"actions": (action("count", X.term < 8, {X: X.term + 1}), RESET)},
        {"actions": (action("count", X.term < 9, {X: X.term + 2}), RESET)},
        {"actions": (action("count", X.term < 9, {Y: X.term + 1}), RESET)},
        {"actions": (RESET, COUNT)},
        {"actions": (COUNT,)},
        {"labels": 7},
        {"group": "kill"},
        {"asked": "clocks_0"},
        {"far": X.term == 8},
        {"far": z3.BoolVal(False)},
        {"variables": (Variable("x", 0, 10, 0), Y)},
        {"variables": (Variable("x", 0, 200, 0), Y)},
        {"variables": (X, Variable("y", -2, 5, 0))},
        {"canonical": Canonical((RANKED,))},
        {"canonical": Canonical((Ranked("x", (X,), X, reserved=1),))},
        {"canonical": Canonical((), (EXCHANGE,))},
        {"canonical": Canonical((), (Permutation("turn", {}, {X: {0: 1, 1: 0}}),))},
    ],
)
def test_different_systems_have_different_keys(changed: dict[str, object]) -> None:
    def digest(
        actions: tuple[Action, ...] = ACTIONS,
        labels: int = 0,
        group: str = "step",
        asked: str = "inspect",
        far: z3.BoolRef = FAR,
        variables: tuple[Variable, ...] = (X, Y),
        canonical: Canonical | None = None,
    ) -> bytes:
        groups = {group: [(labels + number, one) for number, one in enumerate(actions)]}
        return program(lay_out(variables), groups, {asked: [far]}, canonical).digest()

    assert digest() == digest()
    assert digest(**changed) != digest()  # type: ignore[arg-type]


def test_the_order_of_arguments_is_not_part_of_the_key() -> None:
    """Z3 orders them by what else it has worked on."""
    ways = [
        action("reset", z3.And(*guard), {X: z3.IntVal(0)})
        for guard in ((X.term > 3, Y.term < 5), (Y.term < 5, X.term > 3))
    ]
    first, second = (program(lay_out([X, Y]), {"step": [(0, one)]}, {}, None).digest() for one in ways)
    assert first == second
    smaller, larger = (
        program(lay_out([X, Y]), {}, {"inspect": [term]}, None).digest() for term in (X.term < Y.term, Y.term < X.term)
    )
    assert smaller != larger


@pytest.mark.parametrize("circumstance", range(6))
def test_another_generator_version_or_processor_has_another_key(
    circumstance: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = key_of(b"digest", QUICK)
    known = list(machine_code._circumstances())
    known[circumstance] += "+"
    monkeypatch.setattr(machine_code, "_circumstances", lambda: tuple(known))
    assert key_of(b"digest", QUICK) != before
    assert key_of(b"digest", FAST) != key_of(b"digest", QUICK)


def test_cache_command_shows_and_empties_the_cache(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    loops = tmp_path / "user" / "proofka" / "kernel" / "loop"
    loops.parent.mkdir(parents=True)
    loops.write_bytes(bytes(2_000_000))
    made()
    shown = CliRunner().invoke(app, ["cache"])
    assert shown.exit_code == 0
    assert f"{folder}: 1 entries" in shown.output.replace("\n", "")
    assert "2.0 MB" in shown.output
    (folder / "notes.txt").write_text("not ours")
    cleared = CliRunner().invoke(app, ["cache", "--clear"])
    assert cleared.exit_code == 0
    assert [file.name for file in folder.iterdir()] == ["notes.txt"]
    assert str(folder) in cleared.output.replace("\n", "")
    assert loops.exists(), "the variable names a folder, and only that is emptied"
    assert behaves(made())
    monkeypatch.delenv(VARIABLE)
    cleared = CliRunner().invoke(app, ["cache", "--clear"])
    assert str(loops.parent) in cleared.output.replace("\n", "")
    assert not loops.exists()


def test_cache_command_keeps_the_jars_of_real_clusters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv(VARIABLE, raising=False)
    assert "real clusters" not in CliRunner().invoke(app, ["cache"]).output
    jar = tmp_path / "proofka" / "jars" / "org" / "kafka.jar"
    jar.parent.mkdir(parents=True)
    jar.write_bytes(bytes(3_000_000))
    shown = CliRunner().invoke(app, ["cache"]).output
    assert "(jars, nodes, programs; --clear keeps these): 3.0 MB" in shown.replace("\n", "")
    assert CliRunner().invoke(app, ["cache", "--clear"]).exit_code == 0
    assert jar.exists()


def test_the_command_where_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv(VARIABLE, "off")
    assert "not kept (PROOFKA_CACHE=off)" in CliRunner().invoke(app, ["cache"]).output
    assert CliRunner().invoke(app, ["cache", "--clear"]).exit_code == 0


def test_stats_say_where_code_came_from(folder: Path) -> None:
    command = [sys.executable, "-m", "proofka", "published", "kip-320", "--replicas", "2", "--stats"]
    first = subprocess.run(command, capture_output=True, text=True, check=False)
    second = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "machine code made" in first.stderr
    assert "machine code made" not in second.stderr
    assert "machine code found" in second.stderr
