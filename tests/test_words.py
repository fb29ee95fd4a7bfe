"""The words of docstrings and of names of tests: the rules of CONTRIBUTING.md that a program can check."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("proofka", "model", "properties", "checker", "reports", "scripts", "tests", "benchmarks")

_WORD = re.compile("[A-Za-z]+")

QUESTIONS = frozenset(_WORD.findall("what who whom whose how whether when which where why"))
"""Words with which no docstring begins."""

NO_VERBS = frozenset(
    _WORD.findall("the a an every each all both it that this these those one two three some no nothing")
)
"""Words that show that the docstring of a function begins with a noun instead of a verb."""

NO_CLAUSES = frozenset(_WORD.findall("what whatsoever who how whether"))
"""Words that stand for a noun which the name of a test must have."""

NO_SUBJECTS = QUESTIONS | frozenset(
    _WORD.findall(
        "it they them that those this these so somebody nobody others something everything anything whatever whoever "
        "wherever there and but neither either some"
    )
)
"""Words that are no subject of the sentence in the name of a test."""

HAVE_DOCSTRINGS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@cache
def trees(package: str) -> tuple[tuple[str, ast.Module], ...]:
    """Return the syntax tree of each module of a package, by its path."""
    paths = sorted((ROOT / package).rglob("*.py"))
    return tuple((path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8"))) for path in paths)


@cache
def documented(package: str) -> tuple[tuple[str, ast.AST, str], ...]:
    """Return the place, the node and the docstring of every module, class, function and constant that has one."""
    return tuple(_documented(package))


def _documented(package: str) -> Iterator[tuple[str, ast.AST, str]]:
    for path, tree in trees(package):
        for node in ast.walk(tree):
            if isinstance(node, HAVE_DOCSTRINGS) and (text := ast.get_docstring(node)):
                yield f"{path}: {getattr(node, 'name', 'module')}", node, text
            if isinstance(node, (ast.Module, ast.ClassDef)):
                yield from ((f"{path}:{one.lineno}", one, text) for one, text in constants(node.body))


def constants(body: list[ast.stmt]) -> Iterator[tuple[ast.stmt, str]]:
    """Yield the assignments with a docstring below them."""
    for one, below in pairwise(body):
        if isinstance(one, (ast.Assign, ast.AnnAssign)) and isinstance(below, ast.Expr):
            value = below.value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield one, value.value


def first_word(text: str) -> str:
    """Return the first word in lower case; empty if the text begins with a sign."""
    found = _WORD.match(text.strip())
    return found.group().lower() if found else ""


def is_plain_function(node: ast.AST) -> bool:
    """Tell whether the node is a function that is neither a property nor a test."""
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or node.name.startswith("test_"):
        return False
    return not any("property" in ast.unparse(decorator) for decorator in node.decorator_list)


@pytest.mark.parametrize("package", PACKAGES)
def test_docstrings_begin_with_no_question_word(package: str) -> None:
    assert not [place for place, _, text in documented(package) if first_word(text) in QUESTIONS]


@pytest.mark.parametrize("package", PACKAGES)
def test_docstrings_of_functions_begin_with_a_verb(package: str) -> None:
    found = [(place, first_word(text)) for place, node, text in documented(package) if is_plain_function(node)]
    assert package == "benchmarks" or found
    assert not [place for place, word in found if word in NO_VERBS]


def test_names_of_tests_begin_with_their_subject_and_have_nouns() -> None:
    names = [
        (path, node.name)
        for path, tree in trees("tests")
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    assert len(names) > 2000
    assert not [(path, name) for path, name in names if name.split("_")[1] in NO_SUBJECTS]
    assert not [(path, name) for path, name in names if not NO_CLAUSES.isdisjoint(name.split("_"))]
    assert not [(path, name) for path, name in names if re.match(r"test_one_(?:that|has|is|who|which|of)_", name)]
