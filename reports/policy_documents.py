"""Decisions on the rules of a policy as JSON, and those on rules in public use back again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from proofka.properties.judged_policy import (
    Counts,
    JudgedMatrix,
    JudgedRules,
    Judgement,
    Needed,
    Sufficient,
    Witness,
    fault_set_of,
)
from proofka.properties.verdict import Status


def to_json(judged: JudgedRules) -> str:
    """Return the decisions as a JSON text, which :func:`from_json` reads back to equal values."""
    matrices = {name: asdict(matrix) for name, matrix in judged.matrices.items()}
    decided = judged.judgements.items()
    judgements = [{"matrix": matrix, "given": given, **asdict(one)} for (_, matrix, given), one in decided]
    return json.dumps({"matrices": matrices, "judgements": judgements}, indent=1) + "\n"


FORMAT = 1
"""Version of the layout of the answer of ``proofka policy --json``."""


def answer_of(
    policy: str, matrix: JudgedMatrix, judgements: Sequence[Judgement], *, given: str, problems: Sequence[str]
) -> dict[str, Any]:
    """Return the answer of ``proofka policy`` as one JSON object.

    ``policy``: the file. ``given``: the condition of the policy on all deployments, or an empty text. ``problems``: the
    rules that cannot be read or decided, a message each.
    """
    return {
        "format": FORMAT,
        "policy": policy,
        "given": given,
        "matrix": asdict(matrix),
        "judgements": [asdict(one) for one in judgements],
        "problems": list(problems),
    }


def from_json(text: str) -> JudgedRules:
    """Return the decisions of a JSON text."""
    document = json.loads(text)
    matrices = {name: _matrix(one) for name, one in document["matrices"].items()}
    judgements = {(one["rule"], one.pop("matrix"), one.pop("given")): _judgement(one) for one in document["judgements"]}
    return JudgedRules(judgements, matrices)


def _matrix(one: Mapping[str, Any]) -> JudgedMatrix:
    return JudgedMatrix(**{**one, "settings": {key: tuple(values) for key, values in one["settings"].items()}})


def _judgement(one: Mapping[str, Any]) -> Judgement:
    return Judgement(
        **{
            **one,
            "sufficient": Sufficient(one["sufficient"]),
            "needed": Needed(one["needed"]),
            "counts": Counts(_counted(one["counts"]["allowed"]), _counted(one["counts"]["forbidden"])),
            "allowed_wrongly": _witness(one["allowed_wrongly"]),
            "forbidden_wrongly": _witness(one["forbidden_wrongly"]),
            "notes": tuple(one["notes"]),
            "unmodelled": tuple(one["unmodelled"]),
        }
    )


def _counted(counts: Mapping[str, int]) -> dict[Status, int]:
    return {Status(status): number for status, number in counts.items()}


def _witness(one: Mapping[str, Any] | None) -> Witness | None:
    if one is None:
        return None
    return Witness(
        **{
            **one,
            "status": Status(one["status"]),
            "faults": fault_set_of(one["faults"]),
            "steps": tuple(one["steps"]),
            "cut_sets": tuple(map(fault_set_of, one["cut_sets"])),
        }
    )
