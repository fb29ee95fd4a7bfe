"""Answers of tools: small dictionaries with the words of the reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from proofka.checker.cli.assistants.errors import NoTrace
from proofka.checker.cli.assistants.workspace import Looked
from proofka.model.deployment.deployment import Deployment
from proofka.properties.claims.claim import Decision
from proofka.properties.known_defects.defect import MEANING, Defect, release_in_words
from proofka.properties.verdict import Result, Status, Verdict
from proofka.reports import wording
from proofka.reports.claims import why as because
from proofka.reports.explained import tried, why
from proofka.reports.guide.entry import Entry
from proofka.reports.repairs import Repairs
from proofka.reports.story import Telling, tellings

MOST_DEFECTS = 40
"""The largest number of defects in one answer."""

Answer = dict[str, Any]


def of_check(looked: Looked) -> Answer:
    """Return the answer of a check: the sentence, a verdict for each property, what a pass rests on, and the traces."""
    verdicts = looked.result.verdicts
    told = tellings(verdicts, all_traces=True)
    defects = sorted({defect.id for verdict in verdicts for defect in verdict.known_defects})
    assumptions = {one.text: None for verdict in verdicts if verdict.required for one in verdict.assumptions}
    return {
        "answer": wording.answer(verdicts, bounds_below=False),
        "assumed_as_no_file_states": [f"{setting.key}={setting.value}" for setting in looked.deployment.assumptions],
        "required": {verdict.property: _outcome(verdict) for verdict in verdicts if verdict.required},
        "others": {verdict.property: _outcome(verdict) for verdict in verdicts if not verdict.required},
        "known_defects_that_no_verdict_covers": defects,
        "modelling_assumptions": list(assumptions),
        "traces": [f"{number}: {_heading(telling)}" for number, telling in enumerate(told, 1)],
    }


def _outcome(verdict: Verdict) -> str:
    """Return a verdict in one line, with the faults within which the verdict was reached."""
    return f"{wording.outcome(verdict.status, verdict.cut_sets)}; {wording.bounds(verdict)}"


def _heading(telling: Telling) -> str:
    names = wording.listed([verdict.property for verdict, _ in telling.violated])
    return f"{names} violated by {wording.fault_set(telling.faults)}, {wording.counted(len(telling.steps), 'step')}"


def of_trace(looked: Looked, number: int) -> Answer:
    """Return a trace, a sentence for each step. Raises :class:`NoTrace`."""
    told = tellings(looked.result.verdicts, all_traces=True)
    if not 1 <= number <= len(told):
        there = f"the result has {len(told)}" if told else "no violation was found"
        raise NoTrace(f"trace {number}: does not exist; {there}")
    telling = told[number - 1]
    return {
        "trace": _heading(telling),
        "steps": [
            f"{position} {'' if step.at is None else f'[{step.at} ms] '}{wording.happens(step)}"
            for position, step in enumerate(telling.steps, 1)
        ],
        "fails": [f"{verdict.property}: {failure}" for verdict, failure in telling.violated],
        "means": {verdict.property: verdict.statement for verdict, _ in telling.violated},
    }


def of_explain(result: Result) -> Answer:
    """Return, for each violated property, the reason and the single changes that prevent the violation."""
    violated = [verdict for verdict in result.verdicts if verdict.status is Status.VIOLATED]
    return {
        "answer": wording.answer(result.verdicts, bounds_below=False),
        "violations": [_violation(result, verdict) for verdict in violated],
    }


def _violation(result: Result, verdict: Verdict) -> Answer:
    changes, undecided = tried(result, verdict.property, verdict.cut_sets[0])
    return {
        "property": verdict.property,
        "why": why(verdict),
        "prevented_by": changes,
        "undecided_changes": len(undecided),
    }


def of_repair(deployment: Deployment, found: Repairs, *, stopped: bool) -> Answer:
    """Return the sets of changes that make the required properties hold, or as many as possible, cheapest first."""
    return {
        "violated_now": list(found.violated),
        "repairs": [
            {
                "changes": [str(change) for change in repair.changes],
                "mends": list(repair.mends),
                "answer_with_these_changes": wording.answer(repair.result.verdicts, bounds_below=False),
                "costs": [text for change in repair.changes for text in (change.latency, change.availability) if text],
            }
            for repair in found.found
        ],
        "search": "stopped by the time limit: cheaper or other repairs can exist" if stopped else "complete",
        "of": deployment.name,
    }


def of_defects(found: Sequence[Defect]) -> Answer:
    """Return the defects with releases, sentence and treatment."""
    shown = [
        {
            "id": one.id,
            "product": one.product,
            "releases": f"from {release_in_words(one.affected.first) or 'the first'} "
            f"to {release_in_words(one.affected.last) or 'the newest'}",
            "sentence": one.sentence,
            "breaks": list(one.breaks),
            "treatment": MEANING[one.treatment],
            "source": one.source,
        }
        for one in found[:MOST_DEFECTS]
    ]
    more = len(found) - len(shown)
    return {"defects": shown} | ({"left_off": more, "hint": "name one id for its row"} if more else {})


def of_claim(decision: Decision) -> Answer:
    """Return what a claim says, its outcome, and the reason."""
    return {"claim": decision.claim.says, "outcome": decision.outcome.value, "because": because(decision)}


def of_words(entries: Sequence[Entry]) -> Answer:
    """Return the paragraphs of the guide on a word, by label."""
    return {
        "entries": [
            {
                "word": entry.word,
                "kind": entry.kind,
                "says": [f"{label}: {text}" if label else text for label, text in entry.paragraphs],
            }
            for entry in entries
        ]
    }
