"""The table of tests that take seconds names tests that exist, each once, in order."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from scripts.write_seconds import durations, named, rows

ROOT = Path(__file__).parent.parent


def functions(file: str) -> set[str]:
    """Return the names of the test functions of a file; none of a file that does not exist."""
    path = ROOT / file
    if not path.is_file():
        return set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


def test_the_table_names_tests_that_exist() -> None:
    tests = named()
    assert tests == sorted(set(tests))
    for test in tests:
        file, _, function = test.partition("::")
        assert function in functions(file) if function else functions(file), f"{test}: there is no such test"


def test_the_named_tests_are_marked(request: pytest.FixtureRequest) -> None:
    assert request.node.get_closest_marker("seconds") is None


def test_durations_of_all_cases_count_together(tmp_path: Path) -> None:
    run = tmp_path / "run.xml"
    cases = "".join(f'<testcase classname="tests.a.test_b" name="test_c[{n}]" time="0.4"/>' for n in range(3))
    run.write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>", encoding="utf-8")
    assert durations(run) == {"tests/a/test_b.py::test_c": pytest.approx(1.2)}


def test_tests_that_a_run_did_not_have_keep_their_rows() -> None:
    found = durations_of(a_1=2.0, a_2=0.1, b_1=3.0)
    before = ["tests/a.py::test_2", "tests/b.py", "tests/c.py::test_1"]
    assert rows(found, before, 1.0) == ["tests/a.py::test_1", "tests/b.py", "tests/c.py::test_1"]


def durations_of(**seconds: float) -> Counter[str]:
    """Return durations by test: ``a_1`` is the function test_1 of the file a.py."""
    names = {f"tests/{name[0]}.py::test_{name[2]}": value for name, value in seconds.items()}
    return Counter(names)


def test_rules_of_the_house_are_never_left_out() -> None:
    found = Counter({"tests/test_architecture.py::test_files": 9.0, "tests/a.py::test_1": 9.0})
    assert rows(found, [], 1.0) == ["tests/a.py::test_1"]
