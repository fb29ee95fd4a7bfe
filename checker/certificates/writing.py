"""Writing a certificate: the text of the system, the closed sets, and the claims (docs/certificates.md)."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import z3

from checker.budget import Budget, Meter
from checker.bundle import json_bytes
from checker.certificates.part import Claim, Part, Smallest, claim_of, uncertified
from checker.certificates.ranks import Ranks, ranks_of
from checker.certificates.reading import DEPLOYMENT, README, SYSTEM, TEXT
from checker.certificates.rows import Rows, as_bytes, members_of
from checker.certificates.text import Asked, SystemText, quoted
from checker.check import Run
from checker.combinations import Combination, smaller
from checker.embedded import EmbeddedExploration
from checker.exploration import Question
from checker.questions import Prepared
from checker.traces import replay
from model.deployment.deployment import Deployment
from model.deployment.document import to_document
from model.input.whole_file import write_whole
from model.language import Action, State, TransitionSystem
from model.language.terms import BoolVal
from model.pipeline import VERSION
from properties.catalogue import properties_of
from properties.verdict import CutSet, Trace, Verdict

FORMAT = 1
"""Version of the format of certificates."""

LEVEL = 6
"""Level of compression of the members, from 0 to 9."""

EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every member, so that the same verdicts give the same file."""

HOW = """This file proves verdicts of Proofka. docs/certificates.md of Proofka describes it.
Check it with certcheck, which needs nothing of Proofka:  certcheck FILE
"""
"""Content of the member README.txt."""


@dataclass(frozen=True)
class Written:
    """What a certificate has: the certified properties, and for each other property the reason against it."""

    certified: tuple[str, ...]
    left_out: Mapping[str, str]
    states: int
    size: int


def write_certificate(run: Run, path: Path, *, tool: str) -> Written:
    """Write the certificate of a finished check. ``tool``: the program and its version, for readers.

    Raise OSError, and :class:`checker.certificates.text.UnwrittenTerm`.
    """
    parts, left_out = _parts(run)
    text = system_text(run.prepared)
    states = 0
    content = io.BytesIO()
    with _Archive(content) as archive:
        lines = [f"(proofka-certificate {FORMAT}"]
        lines.append(f'  (about (deployment {quoted(run.deployment.name)}) (tool {quoted(tool)}) (model "{VERSION}"))')
        limits = limits_of(run.deployment, run.prepared)
        lines.append(f"  (limits {' '.join(f'({kind} {most})' for kind, most in limits.items())})")
        archive.add(SYSTEM, text.text().encode())
        for number, part in enumerate(parts):
            lines += _written_part(number, part, text, run.prepared, archive)
            states += sum(part.exploration.shards[one].count for one in part.closed)
        archive.add(TEXT, ("\n".join(lines) + ")\n").encode())
        archive.add(DEPLOYMENT, json_bytes(to_document(run.deployment)))
        archive.add(README, HOW.encode())
    write_whole(path, content.getvalue())
    certified = tuple(claim.property for part in parts for claim in part.claims)
    return Written(certified, left_out, states, len(content.getvalue()))


def system_text(prepared: Prepared) -> SystemText:
    """Return the text of a prepared model: all its actions as the model wrote them, with constants filled in."""
    constant = {str(variable) for variable, _ in prepared.constants}

    def filled(term: z3.ExprRef) -> z3.ExprRef:
        return z3.substitute(term, *prepared.constants) if prepared.constants else term

    whole = prepared.model.system
    actions = [
        replace(
            action,
            guard=filled(action.guard),
            updates={v: filled(value) for v, value in action.updates.items() if v.name not in constant},
        )
        for action in whole.actions
    ]
    asked = [
        Asked(
            prop.name,
            filled(prop.violated if prop.goal is None else prop.goal),
            filled(prop.witness),
            prop.goal is not None,
        )
        for prop in properties_of(prepared.model.pipeline)
    ]
    return SystemText([v for v in whole.variables if v.name not in constant], actions, asked)


def _parts(run: Run) -> tuple[list[Part], dict[str, str]]:
    """Return the parts with claims, and for each property without a claim the reason."""
    claims: dict[int, list[Claim]] = {}
    left_out: dict[str, str] = {}
    for verdict in run.verdicts():
        number = run.number_of(verdict.property)
        exploration = run.explorations[number]
        reason = uncertified(verdict, exploration, run.in_time(verdict.property))
        if reason is not None or not isinstance(exploration, EmbeddedExploration):
            left_out[verdict.property] = reason or ""
            continue
        ends = _ends(run, verdict)
        claims.setdefault(number, []).append(claim_of(verdict, exploration, run.prepared, ends))
    found = []
    for number, of_part in sorted(claims.items()):
        exploration = run.explorations[number]
        assert isinstance(exploration, EmbeddedExploration)
        found.append(Part(exploration, tuple(of_part)))
    return found, left_out


def _ends(run: Run, verdict: Verdict) -> Mapping[CutSet, State]:
    system, replayer = run.prepared.model.system, run.replayer

    def end(trace: Trace) -> State:
        actions = [system.action(step.action, step.arguments) for step in trace.steps]
        return replay(system, replayer, [action for action in actions if action is not None])[-1]

    return {trace.faults: end(trace) for trace in verdict.traces}


