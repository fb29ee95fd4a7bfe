"""Results as GitLab's code quality report, which a merge request shows at the line of the blamed setting.

Reference: GitLab, "Code Quality", section "Code Quality report format": a list of objects, each with a description, the
name of the check, a fingerprint, a severity and a location.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

from proofka.properties.verdict import Status, Verdict
from proofka.reports import wording
from proofka.reports.blame import blame
from proofka.reports.formats import Answer

NOWHERE = "proofka.yaml"
"""The path of a verdict on settings that stand in no file; the format needs a path."""


def to_code_quality(answers: Sequence[Answer]) -> str:
    """Return the report: an issue for each violation, and for each required property that is not shown to hold."""
    return json.dumps(list(_issues(answers)), indent=2, ensure_ascii=False) + "\n"


def _issues(answers: Sequence[Answer]) -> Iterator[dict[str, Any]]:
    for answer in answers:
        for verdict in answer.result.verdicts:
            if verdict.status is Status.VIOLATED or (verdict.required and verdict.status is not Status.HOLDS):
                yield _issue(answer, verdict)


def _issue(answer: Answer, verdict: Verdict) -> dict[str, Any]:
    found = blame(answer.deployment, answer.result, verdict)
    path = NOWHERE if found.place is None or found.place.file is None else found.place.file
    line = 1 if found.place is None or found.place.line is None else max(1, found.place.line)
    failed = f": {verdict.traces[0].failure}" if verdict.traces else ""
    said = f"{answer.deployment.name}: {verdict.property} {wording.outcome(verdict.status, verdict.cut_sets)}{failed}."
    identity = "\0".join((answer.deployment.name, verdict.property, path))
    return {
        "description": wording.plain(f"{said} {found.sentence}".strip()),
        "check_name": f"proofka/{verdict.property}",
        "fingerprint": hashlib.sha256(identity.encode(errors="surrogateescape")).hexdigest(),
        "severity": _severity(verdict),
        "location": {"path": wording.plain(path), "lines": {"begin": line}},
    }


def _severity(verdict: Verdict) -> str:
    if verdict.status is not Status.VIOLATED:
        return "info"
    return "critical" if verdict.required else "minor"
