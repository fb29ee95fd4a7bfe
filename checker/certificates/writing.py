"""Writing a certificate: the texts of the systems, the closed sets, and the claims (docs/certificates.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from checker.budget import Budget, Meter
from checker.bundle import json_bytes
from checker.certificates.archive import Archive
from checker.certificates.claims import claims_of
from checker.certificates.part import Claim, Part, Smallest
from checker.certificates.reading import DEPLOYMENT, FORMAT, README, TEXT, TIMES
from checker.certificates.rows import Rows, as_bytes
from checker.certificates.sets import faults_in, set_lines
from checker.certificates.systems import limits_of
from checker.certificates.text import quoted
from checker.certificates.times import lemma_lines, times_of
from checker.check import Run
from checker.continuing import continued
from checker.embedded import EmbeddedExploration
from checker.exploration import AnyExploration, Question
from checker.kernel.visited import PARTITIONS
from model.deployment.document import to_document
from model.input.whole_file import write_whole
from model.language import Action
from model.language.terms import BoolVal
from model.pipeline import VERSION

HOW = """This file proves verdicts of Proofka. docs/certificates.md of Proofka describes it.
Check it with certcheck, which needs nothing of Proofka:  certcheck FILE
"""
"""Content of the member README.txt."""


@dataclass(frozen=True)
class Written:
    """The content of a certificate: the certified properties, and for each other property the reason against it.

    ``states``: number of states in all sets. ``size``: bytes of the file.
    """

    certified: tuple[str, ...]
    left_out: Mapping[str, str]
    states: int
    size: int


def write_certificate(run: Run, path: Path, *, tool: str) -> Written:
    """Write the certificate of a finished check. ``tool``: the program and its version, for readers. Raise OSError."""
    claims = claims_of(run)
    archive = Archive()
    with ThreadPoolExecutor(run.threads) as pool:
        lines = [f"(proofka-certificate {FORMAT}"]
        lines.append(f'  (about (deployment {quoted(run.deployment.name)}) (tool {quoted(tool)}) (model "{VERSION}"))')
        limits = limits_of(run.deployment, run.prepared)
        lines.append(f"  (limits {' '.join(f'({kind} {most})' for kind, most in limits.items())})")
        for number, part in enumerate(claims.parts):
            archive.add(part.system, part.text.text())
            lines += _Writer(number, part, archive).lines(pool)
    archive.add(TEXT, "\n".join(lines) + ")\n")
    archive.add(DEPLOYMENT, json_bytes(to_document(run.deployment)))
    archive.add(TIMES, json_bytes({part.system: times_of(part.lemmas) for part in claims.parts if part.lemmas}))
    archive.add(README, HOW)
    content = archive.content()
    write_whole(path, content)
    certified = tuple(claim.property for part in claims.parts for claim in part.claims)
    states = sum(part.exploration.shards[one].count for part in claims.parts for one in part.closed)
    return Written(certified, claims.left_out, states, content.size)


class _Writer:
    """The writer of one part."""

    def __init__(self, number: int, part: Part, archive: Archive) -> None:
        self._number = number
        self._part = part
        self._archive = archive
        self._exploration = part.exploration

    def lines(self, pool: ThreadPoolExecutor) -> Iterator[str]:
        """Write the members of the part, and yield its lines of the text."""
        part = self._part
        yield f'  (part {self._number} (system "{part.system}")'
        for lemma in part.lemmas:
            yield from lemma_lines(lemma)
        yield f"    (variables {' '.join(field.variable.name for field in part.fields)})"
        placed = " ".join(f"({one.variable.name} {one.word} {one.shift} {one.width})" for one in part.fields)
        yield f"    (layout {self._exploration.layout.words} {placed})"
        for kind, by in part.covered:
            yield f"    (covered {kind.value} {by.value})"
        yield from set_lines(self._number, part, self._archive, pool)
        for claim in part.claims:
            yield from self._claim(claim)
        yield "  )"

    def _claim(self, claim: Claim) -> Iterator[str]:
        yield f'    (claim {quoted(claim.property)} (id "{claim.id}") (up-to {claim.up_to})'
        if claim.witness is not None:
            yield f"      (witness {self._trace(claim.witness)})"
        for place, one in enumerate(claim.smallest):
            stuck = self._stuck(f"{self._number}/stuck.{claim.property}.{place}.rows", one) if claim.is_goal else ""
            yield f"      (smallest {faults_in(one.faults)} (trace {self._trace(one.actions)}){stuck})"
        yield "    )"

    def _trace(self, actions: tuple[Action, ...]) -> str:
        return " ".join(str(self._part.text.number_of(action.key)) for action in actions)

    def _stuck(self, name: str, smallest: Smallest) -> str:
        rows = _stuck_rows(self._exploration, smallest)
        self._archive.add(name, as_bytes(rows))
        return f' (stuck "{name}" {len(rows)})'


def _stuck_rows(exploration: AnyExploration, smallest: Smallest) -> Rows:
    """Return the states that follow from the end of a trace without further faults."""
    assert smallest.stuck_from is not None
    system = continued(exploration.system, smallest.stuck_from)
    everything = Question({"nothing": BoolVal(False)}, None, {})
    again = EmbeddedExploration(system, everything, {}, Meter(Budget()), counted=True)
    again.explore_layer()
    (shard,) = again.shards.values()
    rows = [row for part in range(PARTITIONS) for row in shard.packed(part, slice(None))]
    packed: Rows = np.array([exploration.layout.pack(again.layout.unpack(row)) for row in rows], dtype=np.uint64)
    return packed[np.lexsort(packed.T[::-1])]
