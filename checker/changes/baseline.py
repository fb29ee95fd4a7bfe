"""A baseline: the verdicts that are known and do not fail a check, as a JSON file beside the project file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from proofka.checker.changes.errors import NoBaseline
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.source import LARGEST_OF_A_FLEET, decode_utf8, read_bytes
from proofka.model.faults import Fault
from proofka.properties.news import Known, KnownVerdicts
from proofka.properties.verdict import CutSet, Result, Status

FORMAT = 1
"""The version of the format."""

WHAT = "proofka-baseline"

Key = tuple[str, str]
"""A pipeline in a baseline: its file or folder, and its name."""


def text_of(answers: Iterable[tuple[Key, Result]]) -> str:
    """Return the baseline of these results: each property that does not hold, with its smallest fault sets."""
    pipelines = [
        {"path": path, "name": name, "known": {one: _written(known) for one, known in _known_in(result).items()}}
        for (path, name), result in sorted(answers, key=lambda answer: answer[0])
        if _known_in(result)
    ]
    return json.dumps({WHAT: FORMAT, "pipelines": pipelines}, indent=2, ensure_ascii=False) + "\n"


def _known_in(result: Result) -> dict[str, Known]:
    return {
        one.property: Known(one.status, one.cut_sets, "") for one in result.verdicts if one.status is not Status.HOLDS
    }


def _written(known: Known) -> dict[str, Any]:
    sets = {"fault_sets": [dict(one) for one in known.cut_sets]} if known.status is Status.VIOLATED else {}
    return {"status": known.status.value, **sets}


def read_baseline(file: Path) -> Mapping[Key, KnownVerdicts]:
    """Return the known verdicts of each pipeline. Raise NoBaseline."""
    try:
        document = json.loads(decode_utf8(read_bytes(file, LARGEST_OF_A_FLEET), file))
    except DeploymentError as error:
        raise NoBaseline(f"--baseline {error}") from None
    except (ValueError, RecursionError):
        raise NoBaseline(f"--baseline {file}: is no JSON; proofka baseline writes a baseline") from None
    try:
        if document[WHAT] != FORMAT:
            raise NoBaseline(f"--baseline {file}: has another format; proofka baseline writes the file again")
        return {
            (_text(one["path"]), _text(one["name"])): {
                _text(name): _read(known, str(file)) for name, known in one["known"].items()
            }
            for one in document["pipelines"]
        }
    except (LookupError, TypeError, ValueError, AttributeError):
        raise NoBaseline(f"--baseline {file}: is no baseline; proofka baseline writes one") from None


def _read(known: Mapping[str, Any], where: str) -> Known:
    return Known(Status(known["status"]), tuple(_fault_set(one) for one in known.get("fault_sets", ())), where)


def _fault_set(one: Mapping[str, Any]) -> CutSet:
    counts = [(Fault(kind).value, count) for kind, count in one.items()]
    if not all(type(count) is int and count > 0 for _, count in counts):
        raise ValueError("no number of faults")
    return tuple(sorted(counts))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value
