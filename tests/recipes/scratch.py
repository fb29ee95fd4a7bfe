"""A copy of the project in which a test follows a recipe of CONTRIBUTING.md, and the files that the recipe lists."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
MOST_FILES = 6
"""The most files that a recipe may need."""

_COPIED = ("model", "properties", "checker", "reports", "scripts", "tests", "docs", "examples", "pyproject.toml")
_LEFT_OUT = shutil.ignore_patterns("golden", "kept", "recipes", "claims", "findings")
_HEADING = re.compile(r"^### ", re.MULTILINE)
_ITEM = re.compile(r"^\d+\. `([^`]+)`", re.MULTILINE)
_EVERY = "needs these files:\n\n"


def files_of(recipe: str, text: str | None = None) -> tuple[str, ...]:
    """Return the files, or folders for a new file, that CONTRIBUTING.md lists in the recipe "Add ...".

    The list follows the words "needs these files" and ends with the numbered items.
    """
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8") if text is None else text
    (section,) = [part for part in _HEADING.split(text) if part.startswith(f"{recipe}\n")]
    return tuple(_ITEM.findall(section.partition(_EVERY)[2].partition("\n\n")[0]))


def is_at(file: str, place: str) -> bool:
    """Tell whether a file is the listed file, or stands in the listed folder itself."""
    return file == place or f"{file.rpartition('/')[0]}/" == place


@dataclass
class Scratch:
    """A copy of the project, and the files that were changed in the copy.

    ``without``: a listed place whose file stays as it is, as if the recipe left the file out.
    """

    folder: Path
    without: str = ""
    touched: set[str] = field(default_factory=set)

    def insert(self, file: str, before: str, text: str) -> None:
        """Insert text in front of the only place of ``before``; at the end of the file if ``before`` is empty."""
        path = self.folder / file
        old = path.read_text(encoding="utf-8")
        assert not before or old.count(before) == 1, (file, before)
        self.write(file, old.replace(before, text + before) if before else old + text)

    def write(self, file: str, text: str) -> None:
        """Write a file, new or changed."""
        self.touched.add(file)
        if not is_at(file, self.without):
            (self.folder / file).write_text(text, encoding="utf-8")

    def follows(self, listed: tuple[str, ...]) -> bool:
        """Tell whether the touched files are those that the recipe lists: one for each item, and no other."""
        places = [[file for file in self.touched if is_at(file, place)] for place in listed]
        return all(len(found) == 1 for found in places) and len(self.touched) == len(listed)

    def passes(self, *tests: str) -> bool:
        """Run test files of the copy, or single tests, in a process of their own."""
        program = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", *tests]
        run = subprocess.run(program, cwd=self.folder, capture_output=True, text=True, check=False)
        self.output = run.stdout + run.stderr
        return run.returncode == 0


def copy_to(folder: Path, without: str = "") -> Scratch:
    """Copy the project without its generated files of text; machine code of Python is copied too, to save time."""
    for name in _COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(
                source, folder / name, ignore=_LEFT_OUT if name == "docs" else shutil.ignore_patterns("golden")
            )
        else:
            shutil.copy2(source, folder / name)
    return Scratch(folder, without)


def check_sufficient(
    folder: Path, add: Callable[[Scratch], None], listed: tuple[str, ...], *, tests: tuple[str, ...]
) -> None:
    """Assert that tests pass in a copy to which ``add`` added something, and that the listed files were changed."""
    scratch = copy_to(folder / "copy")
    add(scratch)
    assert scratch.follows(listed), (listed, scratch.touched)
    assert len(listed) <= MOST_FILES
    assert scratch.passes(*tests), scratch.output


def check_needed(folder: Path, add: Callable[[Scratch], None], place: str, *, tests: tuple[str, ...]) -> None:
    """Assert that a test fails in a copy whose file at ``place`` stays as it is."""
    scratch = copy_to(folder / "copy", without=place)
    add(scratch)
    assert not scratch.passes(*tests)
