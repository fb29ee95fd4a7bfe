"""The JSON Schema of the project file, for editors; ``scripts/write_project_file.py`` writes it into the repository."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proofka.checker.project.keys import Key, Kind, choices_of, keys_of, meaning_of, needed_of

ADDRESS = "https://json-schema.org/draft/2020-12/schema"

Schema = dict[str, Any]


def schema() -> Schema:
    """Return the schema of the whole file."""
    return {"$schema": ADDRESS, "title": "proofka.yaml", **_section("")}


def _section(path: str) -> Schema:
    keys = keys_of(path)
    found: Schema = {
        "type": "object",
        "additionalProperties": False,
        "properties": {name: {"description": key.what, **_form(key)} for name, key in keys.items()},
    }
    needed = [name for name, key in keys.items() if key.needed]
    return {**found, "required": needed} if needed else found


def _form(key: Key) -> Schema:
    match key.kind:
        case Kind.SECTIONS:
            section = _section(key.path)
            first = next(iter(keys_of(key.path).values()))
            short = len(section.get("required", ())) == 1
            item = {"anyOf": [_form(first), section]} if short else section
            return {"type": "array", "minItems": 1, "items": item}
        case Kind.SECTION:
            return _section(key.path)
        case Kind.NAMED:
            each = _form(keys_of(key.path)["*"])
            names = {"propertyNames": {"enum": list(choices_of(key))}} if key.choices else {}
            return {"type": "object", **names, "additionalProperties": each}
        case Kind.VALUES:
            needed = {"required": list(needed_of(key))} if needed_of(key) else {}
            values = {name: _value(key, name, known) for name, known in choices_of(key).items()}
            return {"type": "object", "additionalProperties": False, "properties": values, **needed}
        case Kind.CHOICES | Kind.PATTERNS:
            return {"type": "array", "minItems": 1, "uniqueItems": True, "items": _single(key)}
        case _:
            return _single(key)


def _single(key: Key) -> Schema:
    if choices := choices_of(key):
        return {"enum": list(choices)}
    return {"type": "string", "format": "date"} if key.kind is Kind.DATE else _text(key)


def _text(key: Key) -> Schema:
    """Return the form of a text; a release without quotes is a number for YAML, as in 4.0."""
    return {"type": ["string", "number"]} if key.kind is Kind.TEXT else {"type": "string", "minLength": 1}


def _value(key: Key, name: str, known: tuple[str, ...]) -> Schema:
    """Return the form of an assumption or a number of faults."""
    if key.choices == "faults":
        return {"anyOf": [{"type": "integer", "minimum": 0}, {"const": "any"}]}
    meaning: Mapping[str, str] = {"description": meaning_of(name)} if meaning_of(name) else {}
    return {**meaning, **({"enum": _as_yaml_reads(known)} if known else {"type": ["string", "number"]})}


def _as_yaml_reads(values: tuple[str, ...]) -> list[object]:
    """Return the values; a whole number also as a number, because YAML reads it as one without quotes."""
    return [*values, *(int(value) for value in values if value.isdigit())]
