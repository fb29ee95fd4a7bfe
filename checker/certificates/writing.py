"""Writing a certificate: the texts of the systems, the closed sets, and the claims (docs/certificates.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from proofka.checker.bundle import json_bytes
from proofka.checker.certificates.archive import Archive
from proofka.checker.certificates.claims import claims_of
from proofka.checker.certificates.part import Claim, Part
from proofka.checker.certificates.reading import DEPLOYMENT, README, TEXT, TIMES
from proofka.checker.certificates.sets import faults_in, set_lines
from proofka.checker.certificates.systems import limits_of
from proofka.checker.certificates.text import quoted
from proofka.checker.certificates.times import lemma_lines, times_of
from proofka.checker.check import Run
from proofka.checker.kernel.layout import Field
from proofka.model.deployment.document import to_document
from proofka.model.input.whole_file import write_whole
from proofka.model.language import Action
from proofka.model.pipeline import VERSION

HOW = """This file proves verdicts of Proofka. docs/certificates.md of Proofka describes it.
Check it with certcheck, which needs nothing of Proofka:  certcheck FILE
"""
"""Content of the member README.txt."""


@dataclass(frozen=True)
class Written:
    """The content of a certificate: the certified properties, and for each other property the reason against it.

    ``states``: number of states in all sets.
    """

    certified: tuple[str, ...]
    left_out: Mapping[str, str]
    states: int


def write_certificate(run: Run, path: Path, *, tool: str) -> Written:
    """Write the certificate of a finished check. ``tool``: the program and its version, for readers. Raise OSError."""
    claims = claims_of(run)
    archive = Archive()
    with ThreadPoolExecutor(run.threads) as pool:
        about = {"deployment": run.deployment.name, "tool": tool, "model": VERSION}
        lines = [f"(about {what} {quoted(str(text))})" for what, text in about.items()]
        lines += [f"(limit {kind} {most})" for kind, most in limits_of(run.deployment, run.prepared).items()]
        for number, part in enumerate(claims.parts):
            archive.add(part.system, part.text.text())
            lines += _Writer(number, part, archive).lines(pool)
    archive.add(TEXT, "\n".join(lines) + "\n")
    archive.add(DEPLOYMENT, json_bytes(to_document(run.deployment)))
    archive.add(TIMES, json_bytes({part.system: times_of(part.lemmas) for part in claims.parts if part.lemmas}))
    archive.add(README, HOW)
    write_whole(path, archive)
    certified = tuple(claim.property for part in claims.parts for claim in part.claims)
    states = sum(part.exploration.shards[one].count for part in claims.parts for one in part.closed)
    return Written(certified, claims.left_out, states)


def field_lines(fields: Sequence[Field]) -> Iterator[str]:
    """Yield the lines of fields in their order; those of a word follow one another from its lowest bit on."""
    word = 0
    for field in fields:
        yield from ["(word)"] * (field.word - word)
        word = field.word
        yield f"(field {field.variable.name})"


class _Writer:
    """The writer of one part."""

    def __init__(self, number: int, part: Part, archive: Archive) -> None:
        self._number = number
        self._part = part
        self._archive = archive

    def lines(self, pool: ThreadPoolExecutor) -> Iterator[str]:
        """Write the members of the part, and yield its lines of the text."""
        part = self._part
        yield f'(system "{part.system}")'
        for lemma in part.lemmas:
            yield from lemma_lines(lemma)
        yield from field_lines(part.fields)
        for kind, by in part.covered:
            yield f"(covered {kind.value} {by.value})"
        for unlimited in part.unlimited:
            yield f"(unlimited {unlimited})"
        yield from set_lines(self._number, part, self._archive, pool)
        for claim in part.claims:
            yield from self._claim(claim)

    def _claim(self, claim: Claim) -> Iterator[str]:
        yield f'(claim {quoted(claim.property)} "{claim.id}" {claim.up_to})'
        if claim.witness is not None:
            yield f"(witness {self._trace(claim.witness)})"
        for one in claim.smallest:
            yield f"(smallest {faults_in(one.faults)} {self._trace(one.actions)})"

    def _trace(self, actions: tuple[Action, ...]) -> str:
        """Return the numbers of the actions that change a variable which the part keeps."""
        text, kept = self._part.text, {field.variable.name for field in self._part.fields}
        return " ".join(
            str(text.number_of(action.key)) for action in actions if not kept.isdisjoint(text.changed_by(action.key))
        )
