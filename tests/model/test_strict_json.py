"""JSON that two readers could read in two ways is refused."""

from __future__ import annotations

import json

import pytest

from proofka.model.input.strict_json import AmbiguousJson, read_json


def test_read() -> None:
    assert read_json('{"a": [1, {"a": null}], "b": -1.5e3}') == {"a": [1, {"a": None}], "b": -1500.0}
    assert read_json(b'"\xc3\xa4"') == "ä"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1, "a": 1}', '"a" stands twice'),
        ('[{"b": {"c": 1, "d": 2, "\\u0063": 1}}]', '"c" stands twice'),
        ("[NaN]", "NaN is no number"),
        ("-Infinity", "-Infinity is no number"),
    ],
)
def test_refused(text: str, said: str) -> None:
    with pytest.raises(AmbiguousJson, match=said):
        read_json(text)


def test_reader_refuses_a_text_that_is_no_json() -> None:
    with pytest.raises(json.JSONDecodeError):
        read_json("{")
