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

_COPIED = (
    "proofka",
    "model",
    "properties",
    "checker",
    "reports",
    "scripts",
    "tests",
    "docs",
    "examples",
    "pyproject.toml",
)
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


def place_of(file: str, listed: tuple[str, ...]) -> str:
    """Return the listed file, or else the listed folder that a file stands in; empty if neither is listed."""
    folder = f"{file.rpartition('/')[0]}/"
    return file if file in listed else folder if folder in listed else ""


@dataclass
class Scratch:
    """A copy of the project, the places that a recipe lists, and the files that were changed in the copy.

    ``without``: a listed place whose file stays as it is, as if the recipe left the file out.
    """

    folder: Path
    listed: tuple[str, ...]
    without: str | None = None
    touched: set[str] = field(default_factory=set)

    def insert(self, file: str, before: str, text: str) -> None:
        """Insert text in front of the only place of ``before``; at the end of the file if ``before`` is empty."""
        if before:
            self.replace(file, before, text + before)
        else:
            self.write(file, (self.folder / file).read_text(encoding="utf-8") + text)

    def replace(self, file: str, old: str, new: str) -> None:
        """Replace the only place of ``old``."""
        text = (self.folder / file).read_text(encoding="utf-8")
        assert text.count(old) == 1, (file, old)
        self.write(file, text.replace(old, new))

    def write(self, file: str, text: str) -> None:
        """Write a file, new or changed."""
        self.touched.add(file)
        if place_of(file, self.listed) != self.without:
            (self.folder / file).write_text(text, encoding="utf-8")

    @property
    def follows(self) -> bool:
        """Tell whether the touched files are those that the recipe lists: one for each item, and no other."""
        return sorted(place_of(file, self.listed) for file in self.touched) == sorted(self.listed)

    def passes(self, *tests: str) -> bool:
        """Run test files of the copy, or single tests, in a process of their own."""
        program = [sys.executable, "-m", "pytest", "-qx", "-p", "no:cacheprovider", "-p", "no:randomly", *tests]
        run = subprocess.run(program, cwd=self.folder, capture_output=True, text=True, check=False)
        self.output = run.stdout + run.stderr
        return run.returncode == 0


def copy_to(folder: Path, listed: tuple[str, ...], without: str | None = None) -> Scratch:
    """Copy the project without its generated files of text; machine code of Python is copied too, to save time."""
    for name in _COPIED:
        source = ROOT / name
        if source.is_dir():
            left_out = _LEFT_OUT if name == "docs" else shutil.ignore_patterns("golden")
            shutil.copytree(source, folder / name, ignore=left_out, symlinks=True)
        else:
            shutil.copy2(source, folder / name)
    return Scratch(folder, listed, without)


def check_sufficient(
    folder: Path, add: Callable[[Scratch], None], listed: tuple[str, ...], *, tests: tuple[str, ...]
) -> None:
    """Assert that tests pass in a copy to which ``add`` added something, and that the listed files were changed."""
    scratch = copy_to(folder / "copy", listed)
    add(scratch)
    assert scratch.follows, (listed, scratch.touched)
    assert len(listed) <= MOST_FILES
    assert scratch.passes(*tests), scratch.output


def check_needed(
    folder: Path, add: Callable[[Scratch], None], listed: tuple[str, ...], *, place: str, tests: tuple[str, ...]
) -> None:
    """Assert that a test fails in a copy whose file at ``place`` stays as it is."""
    scratch = copy_to(folder / "copy", listed, without=place)
    add(scratch)
    assert not scratch.passes(*tests)