def limits_of(deployment: Deployment, prepared: Prepared) -> dict[str, int]:
    """Return the largest number of faults of each kind that the system's actions have, sorted by name."""
    kinds = {action.fault for action in prepared.model.system.actions if action.fault is not None}
    most = dict(deployment.faults.at_most)
    return {kind: most.get(kind, 0) for kind in sorted(kind.value for kind in kinds)}


def _written_part(number: int, part: Part, text: SystemText, prepared: Prepared, archive: _Archive) -> Iterator[str]:
    exploration = part.exploration
    yield f"  (part {number}"
    layout = exploration.layout
    fields = sorted(layout.fields.values(), key=lambda field: (field.word, field.shift))
    yield f"    (variables {' '.join(field.variable.name for field in fields)})"
    placed = " ".join(f"({one.variable.name} {one.word} {one.shift} {one.width})" for one in fields)
    yield f"    (layout {layout.words} {placed})"
    for kind, by in part.covered:
        yield f"    (covered {kind} {by})"
    ranks: dict[Combination, Ranks] = {}
    for place, combination in enumerate(part.closed):
        shard = exploration.shards[combination]
        if part.is_ranked(combination):
            below = [(exploration.shards[one], ranks[one]) for one in smaller(combination)]
            ranks[combination] = ranks_of(exploration, shard, below)
        names = []
        for piece, (rows, ranked) in enumerate(members_of(shard, ranks.get(combination))):
            name = f"{number}/{place}.{piece}"
            names.append(f'(rows "{name}.rows" {len(rows)})' + _add_rows(archive, name, rows, ranked))
        yield f"    (set {_combination(exploration, combination)} {shard.count} {' '.join(names)})"
    for claim in part.claims:
        yield from _written_claim(number, claim, part, text, prepared, archive)
    yield "  )"


def _add_rows(
    archive: _Archive, name: str, rows: Rows, ranks: np.ndarray[tuple[int], np.dtype[np.uint16]] | None
) -> str:
    archive.add(f"{name}.rows", as_bytes(rows))
    if ranks is None:
        return ""
    archive.add(f"{name}.ranks", ranks.astype("<u2", copy=False).tobytes())
    return f' (ranks "{name}.ranks")'


def _combination(exploration: EmbeddedExploration, combination: Combination) -> str:
    return _faults(exploration.named(combination))


def _faults(faults: CutSet) -> str:
    return f"({' '.join(f'({kind} {count})' for kind, count in faults)})"


def _written_claim(
    number: int, claim: Claim, part: Part, text: SystemText, prepared: Prepared, archive: _Archive
) -> Iterator[str]:
    yield f'    (claim {quoted(claim.property)} (id "{claim.id}") (up-to {claim.up_to})'
    if claim.witness is not None:
        yield f"      (witness {_trace(claim.witness, text)})"
    for place, smallest in enumerate(claim.smallest):
        stuck = ""
        if claim.is_goal:
            rows = _stuck(part.exploration, smallest, prepared)
            name = f"{number}/stuck.{claim.property}.{place}.rows"
            archive.add(name, as_bytes(rows))
            stuck = f' (stuck "{name}" {len(rows)})'
        yield f"      (smallest {_faults(smallest.faults)} (trace {_trace(smallest.actions, text)}){stuck})"
    yield "    )"


def _trace(actions: Sequence[Action], text: SystemText) -> str:
    return " ".join(str(text.number_of(action.key)) for action in actions)


def _stuck(exploration: EmbeddedExploration, smallest: Smallest, prepared: Prepared) -> Rows:
    """Return the states that follow from the end of a trace without further faults."""
    assert smallest.stuck_from is not None
    started = {v: replace(v, initial=smallest.stuck_from[v.name]) for v in exploration.system.variables}
    actions = tuple(
        replace(action, updates={started[v]: value for v, value in action.updates.items()})
        for action in exploration.system.actions
        if action.fault is None
    )
    system = TransitionSystem(exploration.system.name, tuple(started.values()), actions)
    again = EmbeddedExploration(
        system, Question({"nothing": BoolVal(False)}, None, {}), {}, Meter(Budget()), counted=True
    )
    again.explore_layer()
    (shard,) = again.shards.values()
    rows = [again.layout.unpack(row) for piece, _ in members_of(shard, None) for row in piece]
    packed: Rows = np.array([exploration.layout.pack(row) for row in rows], dtype=np.uint64)
    return packed[np.lexsort(packed.T[::-1])]


class _Archive:
    """A ZIP file that is written member by member."""

    def __init__(self, content: io.BytesIO) -> None:
        self._file = zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL)

    def __enter__(self) -> _Archive:
        return self

    def __exit__(self, *ignored: object) -> None:
        self._file.close()

    def add(self, name: str, content: bytes) -> None:
        """Add a member."""
        info = zipfile.ZipInfo(name, EPOCH)
        info.compress_type = zipfile.ZIP_DEFLATED
        info.external_attr = 0o644 << 16
        self._file.writestr(info, content, compresslevel=LEVEL)
