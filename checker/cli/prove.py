"""``proofka prove``: prove properties by induction, where some bounds do not exist."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
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
    from proofka.checker.obligations.obligation import Obligation

Document = dict[str, Any]


def prove(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The published protocol, such as kip-320, or a deployment file.")
    ],
    properties: Annotated[
        list[str] | None,
        typer.Option(
            "--property",
            metavar="P",
            help="A property to prove; repeat for more (default: WeakIsr, StrongIsr; of a deployment, those that it "
            "requires).",
        ),
    ] = None,
    faults: Annotated[
        str | None,
        typer.Option(
            metavar="KINDS",
            help="The kinds of fault that happen any number of times, such as kill,leader-move, or any: all kinds of "
            "the deployment (default: any).",
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
    """Prove properties by induction: of a published protocol, for any number of steps, leader epochs and records; of a
    deployment, for any number of steps, leader epochs and faults.

    Z3 keeps those candidate lemmas that every step keeps. If these imply a property, the property is proved, and the
    lemmas are its invariant. The candidates of a deployment come from states that are explored. docs/invariants.md
    says what a proof covers.

    Exit status: 0 every property is proved, 1 the solvers disagree, 2 the input is wrong, 3 some property is not
    proved.
    """
    from proofka.checker.invariants.confirming import confirmed
    from proofka.checker.obligations.second_solver import refuse_if_missing
    from proofka.model.published.protocols import PROTOCOLS

    with one_line_errors():
        if solver is not None:
            refuse_if_missing()
        _refuse_full(obligations)
        is_file = Path(name).exists() or Path(name).suffix != ""
        if name in PROTOCOLS or not is_file:
            _refuse_given(context, "faults", "takes a deployment file, and not a published protocol")
            proofs = [_of_protocol(name, properties, replicas, log_size, seconds)]
        else:
            for option in ("replicas", "log_size"):
                _refuse_given(context, option, "takes a published protocol, and not a deployment file")
            proofs = _of_deployment(Path(name), properties, faults, seconds)
        every = _numbered(proofs)
        if obligations is not None and every:
            from proofka.checker.obligations.writing import write

            write(every, obligations)
        answers = [confirmed(proof.obligations, second=solver is not None) for proof in proofs]
    disputes = [line for each in answers for line in each.disputes()]
    for line in disputes:
        complain(f"{name}: the proof is withdrawn: {line}")
    if disputes:
        raise typer.Exit(EXIT_VIOLATED)
    left_open = [list(each.left_open()) for each in answers]
    answered = list(zip(proofs, answers, left_open, strict=True))
    if json_output:
        documents = [_document(*each) for each in answered]
        typer.echo(json.dumps(documents[0] if len(documents) == 1 else documents, ensure_ascii=False))
    else:
        for each in answered:
            for line in _lines(*each, details=details):
                typer.echo(plain(line))
    if obligations is not None and every:
        complain(f"obligations: {len(every):,} files written to {obligations}")
    undecided = any(left_open) or any(proof.reasons for proof in proofs)
    raise typer.Exit(EXIT_UNDECIDED if undecided else EXIT_HOLDS)


def _of_protocol(
    name: str, properties: Sequence[str] | None, replicas: int, log_size: int, seconds: float | None
) -> Proof:
    from proofka.checker.invariants.proof import SECONDS
    from proofka.checker.invariants.proof import prove as search
    from proofka.checker.invariants.published import COMPLETENESS, protocol_subject

    asked = tuple(properties or COMPLETENESS)
    return search(protocol_subject(name, replicas=replicas, log_size=log_size, properties=asked), seconds or SECONDS)


def _of_deployment(
    file: Path, properties: Sequence[str] | None, faults: str | None, seconds: float | None
) -> list[Proof]:
    from proofka.checker.cli.source_options import source_of
    from proofka.checker.invariants.deployments import SECONDS, prove_deployment

    deployment = source_of(file, None, None).read()
    kinds = None if faults is None or faults == "any" else [kind.strip() for kind in faults.split(",")]
    return prove_deployment(deployment, properties, kinds, seconds or SECONDS)


def _numbered(proofs: Sequence[Proof]) -> tuple[Obligation, ...]:
    """Return the obligations of several proofs, with different numbers."""
    together = (one for proof in proofs for one in proof.obligations)
    return tuple(replace(one, number=number) for number, one in enumerate(together, 1))


def _refuse_given(context: typer.Context, option: str, why: str) -> None:
    """Refuse an option that the user gave, and that does not belong to what is to be proved."""
    source = context.get_parameter_source(option)
    if source is not None and source.name == "COMMANDLINE":
        fail(f"--{option.replace('_', '-')}: {why}")


def _lines(proof: Proof, answers: Confirmation, left_open: list[str], *, details: bool) -> Iterator[str]:
    """Yield the outcome for each property, and the invariant in words."""
    yield f"{proof.subject.system.name}: {proof.scope}"
    for name in (*proof.subject.violated, *(one for one in proof.reasons if one not in proof.subject.violated)):
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
        "properties": {
            name: _status(proof, name, left_open) for name in dict.fromkeys((*proof.subject.violated, *proof.reasons))
        },
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
