"""The JSON Schema of the result document, and whether a document satisfies it."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any


def schema() -> dict[str, Any]:
    """The schema itself (JSON Schema, draft 2020-12)."""
    text = files(__package__).joinpath("schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def problem(document: object) -> str | None:
    """The first place where ``document`` departs from the schema, in one line, or None where it satisfies it."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    error = best_match(Draft202012Validator(schema()).iter_errors(document))
    if error is None:
        return None
    reason = error.message if len(error.message) <= 160 else error.message[:157] + "..."
    return f"{_place(error.absolute_path)}: {reason}"


def _place(path: Any) -> str:
    """``verdicts[0].trace`` for a path of keys and positions."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.lstrip(".") or "document"
