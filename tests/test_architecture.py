"""The house rules of the design, section 1: which way imports point, and what a file may be."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("model", "properties", "checker", "reports")
FILES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
SHIPPED = sorted(
    path
    for package in PACKAGES
    for path in (ROOT / package).rglob("*")
    if path.suffix in {".py", ".json", ".csv", ".j2", ".md", ".yaml"}
)

MAY_IMPORT = {
    "model": {"model"},
    "properties": {"model", "properties"},
    "reports": {"model", "properties", "reports"},
    "checker": {"model", "properties", "checker"},
}
SEES_ALL = ROOT / "checker" / "cli"
BANNED_NAMES = ("utils", "util", "common", "manager", "helpers")
MAX_LINES = 500
HEAVY = (
    "z3",
    "numba",
    "llvmlite",
    "numpy",
    "matplotlib",
    "pyspark",
    "jsonschema",
    "jinja2",
    "networkx",
    "ruamel",
    "reportlab",
)


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imported(path: Path) -> Iterator[str]:
    """The top-level package of every import in a file, wherever it stands in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0] if not node.level else path.relative_to(ROOT).parts[0]


def test_there_are_files() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in FILES} == set(PACKAGES)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_imports_point_one_way(path: Path) -> None:
    if path.is_relative_to(SEES_ALL):
        return
    package = path.relative_to(ROOT).parts[0]
    forbidden = set(PACKAGES) - MAY_IMPORT[package]
    assert not forbidden.intersection(imported(path))


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_files_are_named_for_what_they_hold_and_stay_small(path: Path) -> None:
    assert not any(part in BANNED_NAMES for part in path.relative_to(ROOT).with_suffix("").parts)
    assert "manager" not in path.stem
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_LINES


@pytest.mark.parametrize("path", SHIPPED, ids=name_of)
def test_nothing_depends_on_one_machine(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert "../shared" not in text
    assert not re.search(r"(?<![\w.$/-])/(?:work|home|root|Users)/\w", text)


def test_the_command_line_starts_without_what_is_heavy() -> None:
    program = "import sys, checker.cli; print(*{name.partition('.')[0] for name in sys.modules})"
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not set(HEAVY).intersection(run.stdout.split())
