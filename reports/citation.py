"""How to cite a result: one paragraph, and an entry for BibTeX. Both say the same.

There is no date in either: the same question has the same answer on any day, and who cites it knows when that was. The
ids of the verdicts and the hash of the configuration say which question it was, a year later too. Nor is there an
address: none has been published by which this version is found.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence

from model.deployment.deployment import Deployment
from properties.verdict import Result, Status, Verdict
from reports import summary, wording
from reports.formats import Answer

SHOWN = 12
"""So many hexadecimal digits of the configuration's hash are shown."""

MOST_FAULT_SETS = 8
"""How many smallest fault sets of a property are named."""

NOT_CONFIGURED = ("assume", "bounds")
"""Scopes of settings that say what is explored and how long things take: the configuration is the same without them."""

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    **{letter: f"\\{letter}" for letter in "#$%&_"},
}
"""Letters that LaTeX or BibTeX reads as its own; BibTeX counts braces even where they are escaped."""


def configuration_hash(deployment: Deployment) -> str:
    """SHA-256 of the effective settings of topic, brokers, clients and application, in hexadecimal digits.

    Hashed is a JSON list without blanks, in UTF-8, of each [scope, key, value], sorted. Neither where a value came from
    nor what decides nothing is part of it.
    """
    settings = sorted([one.scope, one.key, one.value] for one in deployment.settings if one.scope not in NOT_CONFIGURED)
    text = json.dumps(settings, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def paragraph(deployment: Deployment, result: Result, *, command: str) -> str:
    """What was shown, for which configuration, under which assumptions and bounds, and by which version."""
    said = [
        f"{_tool(result)} checked the Kafka pipeline {deployment.name} (configuration "
        f"{configuration_hash(deployment)[:SHOWN]}: {_configuration(deployment)}).",
        *_found(deployment, result, command),
    ]
    return wording.plain(" ".join(said))


def _configuration(deployment: Deployment) -> str:
    return f"{summary.cluster(deployment)}; {summary.clients(deployment)}"


def _found(deployment: Deployment, result: Result, command: str) -> Iterator[str]:
    """What was found, how far it goes, what it takes for granted, and how to ask again."""
    yield from _claims(result)
    yield from _scope(result)
    if deployment.assumptions:
        assumed = ", ".join(f"{one.key}={one.value}" for one in deployment.assumptions)
        yield f"Assumed, because no file states it: {assumed}."
    yield f"Asked by: {command}"


def bibtex(deployment: Deployment, result: Result, *, command: str) -> str:
    """An entry ``@misc``; its key has the pipeline's name and the hash of its configuration."""
    shown = configuration_hash(deployment)[:SHOWN]
    name = re.sub(r"[^A-Za-z0-9]+", "-", deployment.name).strip("-") or "pipeline"
    fields = {
        "title": f"Verdicts on the Kafka pipeline {deployment.name}, configuration {shown}",
        "howpublished": _tool(result),
        "note": " ".join(
            [f"Configuration {shown}: {_configuration(deployment)}.", *_found(deployment, result, command)]
        ),
    }
    # The second braces keep styles from changing capitals of the title.
    lines = [f"  {field} = {{{{{_latex(text)}}}}}," for field, text in fields.items()]
    return "\n".join([f"@misc{{proofka-{name}-{shown},", *lines, "}"]) + "\n"


def to_bibtex(answers: Sequence[Answer]) -> str:
    """A bibliography with an entry for each deployment."""
    return "\n".join(bibtex(answer.deployment, answer.result, command=answer.command) for answer in answers)


def _tool(result: Result) -> str:
    version, model = result.versions.get("proofka", ""), result.versions.get("model", "")
    return f"Proofka{f' {version}' if version else ''}{f' (model {model})' if model else ''}"


def _asked(result: Result) -> list[Verdict]:
    """What is required, or everything where nothing is."""
    return [verdict for verdict in result.verdicts if verdict.required] or list(result.verdicts)


def _claims(result: Result) -> Iterator[str]:
    """Each verdict with its id: violations one by one, with their smallest fault sets, the rest by what they say."""
    asked = _asked(result)
    for verdict in asked:
        if verdict.status is Status.VIOLATED:
            sets = wording.outcome(verdict.status, verdict.cut_sets[:MOST_FAULT_SETS])
            more = len(verdict.cut_sets) - MOST_FAULT_SETS
            others = f", and by {wording.counted(more, 'further smallest fault set')}" if more > 0 else ""
            yield f"{verdict.property} {sets}{others} (id {verdict.id})."
    rest = [verdict for verdict in asked if verdict.status is not Status.VIOLATED]
    for names, words in wording.grouped(rest, _words):
        ids = {verdict.property: verdict.id for verdict in rest}
        yield f"{words}: {', '.join(f'{name} (id {ids[name]})' for name in names)}."


def _words(verdict: Verdict) -> str:
    match verdict.status:
        case Status.HOLDS:
            return "Holds in time" if verdict.lemmas else "Holds"
        case Status.VACUOUS:
            return "Vacuous, because the witness was not reached"
        case _:
            return "Undecided"


def _scope(result: Result) -> Iterator[str]:
    """The bounds, beyond which nothing is claimed."""
    asked = _asked(result)
    if not asked:
        return
    bounds = _each(asked, lambda verdict: wording.bounds(verdict.coverage))
    kinds = _each(asked, lambda verdict: wording.fault_kinds(verdict.coverage))
    sizes = _each(asked, lambda verdict: wording.sizes(verdict.coverage))
    of_sizes = f"; sizes: {sizes}" if sizes else ""
    reached = _each(asked, lambda verdict: wording.would_explore_more(verdict.coverage))
    more = f"; {reached}" if reached else ""
    yield f"Explored: {bounds}; kinds of fault: {kinds}{of_sizes}{more}. Nothing is claimed beyond these bounds."


def _each(verdicts: Sequence[Verdict], words: wording.Words) -> str:
    groups = wording.grouped(verdicts, words)
    return "; ".join(
        text if len(names) == len(verdicts) else f"{text} ({wording.listed(names)})" for names, text in groups
    )


def _latex(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in wording.plain(text))
