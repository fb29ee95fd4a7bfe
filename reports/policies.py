"""Decisions on the rules of a policy: on the terminal, and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap

from rich.console import Console
from rich.text import Text

from proofka.properties.judged_policy import Counts, JudgedMatrix, Judgement, Needed, Sufficient, Witness
from proofka.properties.verdict import Status
from proofka.reports import wording

STYLE: Mapping[Sufficient | Needed, str] = {
    Sufficient.YES: "green",
    Sufficient.NO: "red",
    Needed.NO: "yellow",
}
"""The style of an answer on the terminal."""

NOT_SET = "not set"
"""The word for a setting that a combination leaves out."""


def print_judgements(
    out: Console,
    matrix: JudgedMatrix,
    judgements: Sequence[Judgement],
    commands: Mapping[str, str],
    given: str = "",
) -> None:
    """Print the matrix and every decision.

    ``commands``: the command about each witness, by its name. ``given``: the condition that the deployments meet.
    """
    out.print(Text(heading(matrix)))
    if given:
        _print_indented(out, f"only the deployments with {wording.plain(given)}", 2, "")
    for reason, number in matrix.refused.items():
        _print_indented(out, f"not a deployment ({number}): {wording.plain(reason)}", 2, "dim")
    for judgement in judgements:
        out.print()
        out.print(Text(wording.plain(judgement.rule), style="bold"))
        if judgement.text != judgement.rule:
            _print_indented(out, wording.plain(judgement.text), 2, "dim")
        for answer, line in answers(judgement):
            _print_indented(out, line, 2, STYLE.get(answer, ""))
            witness = witness_of(judgement, answer)
            if witness is not None:
                for part in (*told(witness), *([commands[witness.name]] if witness.name in commands else [])):
                    _print_indented(out, part, 4, "dim")
        for note in notes(judgement):
            _print_indented(out, f"note: {wording.plain(note)}", 2, "dim")


def _print_indented(out: Console, line: str, by: int, style: str) -> None:
    """Print a line, broken at the width of the console, with spaces before each part."""
    for part in wrap(line, max(out.width - by, 20), break_long_words=False, break_on_hyphens=False):
        out.print(Text(" " * by + part, style=style))


def heading(matrix: JudgedMatrix) -> str:
    """Return the matrix in one line."""
    deployments = wording.counted(matrix.deployments, "deployment")
    systems = wording.counted(matrix.systems, "system")
    return f"matrix {matrix.name}: {deployments}, {systems}; {matrix.budget}"


def answers(judgement: Judgement) -> Iterator[tuple[Sufficient | Needed, str]]:
    """Yield both answers, each with its sentence."""
    yield judgement.sufficient, f"{judgement.sufficient}: {why_sufficient(judgement)}"
    yield judgement.needed, f"{judgement.needed}: {why_needed(judgement)}"


def why_sufficient(judgement: Judgement) -> str:
    """Return the reason for the answer about allowed deployments."""
    counts, prop = judgement.counts, judgement.property
    allowed = wording.counted(counts.all_allowed, "allowed deployment")
    match judgement.sufficient:
        case Sufficient.YES:
            every = "the one allowed deployment has" if counts.all_allowed == 1 else f"all {allowed} have"
            return f"{every} {prop}"
        case Sufficient.NO:
            return f"{counts.allowed[Status.VIOLATED]} of {allowed} can violate {prop}"
        case Sufficient.ALLOWS_NONE:
            return f"the rule forbids every deployment of the matrix, so it says nothing about {prop}"
        case _:
            return _why_unknown(judgement, counts.allowed, allowed)


def why_needed(judgement: Judgement) -> str:
    """Return the reason for the answer about forbidden deployments."""
    counts, prop = judgement.counts, judgement.property
    forbidden = wording.counted(counts.all_forbidden, "forbidden deployment")
    match judgement.needed:
        case Needed.YES:
            every = "the one forbidden deployment" if counts.all_forbidden == 1 else f"all {forbidden}"
            return f"{every} can violate {prop}"
        case Needed.NO:
            have = "has" if counts.forbidden[Status.HOLDS] == 1 else "have"
            return f"{counts.forbidden[Status.HOLDS]} of {forbidden} {have} {prop}"
        case Needed.FORBIDS_NONE:
            return "the rule allows every deployment of the matrix"
        case _:
            return _why_unknown(judgement, counts.forbidden, forbidden)


def _why_unknown(judgement: Judgement, counted: Mapping[Status, int], what: str) -> str:
    if judgement.unmodelled:
        read = ", ".join(judgement.unmodelled)
        return f"the rule reads {read}, which no deployment of the matrix sets or depends on"
    open_ones = [f"{counted[one]} {one}" for one in (Status.UNKNOWN, Status.VACUOUS) if counted[one]]
    return f"of {what}, {' and '.join(open_ones)} for {judgement.property}"


def witness_of(judgement: Judgement, answer: Sufficient | Needed) -> Witness | None:
    """Return the deployment that shows an answer."""
    return judgement.allowed_wrongly if isinstance(answer, Sufficient) else judgement.forbidden_wrongly


def told(witness: Witness) -> Iterator[str]:
    """Yield a witness in words: its values, and its shortest trace in one line."""
    yield f"{witness.name}: {chosen(witness)}"
    if witness.steps:
        steps = wording.counted(len(witness.steps), "step")
        yield f"{wording.fault_set(witness.faults)}, {steps}: {wording.plain(witness.failure)}"


def chosen(witness: Witness) -> str:
    """Return the values of the matrix that make a witness."""
    return ", ".join(f"{key}={NOT_SET if value is None else value}" for key, value in witness.chosen.items())


def notes(judgement: Judgement) -> Iterator[str]:
    """Yield the sentences that limit a decision."""
    yield from judgement.notes
    if judgement.with_defects:
        have = "has" if judgement.with_defects == 1 else "have"
        yield (
            f"{judgement.with_defects} of the allowed deployments {have} releases with a known defect that could "
            f"violate {judgement.property} (docs/defects.md)"
        )


def counted(counts: Counts) -> str:
    """Return the numbers of allowed and forbidden deployments."""
    return f"{counts.all_allowed} allowed, {counts.all_forbidden} forbidden"


@dataclass(frozen=True)
class DerivedRule:
    """A derived rule in each form, and its figures.

    ``conditions``: the conditions of a topic policy, each with its assumption, or ``""``. ``allowed``: the number of
    deployments that the rule allows. ``statuses``: the number of deployments by the status of the property.
    ``is_weakest``: no rule with these numbers of clauses and conditions allows more.
    """

    words: str
    cel: str
    conditions: tuple[tuple[str, str], ...]
    allowed: int
    statuses: Mapping[Status, int]
    most_clauses: int
    most_conditions: int
    is_weakest: bool


def print_derived(out: Console, matrix: JudgedMatrix, prop: str, rule: DerivedRule | None) -> None:
    """Print a derived rule, or that there is none."""
    out.print(Text(heading(matrix)))
    out.print()
    if rule is None:
        out.print(Text(f"no rule was found: no deployment of the matrix is known to have {prop}"))
        return
    out.print(Text(f"in words: {rule.words}"))
    out.print(Text(f"in CEL:   {rule.cel}"))
    out.print()
    out.print(Text(why_derived(prop, rule)))
    out.print()
    out.print(Text(topic_policy_text(prop, rule)))


def why_derived(prop: str, rule: DerivedRule) -> str:
    """Return the guarantee of a derived rule, and its distance from a rule that allows everything possible."""
    having = rule.statuses[Status.HOLDS]
    size = f"{rule.most_clauses} clauses of {rule.most_conditions} conditions"
    reach = (
        f"the weakest rule of at most {size}" if rule.is_weakest else f"a rule of at most {size}, not compared with all"
    )
    open_ones = rule.statuses[Status.UNKNOWN] + rule.statuses[Status.VACUOUS]
    without = f"; {wording.counted(open_ones, 'undecided deployment')} counted as without" if open_ones else ""
    allowed = f"{rule.allowed} of {having} deployments that have {prop}"
    return f"{reach}: the rule allows {allowed}, and no other of the matrix{without}"


def topic_policy_text(prop: str, rule: DerivedRule) -> str:
    """Return the conditions of a topic policy as text, with the assumptions under which they guarantee the property."""
    lines = [
        "CreateTopicPolicy: conditions on replicationFactor() and configs() of a request",
        "(a setting that the request leaves out has the brokers' value, which the policy does not see)",
    ]
    alone = all(not assumed for _, assumed in rule.conditions)
    if not alone:
        lines.append(f"These conditions alone do not guarantee {prop}: the policy sees no client and no broker.")
    for text, assumed in rule.conditions:
        lines.append(f"  allow if {text}")
        if assumed:
            lines.append(f"    assumed, and not seen by the policy: {assumed}")
    return "\n".join(lines)
