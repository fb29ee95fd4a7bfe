"""``proofka prove``: prove properties by induction, where some bounds do not exist."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from proofka.checker.cli.endings import EXIT_HOLDS, EXIT_UNDECIDED, EXIT_VIOLATED
from proofka.checker.cli.errors import complain, fail, one_line_errors, plain
from proofka.checker.cli.obligation_options import ObligationsFolder, SecondSolver
from proofka.checker.cli.options import Json, LogSize, Replicas, WholeSeconds

if TYPE_CHECKING:
    from proofka.checker.invariants.confirming import Confirmation
    from proofka.checker.invariants.proof import Proof

Document = dict[str, Any]


def prove(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The published protocol, such as kip-320.")],
    properties: Annotated[
        list[str] | None,
        typer.Option(
            "--property", metavar="P", help="A property to prove; repeat for more (default: WeakIsr, StrongIsr)."
        ),
    ] = None,
    replicas: Replicas = 3,
    log_size: LogSize = 2,
    seconds: WholeSeconds = None,
    solver: Annotated[
        SecondSolver | None,
        typer.Option(
            "--solver", help="Ask this solver too, and withdraw the proof if the two disagree (default: none)."
        ),
    ] = None,
    obligations: ObligationsFolder = None,
    details: Annotated[
        bool, typer.Option("--details", help="List the candidates that are no lemmas (default: off).")
    ] = False,
    json_output: Json = False,
) -> None:
    """Prove properties of a published protocol by induction: for any number of steps, leader epochs and records.

    Z3 keeps those candidate lemmas that every step keeps. If these imply a property, the property is proved, and the
    lemmas are its invariant. docs/invariants.md says what a proof covers.

    Exit status: 0 every property is proved, 1 the solvers disagree, 2 the input is wrong, 3 some property is not
    proved.
    """
    from proofka.checker.invariants.confirming import confirmed
    from proofka.checker.invariants.proof import SECONDS
    from proofka.checker.invariants.proof import prove as search
    from proofka.checker.invariants.published import COMPLETENESS, protocol_subject
    from proofka.checker.obligations.second_solver import refuse_if_missing

    with one_line_errors():
        if solver is not None:
            refuse_if_missing()
        _refuse_full(obligations)
        subject = protocol_subject(
            name, replicas=replicas, log_size=log_size, properties=tuple(properties or COMPLETENESS)
        )
        proof = search(subject, seconds or SECONDS)
        if obligations is not None and proof.obligations:
            from proofka.checker.obligations.writing import write

            write(proof.obligations, obligations)
        answers = confirmed(proof.obligations, second=solver is not None)
    disputes = list(answers.disputes())
    for line in disputes:
        complain(f"{name}: the proof is withdrawn: {line}")
    if disputes:
        raise typer.Exit(EXIT_VIOLATED)
    left_open = list(answers.left_open())
    if json_output:
        typer.echo(json.dumps(_document(proof, answers, left_open), ensure_ascii=False))
    else:
        for line in _lines(proof, answers, left_open, details=details):
            typer.echo(plain(line))
    if obligations is not None and proof.obligations:
        complain(f"obligations: {len(proof.obligations):,} files written to {obligations}")
    raise typer.Exit(EXIT_UNDECIDED if proof.reasons or left_open else EXIT_HOLDS)


def _lines(proof: Proof, answers: Confirmation, left_open: list[str], *, details: bool) -> Iterator[str]:
    """Yield the outcome for each property, and the invariant in words."""
    yield f"{proof.subject.system.name}: {proof.scope}"
    for name in proof.subject.violated:
        yield f"  {name}: {_status(proof, name, left_open)}"
    if proof.proved:
        steps = len(proof.subject.system.actions)
        general = proof.in_general()
        yield f"invariant: {len(proof.lemmas):,} lemmas, which the initial state has and each of {steps:,} steps keeps"
        yield from (f"  {words}" for words in general)
        yield from (f"never happens: {step}" for step in proof.idle)
        yield answers.line
        yield from (f"not confirmed: {line}" for line in left_open)
    if details:
        yield from (f"no lemma: {one}" for one in proof.dropped)


def _status(proof: Proof, name: str, left_open: list[str]) -> str:
    if name in proof.reasons:
        return f"not proved: {proof.reasons[name]}"
    return "not proved: the invariant is not confirmed" if left_open else "proved"


def _document(proof: Proof, answers: Confirmation, left_open: list[str]) -> Document:
    system = proof.subject.system
    return {
        "system": system.name,
        "any_number_of": list(system.without_bound),
        "within": list(system.within),
        "properties": {name: _status(proof, name, left_open) for name in proof.subject.violated},
        "lemmas": [lemma.words for lemma in proof.lemmas],
        "invariant": list(proof.in_general()),
        "never_happens": [str(step) for step in proof.idle],
        "dropped": [str(one) for one in proof.dropped],
        "obligations": len(proof.obligations),
        "confirmed": answers.line if proof.proved else None,
        "not_confirmed": left_open,
    }


def _refuse_full(folder: Path | None) -> None:
    """Refuse, before the search, a folder that cannot be written."""
    if folder is not None and folder.exists():
        if not folder.is_dir():
            fail(f"{folder}: is no directory; --obligations takes a directory")
        if any(folder.iterdir()):
            fail(f"{folder}: is not empty; --obligations takes a new or an empty directory")
