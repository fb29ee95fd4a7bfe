"""A strict reader of ITF, written from its description alone: Apalache's ADR 015 (https://apalache-mc.org/docs/adr/015adr-trace.html).

It knows the whole format, of which the export uses a part, and takes nothing that the format does not name.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

KEYS = {"#meta", "params", "vars", "states", "loop"}
META_TEXTS = ("format", "format-description", "source", "description")
SPECIAL = {"#bigint", "#tup", "#set", "#map", "#unserializable"}


class NotITF(ValueError):
    """The text is not a trace in this format; the message names the error."""


@dataclass(frozen=True)
class Itf:
    """A trace: the value of each variable for each state."""

    meta: dict[str, Any]
    variables: tuple[str, ...]
    states: tuple[dict[str, Any], ...]


def read(text: str) -> Itf:
    """Read a trace. Raises :class:`NotITF`."""
    document = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    _require(isinstance(document, dict), "a trace is an object")
    _require(set(document) <= KEYS, f"unknown keys {set(document) - KEYS}")
    params = _names(document.get("params", []), "params")
    variables = _names(document.get("vars"), "vars")
    _require(not set(params) & set(variables), "a parameter is a variable")
    states = document.get("states")
    _require(isinstance(states, list) and len(states) > 0, "there is a state at least")
    expected = {*params, *variables}
    loop = document.get("loop", 0)
    _require(type(loop) is int and 0 <= loop < len(states), "loop is the index of a state")
    meta = _meta(document.get("#meta", {}), expected)
    return Itf(meta, variables, tuple(_state(state, number, expected) for number, state in enumerate(states)))


def _state(state: Any, number: int, expected: set[str]) -> dict[str, Any]:
    _require(isinstance(state, dict), "a state is an object")
    meta = state.get("#meta", {})
    _require(isinstance(meta, dict), "#meta is an object")
    _require(meta.get("index", number) == number, f"state {number} has another index")
    values = {name: value for name, value in state.items() if name != "#meta"}
    _require(set(values) == expected, f"state {number} has not the declared variables: {set(values) ^ expected}")
    for value in values.values():
        _check(value)
    return values


def _check(value: Any) -> None:
    """Reject numbers, which must be ``#bigint``."""
    match value:
        case bool() | str():
            return
        case list():
            parts = value
        case {"#bigint": str(digits)} if len(value) == 1:
            _require(re.fullmatch(r"-?(0|[1-9]\d*)", digits) is not None, f"{digits!r} is no number")
            return
        case {"#unserializable": str()} if len(value) == 1:
            return
        case {"#tup": list(parts)} | {"#set": list(parts)} if len(value) == 1:
            pass
        case {"#map": list(pairs)} if len(value) == 1:
            _require(all(isinstance(pair, list) and len(pair) == 2 for pair in pairs), "a map has pairs")
            parts = [part for pair in pairs for part in pair]
        case dict():
            _require(not any(name.startswith("#") for name in value), f"{set(value)} is no record")
            parts = list(value.values())
        case _:
            raise NotITF(f"{value!r} is no value")
    for part in parts:
        _check(part)


def _meta(meta: Any, expected: set[str]) -> dict[str, Any]:
    _require(isinstance(meta, dict), "#meta is an object")
    _require(all(isinstance(meta.get(name, ""), str) for name in META_TEXTS), "#meta has texts")
    _require(meta.get("format", "ITF") == "ITF", "another format")
    types = meta.get("varTypes", {})
    _require(isinstance(types, dict) and set(types) <= expected, "varTypes are of variables")
    return dict(meta)


def _names(names: Any, what: str) -> tuple[str, ...]:
    _require(isinstance(names, list) and all(isinstance(name, str) for name in names), f"{what} are names")
    _require(len(set(names)) == len(names), f"{what} has a name twice")
    wrong = [name for name in names if re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) is None]
    _require(not wrong, f"{wrong} are no identifiers of TLA+")
    return tuple(names)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    _require(len({name for name, _ in pairs}) == len(pairs), "a key stands twice")
    return dict(pairs)


def _no_constant(name: str) -> Any:
    raise NotITF(f"{name} is no JSON")


def _require(condition: bool, otherwise: str) -> None:
    if not condition:
        raise NotITF(otherwise)
