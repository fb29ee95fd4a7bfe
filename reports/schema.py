"""The JSON Schema of the result document, and the check of a document against the schema."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any


def schema() -> dict[str, Any]:
    """Return the schema (JSON Schema, draft 2020-12)."""
    text = files(__package__).joinpath("schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def problem(document: object) -> str | None:
    """Return the first violation of the schema in ``document`` as one line, or None if ``document`` satisfies it.

    The line never contains the value at this place, which can have any length.
    """
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    error = best_match(Draft202012Validator(schema()).iter_errors(document))
    if error is None:
        return None
    if (contradiction := _status_and_traces(document, list(error.absolute_path))) is not None:
        return contradiction
    words = {"type": "must be of type", "enum": "must be one of", "const": "must be", "minimum": "must be at least"}
    reason = f"{words.get(error.validator, f'must satisfy {error.validator}')} {json.dumps(error.validator_value)}"
    if error.validator in ("required", "additionalProperties"):  # their messages name members only
        reason = error.message
    return f"{_place(error.absolute_path)[:120]}: {reason[:160]}"


def _status_and_traces(document: Any, path: list[str | int]) -> str | None:
    """Return the sentence on a status that does not fit the traces beside it, if the violation at ``path`` is this."""
    if len(path) != 3 or path[0] != "verdicts" or path[2] not in ("cut_sets", "trace", "traces"):
        return None
    verdict = document["verdicts"][path[1]]
    name, status = f"{_place(path[:2])}, {str(verdict.get('property'))[:60]}", verdict.get("status")
    if status == "violated" and not (verdict.get("traces") and verdict.get("cut_sets") and verdict.get("trace")):
        return f"{name}: the status is violated, but there is no trace, or no fault set"
    if status in ("holds", "vacuous", "unknown") and any(verdict.get(key) for key in ("traces", "cut_sets", "trace")):
        return f"{name}: the status is {status}, but there are traces or fault sets, which only a violation has"
    return None


def _place(path: Any) -> str:
    """Return a path of keys and positions as text: ``verdicts[0].trace``."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.lstrip(".") or "document"
