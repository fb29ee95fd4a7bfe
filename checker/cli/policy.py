"""``proofka policy``: decide the rules of a policy over a matrix of deployments, or derive a rule."""

from __future__ import annotations

import json
import shlex
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from proofka.checker.cli.checked_options import known_property
from proofka.checker.cli.endings import EXIT_HOLDS, EXIT_NO_POLICY, EXIT_UNDECIDED, EXIT_VACUOUS, EXIT_VIOLATED
from proofka.checker.cli.errors import complain, fail, one_line_errors
from proofka.checker.cli.options import FaultsOfPolicy, Json, MemoryEach, SecondsEach

if TYPE_CHECKING:
    from collections.abc import Sequence

    from proofka.checker.policies.errors import PolicyError
    from proofka.checker.policies.exploring import Explored, Limits
    from proofka.checker.policies.members import Audited, Members
    from proofka.checker.policies.policy import Policy
    from proofka.properties.judged_policy import JudgedMatrix, Judgement

_ORDER = (EXIT_NO_POLICY, EXIT_VIOLATED, EXIT_UNDECIDED, EXIT_VACUOUS)


def policy(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            help="A policy: rules in YAML (docs/policies.md), or a file .cel or .rego with one rule.",
        ),
    ] = None,
    prop: Annotated[
        str | None,
        typer.Option(
            "--property", metavar="NAME", help="The property that rules are to guarantee (default: the policy's)."
        ),
    ] = None,
    matrix: Annotated[
        Path | None,
        typer.Option(
            "--matrix",
            metavar="FILE",
            help="The deployments: a matrix as for proofka audit (default: the policy's, else a usual matrix).",
        ),
    ] = None,
    derive: Annotated[
        str | None,
        typer.Option(
            "--derive",
            metavar="NAME",
            help="Write the weakest simple rule that guarantees this property; instead of FILE (default: none).",
        ),
    ] = None,
    clauses: Annotated[
        int,
        typer.Option("--clauses", metavar="N", min=1, max=6, help="Largest number of clauses of a derived rule."),
    ] = 3,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Write each witness as a deployment, or the derived rule, into this folder (default: none).",
            file_okay=False,
        ),
    ] = None,
    faults: FaultsOfPolicy = None,
    seconds: SecondsEach = None,
    memory: MemoryEach = None,
    json_output: Json = False,
) -> None:
    """Decide the rules of a policy: which deployments they allow that lack a property, and forbid that have it.

    With --derive, write the weakest simple rule over the settings of a matrix that guarantees a property.

    Exit status: 0 the rules together are sufficient (or a rule was derived), 1 they allow a deployment that can violate
    the property, 2 the input is wrong, 3 undecided or no rule was found, 4 the rules allow no deployment, 10 a rule
    cannot be read or decided; the others were. If several apply, the status is the first of 10, 1, 3, 4.
    """
    from proofka.checker.policies.exploring import Limits

    limits = Limits(seconds, memory)
    if (file is None) == (derive is None):
        fail("give a policy FILE, or --derive NAME; see proofka policy --help")
    if derive is not None:
        if prop is not None:
            fail("--property belongs to a policy FILE; --derive names its property itself")
        if json_output:
            fail("--json belongs to a policy FILE; --derive writes its rule with --out DIR")
        from proofka.checker.cli.deriving import derive_rule

        raise typer.Exit(derive_rule(derive, matrix, faults, limits, clauses=clauses, out=out))
    assert file is not None
    raise typer.Exit(_decide(file, prop, matrix, faults, limits, out, as_json=json_output))


def _decide(
    file: Path,
    prop: str | None,
    matrix: Path | None,
    faults: str | None,
    limits: Limits,
    out: Path | None,
    *,
    as_json: bool,
) -> int:
    from proofka.checker.policies.deciding import properties_of
    from proofka.checker.policies.errors import PolicyError
    from proofka.checker.policies.members import USUAL_MATRIX, read_members
    from proofka.checker.policies.reading import read_policy

    with one_line_errors():
        try:
            policy = read_policy(file)
        except PolicyError as error:
            *others, last = sorted((error, *error.further), key=lambda one: one.line or 0)
            for one in others:
                complain(str(one))
            fail(str(last), EXIT_NO_POLICY)
        own = policy.property if prop is None else known_property(prop, "--property")
        if own is None and any(rule.property is None for rule in policy.rules):
            fail(_no_property(file, policy))
        asked = properties_of(policy, own)
        members = read_members(matrix or policy.matrix or USUAL_MATRIX, faults)
        if policy.given is not None:
            try:
                members = members.meeting(policy.given.condition)
            except PolicyError as error:
                fail(f"{file}: given: {error}", EXIT_NO_POLICY)
            if not members.members:
                fail(f"{file}: given: no deployment of the matrix meets {policy.given.text}")
    problems = list(policy.problems)
    readable = _with_values(policy, members, problems)
    for problem in problems:
        complain(str(problem))
    if not readable.rules:
        if as_json:
            _print_json(file, members.told(None), (), problems, given="")
        return EXIT_NO_POLICY
    audited, explored = explored_members(members, asked, limits)
    judgements = _judgements(readable, own, audited, limits, whole=not problems)
    given = "" if policy.given is None else policy.given.text
    _tell(file, judgements, audited, explored, out=out, given=given, on_error=as_json)
    if as_json:
        _print_json(file, members.told(explored), judgements, problems, given=given)
    statuses = {_status(one) for one in deciding(judgements, readable)} | ({EXIT_NO_POLICY} if problems else set())
    return next((status for status in _ORDER if status in statuses), EXIT_HOLDS)


