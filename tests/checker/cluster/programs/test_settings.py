"""Settings of the command line as values for libraries of Python."""

from __future__ import annotations

import collections
from typing import Any

import pytest

from proofka.checker.cluster.programs.python.settings import Started, classes_of, python_settings, python_value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5),
        ("-1", -1),
        ("0.5", 0.5),
        ("true", True),
        ("False", False),
        ("null", None),
        ("inf", float("inf")),
        ("(2, 6, 0)", (2, 6, 0)),
        ("all", "all"),
        ("'1'", "1"),
        ("read_committed", "read_committed"),
        ("", ""),
    ],
)
def test_a_text_becomes_the_value_that_a_program_would_write(text: str, value: Any) -> None:
    found = python_value(text)
    assert found == value and type(found) is type(value)


def test_names_stay_texts() -> None:
    assert python_settings({"client_id": "1", "group_id": "true", "acks": "1"}) == {
        "client_id": "1",
        "group_id": "true",
        "acks": 1,
    }


def test_a_setting_whose_value_is_an_object_is_refused() -> None:
    with pytest.raises(ValueError, match="partitioner"):
        python_settings({"partitioner": "murmur2"})
    assert python_settings({"value_serializer": "None"}) == {"value_serializer": None}


@pytest.mark.parametrize(
    "text", ["OrderedDict,Counter", "[collections.OrderedDict, Counter]", "(OrderedDict, Counter)"]
)
def test_classes_are_found_by_name(text: str) -> None:
    assert classes_of(text, ["json", "collections"]) == [collections.OrderedDict, collections.Counter]


@pytest.mark.parametrize("text", ["NoSuchClass", ""])
def test_an_unknown_class_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not all are classes"):
        classes_of(text, ["collections"])


@pytest.mark.parametrize("name", ["bootstrap.servers", "metadata.broker.list", "bootstrap_servers"])
def test_a_setting_cannot_lead_to_other_servers(name: str) -> None:
    with pytest.raises(ValueError, match="names the servers"):
        Started.read(["h:1", "producer", "t", f"{name}=real:9092"])


def test_the_parts_of_a_command_line() -> None:
    given = Started.read(["h:1,h:2", "producer", "t", "acks=all", "transactional.id=a=b", "linger.ms="])
    assert (given.bootstrap, given.role, given.topic) == ("h:1,h:2", "producer", "t")
    assert given.settings == {"acks": "all", "transactional.id": "a=b", "linger.ms": ""}
