"""The errors of a cluster."""

from __future__ import annotations

import csv
import importlib
import pickle
import pkgutil
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from proofka.checker import cluster, conformance
from proofka.checker.cluster.errors import CannotStart, ClusterError, MissingProgram, NotSeen
from proofka.checker.conformance.errors import ConformanceError
from proofka.checker.reproduction.errors import ReproductionError


def kinds(package: ModuleType = cluster, root: Any = ClusterError) -> list[Any]:
    """Return every error of the package, with those of modules that nothing has imported yet."""
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)
    found, waiting = [], [root]
    while waiting:
        found.append(waiting.pop())
        waiting += found[-1].__subclasses__()
    return found


def test_codes_are_unique() -> None:
    codes = [kind.code for kind in kinds()]
    assert len(codes) >= 6
    assert sorted(codes) == sorted(set(codes))


def test_no_error_has_the_code_of_a_client_rule() -> None:
    """``proofka help CODE`` explains rules, so an error with such a code would send its reader to another matter."""
    with Path("reports/guide/tables/rules.csv").open(encoding="utf-8", newline="") as table:
        rules = {row["id"] for row in csv.DictReader(table)}
    assert "K02" in rules
    errors = [*kinds(), *kinds(conformance, ConformanceError), ReproductionError, *ReproductionError.__subclasses__()]
    assert not [error for error in errors if error.code in rules]


def test_a_message_ends_with_the_code() -> None:
    assert str(CannotStart("broker 1 does not start")) == "broker 1 does not start (T03)"


@pytest.mark.parametrize("program", ["java", "go", "node"])
def test_the_message_of_a_missing_program_names_the_installation(program: str) -> None:
    message = str(MissingProgram(program))
    assert "apt install" in message and "brew install" in message
    assert message.endswith("(T01)")


def test_errors_pass_between_processes() -> None:
    for error in (MissingProgram("go"), NotSeen("broker 1", 2.5), CannotStart("broker 1 does not start")):
        assert str(pickle.loads(pickle.dumps(error))) == str(error)
