"""Codes of refusals: each code of the table is raised somewhere, and each refusal has a code of the table."""

from __future__ import annotations

import ast
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from proofka.model.deployment.codes import codes
from proofka.model.deployment.errors import DeploymentError, NotModelledError
from proofka.model.deployment.given import Given, not_modelled
from proofka.model.deployment.libraries import LIBRARIES
from proofka.model.deployment.setting import Origin
from scripts import write_refusals

ROOT = Path(__file__).parents[3]
CODE = re.compile(r"N[0-9]{2,}")
LAST_USED = 93
"""The largest number of a code that was ever in the table."""

RETIRED = frozenset({"N87"})
"""The codes of refusals that a mechanism of the model has replaced."""

WRAPPERS = ("given.py", "section.py")
"""The files that may name the class without a code of their own."""

RAISING = {"not_modelled": 1, "NotModelledError": 1}
"""The position of the code among the arguments, by the name of the called function."""


def sources() -> Iterator[tuple[Path, ast.Module]]:
    for folder in ("model", "properties", "reports", "checker"):
        for path in (ROOT / folder).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            if "odelled" in text or CODE.search(text):
                yield path, ast.parse(text)


def literals() -> set[str]:
    """Return every string of a module that has the form of a code."""
    found = set()
    for path, tree in sources():
        if path.is_relative_to(ROOT / "model" / "deployment"):
            texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
            found |= {text for text in texts if isinstance(text, str) and CODE.fullmatch(text)}
    return found


def test_every_code_is_raised_and_in_the_table() -> None:
    assert literals() == set(codes())


def test_every_refusal_has_a_code() -> None:
    """A code is a literal, or a variable that a table of the same module fills with literals."""
    calls = 0
    for path, tree in sources():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in RAISING and path.name not in WRAPPERS:
                calls += 1
                code = node.args[RAISING[name]]
                literal = isinstance(code, ast.Constant) and code.value in codes()
                assert literal or (isinstance(code, ast.Name) and code.id == "code"), f"{path}:{node.lineno}"
    assert calls > 70


def test_only_errors_py_contains_the_words_not_modelled_yet() -> None:
    for path, tree in sources():
        texts = [
            node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
        assert path.name == "errors.py" or not any("not modelled yet: " in text for text in texts), path


def test_build_raises_nothing_itself() -> None:
    tree = ast.parse((ROOT / "model" / "deployment" / "builder.py").read_text(encoding="utf-8"))
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Raise)]


def test_no_number_is_used_again() -> None:
    assert not RETIRED & set(codes())
    assert sorted(int(code[1:]) for code in RETIRED | set(codes())) == list(range(1, LAST_USED + 1))


def test_the_table_is_in_order_and_whole() -> None:
    numbers = [int(code[1:]) for code in codes()]
    assert numbers == sorted(set(numbers))
    for code in codes().values():
        assert CODE.fullmatch(code.code)
        assert code.of
        for sentence in (code.what, code.why, code.instead):
            assert sentence[0].isupper() or sentence.startswith(tuple(LIBRARIES)), code
            assert sentence.endswith("."), code
            assert "{" not in sentence, code
    reasons = [(code.what, code.why) for code in codes().values()]
    assert len(set(reasons)) == len(reasons)


def test_named_sections_exist() -> None:
    page = (ROOT / "docs" / "semantics.md").read_text(encoding="utf-8")
    sections = set(re.findall(r"^#{1,4} (\d[\d.]*?)\.? ", page, re.MULTILINE))
    choices = set(re.findall(r"^(\d+)\. \*\*", page, re.MULTILINE))
    named = 0
    for code in codes().values():
        for section in re.findall(r"docs/semantics\.md (\d[\d.]*\d|\d)", code.why):
            named += 1
            assert section in sections, code
        for choice in re.findall(r"choice (\d+)", code.why):
            assert choice in choices, code
        for title in re.findall(r'part B, "([^"]*)"', code.why):
            assert re.search(rf"^## {title} \(", page, re.MULTILINE), code
    assert named > 40


def test_an_unknown_code_is_a_programming_error() -> None:
    with pytest.raises(ValueError, match="no code N00"):
        NotModelledError("anything", "N00")


def test_the_message_ends_with_the_code() -> None:
    given = Given("acks", "1", Origin("rule", "Spring", "application.yaml", 3))
    error = not_modelled(given, "N01", "this")
    assert isinstance(error, NotModelledError)
    assert error.code == "N01"
    assert str(error) == "application.yaml:3: acks: not modelled yet: this; Spring sets acks=1 by default (N01)"


def test_an_error_can_be_sent_to_another_process() -> None:
    error: DeploymentError = NotModelledError("this", "N01", file="orders.yaml", line=3, key="acks")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert again.code == "N01"


def test_the_page_is_that_of_the_table() -> None:
    """Otherwise: python scripts/write_refusals.py"""
    assert write_refusals.PAGE.read_text(encoding="utf-8") == write_refusals.text()