def _no_property(file: Path, policy: Policy) -> str:
    """Return the sentence on a policy without a property, with the way to give one in this kind of file."""
    if policy.can_name_property:
        return f"{file}: names no property; add property: to the policy, or use --property NAME"
    return f"{file}: a file of this kind cannot name the property; use --property NAME (proofka properties lists all)"


def _print_json(
    file: Path,
    matrix: JudgedMatrix,
    judgements: Sequence[Judgement],
    problems: Sequence[PolicyError],
    *,
    given: str,
) -> None:
    """Print the answer as one JSON object."""
    from proofka.reports.policy_documents import answer_of

    answer = answer_of(str(file), matrix, judgements, given=given, problems=[str(problem) for problem in problems])
    typer.echo(json.dumps(answer, ensure_ascii=False))


def _with_values(policy: Policy, members: Members, problems: list[PolicyError]) -> Policy:
    """Return the policy without the rules that have no value for some deployment; their problems are added."""
    from dataclasses import replace

    from proofka.checker.policies.deciding import check_values
    from proofka.checker.policies.errors import PolicyError

    rules = []
    for rule in policy.rules:
        try:
            check_values(rule, members, policy.view, policy.file)
            rules.append(rule)
        except PolicyError as error:
            problems.append(error)
    return replace(policy, rules=tuple(rules))


def explored_members(members: Members, properties: Sequence[str], limits: Limits) -> tuple[Audited, Explored]:
    """Return the deployments with the outcomes of properties. Ctrl-C leaves the remaining outcomes unknown."""
    from proofka.checker.interruption import interrupts
    from proofka.checker.policies.exploring import outcomes
    from proofka.checker.policies.members import Audited
    from proofka.reports.console import console

    questions = members.questions(properties)
    stop = threading.Event()
    with one_line_errors(), interrupts(stop), console(stderr=True).status("reading models") as line:

        def tell(stage: str, done: int, total: int) -> None:
            line.update(f"{stage}: {done:,} of {total:,}")

        explored = outcomes(questions.values(), limits, stop=stop, tell=tell)
    if stop.is_set():
        complain("interrupted: the rest is unknown; the same command continues, and keeps what is explored")
    found = {place: explored.outcomes[question] for place, question in questions.items()}
    return Audited(members, found), explored


def _judgements(
    policy: Policy, own: str | None, audited: Audited, limits: Limits, *, whole: bool
) -> tuple[Judgement, ...]:
    from proofka.checker.policies.deciding import decide
    from proofka.checker.policies.exploring import explore

    together = policy.together() if whole else None
    found = []
    with one_line_errors():
        for rule in (*policy.rules, *([] if together is None else [together])):
            asked = rule.property or own
            assert asked is not None, "a rule without a property was refused"
            found.append(decide(rule, asked, audited, policy.view, partial(explore, limits=limits)))
    return tuple(found)


def deciding(judgements: Sequence[Judgement], policy: Policy) -> Sequence[Judgement]:
    """Return the decisions that determine the exit status.

    The rules of a policy hold together, so the decision on all of them outranks those on each.
    """
    from proofka.checker.policies.policy import ALL_RULES

    together = [one for one in judgements if one.rule == ALL_RULES]
    if not together:
        return judgements
    others = {rule.name for rule in policy.rules if rule.property is not None}
    return [*together, *(one for one in judgements if one.rule in others)]


def _status(judgement: Judgement) -> int:
    from proofka.properties.judged_policy import Sufficient

    return {
        Sufficient.YES: EXIT_HOLDS,
        Sufficient.NO: EXIT_VIOLATED,
        Sufficient.UNKNOWN: EXIT_UNDECIDED,
        Sufficient.ALLOWS_NONE: EXIT_VACUOUS,
    }[judgement.sufficient]


def _tell(
    file: Path,
    judgements: Sequence[Judgement],
    audited: Audited,
    explored: Explored,
    *,
    out: Path | None,
    given: str,
    on_error: bool,
) -> None:
    """Print the decisions, and write the witnesses into a folder if there is one.

    ``on_error``: print to standard error, because standard output takes JSON.
    """
    from proofka.checker.policies.witnesses import deployment_file, write_witness
    from proofka.reports.console import console
    from proofka.reports.policies import print_judgements

    deployments = {one.number: one.deployment for one in audited.members.members}
    commands: dict[str, str] = {}
    for judgement in judgements:
        for witness in (judgement.allowed_wrongly, judgement.forbidden_wrongly):
            if witness is None:
                continue
            if out is None:
                commands[witness.name] = f"proofka policy {shlex.quote(str(file))} --out DIR writes this deployment"
                continue
            name = f"{witness.name}-{judgement.property}"
            deployment = deployments[witness.number]
            text = deployment_file(audited.members.matrix, witness.number, deployment, judgement.property)
            with one_line_errors():
                written = write_witness(out, name, text)
            commands[witness.name] = f"the whole answer: proofka check {shlex.quote(str(written))}"
    print_judgements(console(stderr=on_error), audited.members.told(explored), judgements, commands, given)
