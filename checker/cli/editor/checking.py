"""The verdicts of an editor's documents: one check at a time, and the results of the last checks."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace

from proofka.checker.budget import Budget
from proofka.checker.cli.editor.reading import Reading
from proofka.checker.cli.last_results import LastResults
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.question import question
from proofka.properties.verdict import Result, Status, Verdict
from proofka.reports import wording
from proofka.reports.blame import blame

MOST_KEPT = 32
"""The number of deployments whose results are kept."""

MOST_PIPELINES = 4
"""The largest number of pipelines of one document that are checked when it is saved."""


@dataclass(frozen=True)
class Finding:
    """A required property that does not hold, with the line of the setting to blame, which counts from 1."""

    line: int
    text: str
    property: str
    status: Status


Asked = tuple[Deployment, tuple[str, ...]]
"""The key of a result: the question of a deployment, and the required properties."""


class Verdicts:
    """The results of deployments that were checked, by what decides their verdicts. Threads can share an instance."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._kept: LastResults[Asked, Result] = LastResults(MOST_KEPT)

    def known(self, deployment: Deployment) -> Result | None:
        """Return the result of an equal deployment that was checked; None if there is none."""
        return self._kept.get((question(deployment), deployment.require))

    def check(self, deployment: Deployment, stop: threading.Event) -> Result | None:
        """Check a deployment, and search the changes that prevent its violations. Return None if ``stop`` ends this."""
        from proofka.checker.check import check
        from proofka.checker.explanation import preventions

        result = check(deployment, budget=Budget(seconds=self._seconds, stop=stop))
        if not stop.is_set() and any(verdict.status is Status.VIOLATED for verdict in result.verdicts):
            result = replace(result, preventions=preventions(deployment, result.verdicts, stop, self._seconds))
        if stop.is_set():
            return None
        self._kept.keep((question(deployment), deployment.require), result)
        return result


def findings(reading: Reading, verdicts: Verdicts) -> tuple[Finding, ...]:
    """Return the required properties of the text that do not hold, as far as equal deployments were checked."""
    found = []
    for deployment in reading.deployments:
        result = verdicts.known(deployment)
        for verdict in () if result is None else result.verdicts:
            if result is not None and verdict.required and verdict.status is not Status.HOLDS:
                found.append(_finding(reading, deployment, result, verdict))
    return tuple(dict.fromkeys(found))


def _finding(reading: Reading, deployment: Deployment, result: Result, verdict: Verdict) -> Finding:
    said = blame(deployment, result, verdict)
    is_here = said.place is not None and said.place.file == reading.file
    line = said.place.line if said.place is not None and is_here and said.place.line else 1
    failure = f": {verdict.traces[0].failure}" if verdict.traces else ""
    text = f"{verdict.property} {wording.outcome(verdict.status, verdict.cut_sets)}{failure}"
    return Finding(line, f"{text}. {said.sentence}".strip(), verdict.property, verdict.status)
