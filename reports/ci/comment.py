"""A comment on a pull request in Markdown: what the change makes worse or better, with traces, and what is accepted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape as html

from proofka.properties.accepted import accepted_notes
from proofka.properties.news import Compared, Kind, News
from proofka.properties.verdict import Status, Trace
from proofka.reports import changed, wording
from proofka.reports.formats import Answer
from proofka.reports.markdown import code, escaped

MARK = "<!-- proofka -->"
"""The first line, by which the comment of an earlier run is found."""

MOST = 60_000
"""Number of characters of a comment; GitHub takes 65,536. What is left out is said."""

LEFT_OUT = "\n\nThe rest is left out; `proofka check` prints it.\n"


def to_comment(answers: Sequence[Answer], compared: Compared | None) -> str:
    """Return the comment. Without a comparison, the violations of each pipeline are told."""
    parts = [MARK, "## Proofka", *_head(answers, compared)]
    for answer in answers:
        parts += _of_pipeline(answer, compared)
    text = "\n\n".join(parts) + "\n"
    if len(text) <= MOST:
        return text
    kept: list[str] = []
    for part in parts:  # a part is whole, so that nothing folded stays open
        if sum(map(len, kept)) + 2 * len(kept) + len(part) > MOST:
            break
        kept.append(part)
    return "\n\n".join(kept) + LEFT_OUT


def _head(answers: Sequence[Answer], compared: Compared | None) -> Iterator[str]:
    if compared is None:
        yield escaped(wording.answer_of_all([answer.result.verdicts for answer in answers]))
        return
    yield escaped(changed.headline(answers, compared))
    if compared.gone:
        yield escaped(f"No longer there: {wording.listed(list(compared.gone))}.")


def _of_pipeline(answer: Answer, compared: Compared | None) -> Iterator[str]:
    yield f"### {escaped(answer.deployment.name)}"
    if compared is None:
        yield escaped(wording.answer(answer.result.verdicts, bounds_below=False))
        told = [verdict for verdict in answer.result.verdicts if verdict.status is Status.VIOLATED]
        for verdict in told:
            if verdict.traces:
                yield _folded(verdict.property, verdict.traces[0])
    else:
        yield from _compared(changed.ordered(answer.news), compared)
        yield escaped(wording.answer(answer.result.verdicts, bounds_below=False))
    for note in accepted_notes(answer.deployment):
        yield f"- {escaped(note)}"
    yield f"Check again: {code(answer.command)}"


def _compared(news: Sequence[News], compared: Compared) -> Iterator[str]:
    """Yield what changes in required properties, with traces, and the rest as a folded list."""
    if not news:
        yield "No verdict changes."
    for one in news:
        if one.verdict.required:
            yield f"{':x:' if one.is_news else ':white_check_mark:'} {_sentence(one, compared)}"
            trace = changed.trace_of(one) if one.kind is Kind.WORSE else None
            if trace is not None:
                yield _folded(one.verdict.property, trace)
    rest = [f"- {_sentence(one, compared)}" for one in news if not one.verdict.required]
    if rest:
        summary = f"<summary>{wording.counted(len(rest), 'change')} of properties that are not required</summary>"
        yield "\n".join(["<details>", summary, "", *rest, "", "</details>"])


def _sentence(one: News, compared: Compared) -> str:
    said = changed.sentence(one, compared)
    return escaped(f"This{said[4:]}" if said.startswith("this ") else said)


def _folded(name: str, trace: Trace) -> str:
    """Return a trace, folded, as a block that no other part can break."""
    lines = [
        "<details>",
        f"<summary>{html(name)}: {html(wording.fault_set(trace.faults))}, {len(trace.steps)} steps</summary>",
        "",
    ]
    for number, step in enumerate(trace.steps, 1):
        time = "" if step.at is None else f" {wording.number(step.at)} ms"
        lines.append(f"{number}.{time} {escaped(step.lane)}: {escaped(wording.announced(step))}")
    return "\n".join([*lines, "", f"Fails: {escaped(trace.failure)}", "", "</details>"])
