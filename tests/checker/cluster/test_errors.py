"""The errors of a cluster."""

from __future__ import annotations

import pickle

import pytest

from proofka.checker.cluster.errors import CannotStart, MissingProgram, NotSeen


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
