"""Programs that are built once into the user's cache."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from proofka.checker.cluster.built import built, default_folder, run_build
from proofka.checker.cluster.errors import CannotStart


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    yield tmp_path / "cache" / "proofka" / "programs"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "main.txt").write_text("one")
    return folder


def shout(folder: Path) -> None:
    (folder / "made.txt").write_text((folder / "a" / "main.txt").read_text().upper())


def fail(folder: Path) -> None:
    raise AssertionError("built again")


def test_a_program_is_built_once(source: Path, cache: Path) -> None:
    made = built("shouting", {"a": source}, shout)
    assert made.parent == cache == default_folder()
    assert (made / "made.txt").read_text() == "ONE"
    assert built("shouting", {"a": source}, fail) == made


def test_a_changed_source_is_built_anew(source: Path) -> None:
    before = built("shouting", {"a": source}, shout)
    (source / "main.txt").write_text("two")
    after = built("shouting", {"a": source}, shout)
    assert after != before
    assert (after / "made.txt").read_text() == "TWO"


def test_a_build_with_another_release_of_jars_makes_another_program(source: Path) -> None:
    assert built("p", {"a": source}, shout, given=["1.0"]) != built("p", {"a": source}, shout, given=["1.1"])


def test_a_failed_build_leaves_nothing(source: Path, cache: Path) -> None:
    with pytest.raises(AssertionError):
        built("shouting", {"a": source}, fail)
    assert list(cache.iterdir()) == []
    assert (built("shouting", {"a": source}, shout) / "made.txt").exists()


def test_of_two_callers_at_once_the_first_builds(source: Path, cache: Path) -> None:
    builds: list[Path] = []
    both = Barrier(2, timeout=60)

    def count(folder: Path) -> None:
        shout(folder)
        builds.append(folder)

    def ask(_: int) -> Path:
        both.wait()
        return built("shouting", {"a": source}, count)

    with ThreadPoolExecutor(2) as threads:
        made = list(threads.map(ask, range(2)))
    assert (len(builds), made[0]) == (1, made[1])
    assert list(cache.iterdir()) == [made[0]]


def test_installed_libraries_beside_a_source_are_no_part_of_it(source: Path) -> None:
    before = built("p", {"a": source}, shout)
    (source / "node_modules").mkdir()
    (source / "node_modules" / "library.txt").write_text("installed by hand")
    assert built("p", {"a": source}, fail) == before


def test_a_failed_command_of_a_build_tells_its_output(tmp_path: Path) -> None:
    with pytest.raises(CannotStart, match=r"the program needs a compiler(?s:.*)no such module"):
        run_build(
            [sys.executable, "-c", "raise SystemExit('no such module')"], tmp_path, what="the program needs a compiler"
        )


def test_a_command_of_a_build_gets_its_environment(tmp_path: Path) -> None:
    program = "import os; open('seen', 'w').write(os.environ['GOWORK'])"
    run_build([sys.executable, "-c", program], tmp_path, what="", GOWORK="off")
    assert (tmp_path / "seen").read_text() == "off"
