"""Waiting for observations."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from proofka.checker.cluster.errors import NotSeen
from proofka.checker.cluster.waiting import until


def looks(*results: str | None) -> Iterator[str | None]:
    yield from results


def test_the_first_true_result_is_returned() -> None:
    results = looks(None, "", "broker 1", "broker 2")
    assert until(lambda: next(results), what="a broker", seconds=60) == "broker 1"
    assert next(results) == "broker 2"


def test_a_passed_deadline_names_the_observation() -> None:
    with pytest.raises(NotSeen) as raised:
        until(lambda: None, what="a broker", seconds=0)
    assert (raised.value.what, raised.value.waited) == ("a broker", 0)
    assert "not seen within 0 s: a broker;" in str(raised.value)
    assert str(raised.value).endswith("(T04)")


def test_a_result_of_the_last_look_counts() -> None:
    assert until(lambda: "broker 1", what="a broker", seconds=0) == "broker 1"


def test_an_error_while_looking_is_not_hidden() -> None:
    with pytest.raises(KeyError):
        until(lambda: {}["broker"], what="a broker", seconds=60)
