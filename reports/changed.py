"""Sentences about changes of a repository: what they make worse or better."""

from __future__ import annotations

from collections.abc import Sequence

from proofka.properties.news import Compared, Kind, Known, News
from proofka.properties.verdict import CutSet, Status, Trace
from proofka.reports import wording
from proofka.reports.formats import Answer

FAILING = (Kind.WORSE, Kind.UNDECIDED, Kind.NO_EVIDENCE)


def sentence(one: News, compared: Compared) -> str:
    """Return the change of a verdict as a sentence."""
    name = one.verdict.property
    match one.kind:
        case Kind.WORSE:
            return f"{_worse(one, compared)}{_failure(one)}{_before(one.known)}."
        case Kind.UNDECIDED:
            why = wording.stopped(one.verdict.coverage)
            return f"{name} is undecided{f': {why}' if why else ''}{_before(one.known)}."
        case Kind.NO_EVIDENCE:
            return f"{name} holds only because this never happened: {one.verdict.witness}{_before(one.known)}."
        case Kind.BETTER:
            now = wording.outcome(one.verdict.status, one.verdict.cut_sets)
            return f"{name} now {now}{_before(one.known)}."
        case Kind.SAME:
            return f"{name} {wording.outcome(one.verdict.status, one.verdict.cut_sets)}, as before."


def _worse(one: News, compared: Compared) -> str:
    """Return what is newly possible: ``this change lets 1 kill violate no-acked-loss``."""
    name = one.verdict.property
    subject = "this change" if compared.since else "news:"
    first = one.cut_sets[0] if one.cut_sets else ()
    if not first:
        return f"{subject} violates {name} without any fault" if compared.since else f"{subject} {name} is violated"
    more = len(one.cut_sets) - 1
    also = f" (and {wording.counted(more, 'more new smallest fault set')})" if more else ""
    if compared.since:
        return f"{subject} lets {wording.faults_needed(first)} violate {name}{also}"
    return f"{subject} {wording.faults_needed(first)} can violate {name}{also}"


def _failure(one: News) -> str:
    trace = trace_of(one)
    return f": {trace.failure}" if trace is not None else ""


def trace_of(one: News) -> Trace | None:
    """Return the trace of the first new fault set, or the first trace."""
    wanted: CutSet = one.cut_sets[0] if one.cut_sets else ()
    fitting = [trace for trace in one.verdict.traces if trace.faults == wanted]
    return next(iter((*fitting, *one.verdict.traces)), None)


def _before(known: Known | None) -> str:
    if known is None:
        return ""
    said = wording.outcome(known.status, known.cut_sets)
    held = "held" if known.status is Status.HOLDS else said.replace("is ", "was ", 1)
    return f"; before, in {known.where}, it {held}"


def headline(answers: Sequence[Answer], compared: Compared) -> str:
    """Return the result of the comparison in one sentence."""
    failing = sum(any(counts(one) for one in answer.news) for answer in answers)
    every = wording.counted(compared.pipelines, "pipeline")
    beside = f"beside the baseline {compared.baseline}"
    if compared.since:
        are = "is" if len(answers) == 1 or compared.pipelines == 1 else "are"
        touched = f"{wording.number(len(answers))} of {every} {are} touched by the changes since {compared.since}"
        touched += f"; {beside}" if compared.baseline else ""
    else:
        touched = f"{every} {beside}"
    if not answers and compared.since:
        return f"{touched}: nothing to check."
    return f"{touched}: {_found(failing)}."


def _found(failing: int) -> str:
    if not failing:
        return "nothing new was found"
    return f"{wording.counted(failing, 'pipeline')} {'has' if failing == 1 else 'have'} news about a required property"


def counts(one: News) -> bool:
    """Tell whether a change is news about a required property."""
    return one.verdict.required and one.is_news


def ordered(news: Sequence[News]) -> list[News]:
    """Return the changes to tell: first news about required properties, then other news, then what is better."""
    told = [one for one in news if one.kind is not Kind.SAME]
    return sorted(told, key=lambda one: (not counts(one), list(Kind).index(one.kind)))
