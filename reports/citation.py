"""The citation of a result: one paragraph, and an entry for BibTeX with the same content.

Neither has a date: the same question has the same answer on any day. The ids of the verdicts and the hash of the
configuration identify the question permanently. Neither has an address: no address of this version has been published.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence

from proofka.model.deployment.deployment import Deployment
from proofka.properties.accepted import accepted_notes
from proofka.properties.verdict import Result, Status, Verdict
from proofka.reports import certified, summary, wording
from proofka.reports.formats import Answer

SHOWN = 12
"""Number of hexadecimal digits of the configuration's hash in a citation."""

MOST_FAULT_SETS = 8
"""Number of smallest fault sets of a property in a citation."""

NOT_CONFIGURED = ("assume", "bounds")
"""Scopes of settings about exploration and durations, which are not part of the configuration."""

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
"""Escapes for the special characters of LaTeX and BibTeX; BibTeX counts escaped braces too."""


def configuration_hash(deployment: Deployment) -> str:
    """Return the SHA-256 of the effective settings of topic, brokers, clients and application, in hexadecimal digits.

    The hashed text is a sorted JSON list without blanks, in UTF-8, of each [scope, key, value]. Neither origins nor
    ignored settings are part of the hash.
    """
    settings = sorted([one.scope, one.key, one.value] for one in deployment.settings if one.scope not in NOT_CONFIGURED)
    text = json.dumps(settings, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def paragraph(deployment: Deployment, result: Result, *, command: str) -> str:
    """Return the verdicts with configuration, assumptions, bounds and version, as one paragraph."""
    said = [
        f"{_tool(result)} checked the Kafka pipeline {deployment.name} (configuration "
        f"{configuration_hash(deployment)[:SHOWN]}: {_configuration(deployment)}).",
        *_found(deployment, result, command),
    ]
    return wording.plain(" ".join(said))


def _configuration(deployment: Deployment) -> str:
    return f"{summary.cluster(deployment)}; {summary.clients(deployment)}"


def _found(deployment: Deployment, result: Result, command: str) -> Iterator[str]:
    """Yield sentences with the verdicts, the bounds, the assumptions, the certificate, and the command."""
    yield from _claims(result)
    yield from _scope(result)
    if deployment.assumptions:
        assumed = ", ".join(f"{one.key}={one.value}" for one in deployment.assumptions)
        yield f"Assumed, because no file states it: {assumed}."
    yield from (f"{note[:1].upper()}{note[1:]}." for note in accepted_notes(deployment))
    if (certificate := certified.citation(result)) is not None:
        yield certificate
    yield f"Asked by: {command}"


def bibtex(deployment: Deployment, result: Result, *, command: str) -> str:
    """Return an entry ``@misc``, whose key has the name of the pipeline and the hash of its configuration."""
    shown = configuration_hash(deployment)[:SHOWN]
    name = re.sub(r"[^A-Za-z0-9]+", "-", deployment.name).strip("-") or "pipeline"
    fields = {
        "title": f"Verdicts on the Kafka pipeline {deployment.name}, configuration {shown}",
        "howpublished": _tool(result),
        "note": " ".join(
            [f"Configuration {shown}: {_configuration(deployment)}.", *_found(deployment, result, command)]
        ),
    }
    # Double braces keep bibliography styles from changing capitals of the title.
    lines = [f"  {field} = {{{{{_latex(text)}}}}}," for field, text in fields.items()]
    return "\n".join([f"@misc{{proofka-{name}-{shown},", *lines, "}"]) + "\n"


def to_bibtex(answers: Sequence[Answer]) -> str:
    """Return a bibliography with an entry for each deployment."""
    return "\n".join(bibtex(answer.deployment, answer.result, command=answer.command) for answer in answers)


def _tool(result: Result) -> str:
    version, model = result.versions.get("proofka", ""), result.versions.get("model", "")
    return f"Proofka{f' {version}' if version else ''}{f' (model {model})' if model else ''}"


def _asked(result: Result) -> list[Verdict]:
    """Return the verdicts on required properties, or all verdicts if no property is required."""
    return [verdict for verdict in result.verdicts if verdict.required] or list(result.verdicts)


def _claims(result: Result) -> Iterator[str]:
    """Yield each verdict with its id: violations with their smallest fault sets, the others grouped by status."""
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
            return ("Holds in time" if verdict.lemmas else "Holds") + _beside(verdict)
        case Status.VACUOUS:
            return "Vacuous, because the witness was not reached"
        case _:
            return "Undecided"


def _beside(verdict: Verdict) -> str:
    """Return the ids of known defects that could violate the property, as a clause, or nothing."""
    ids = [defect.id for defect in verdict.known_defects]
    return f" in the model, which lacks these known defects: {', '.join(ids)}" if ids else ""


def _scope(result: Result) -> Iterator[str]:
    """Yield the bounds of the verdicts."""
    asked = _asked(result)
    if not asked:
        return
    bounds = _each(asked, lambda verdict: wording.bounds(verdict))
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
