"""The errors of a cluster."""

from __future__ import annotations

import importlib
import pickle
import pkgutil

import pytest

from checker import cluster
from checker.cluster.errors import CannotStart, ClusterError, MissingProgram, NotSeen


def kinds() -> list[type[ClusterError]]:
    """Return every error of the package, with those of modules that nothing has imported yet."""
    for module in pkgutil.iter_modules(cluster.__path__, f"{cluster.__name__}."):
        importlib.import_module(module.name)
    found, waiting = [], [ClusterError]
    while waiting:
        found.append(waiting.pop())
        waiting += found[-1].__subclasses__()
    return found


def test_codes_are_unique() -> None:
    codes = [kind.code for kind in kinds()]
    assert len(codes) >= 6
    assert sorted(codes) == sorted(set(codes))


def test_a_message_ends_with_the_code() -> None:
    assert str(CannotStart("broker 1 does not start")) == "broker 1 does not start (K03)"


@pytest.mark.parametrize("program", ["java", "go", "node"])
def test_the_message_of_a_missing_program_names_the_installation(program: str) -> None:
    message = str(MissingProgram(program))
    assert "apt install" in message and "brew install" in message
    assert message.endswith("(K01)")


def test_errors_pass_between_processes() -> None:
    for error in (MissingProgram("go"), NotSeen("broker 1", 2.5), CannotStart("broker 1 does not start")):
        assert str(pickle.loads(pickle.dumps(error))) == str(error)
