"""The decision on a rule: sufficient for a property or not, and necessary or stricter than needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from proofka.checker.policies.errors import PolicyError
from proofka.checker.policies.exploring import Outcome, Question, question_of
from proofka.checker.policies.expression import Read, is_true, reads_of
from proofka.checker.policies.members import Audited, Member, Members
from proofka.checker.policies.policy import Policy, Rule
from proofka.checker.policies.seen import Seen, View
from proofka.properties.judged_policy import Counts, Judgement, Needed, Sufficient, Witness
from proofka.properties.known_defects.beside import defects_beside
from proofka.properties.verdict import Status

UNDECIDED = (Status.UNKNOWN, Status.VACUOUS)
"""The statuses that are no evidence, neither for the property nor against it."""

Traced = Callable[[Question], Outcome]
"""A function that explores one question again, for its trace."""


def split(rule: Rule, members: Members, view: View) -> tuple[tuple[Member, ...], tuple[Member, ...]]:
    """Return the deployments that a rule allows, and those that it forbids. Raise PolicyError."""
    allowed: list[Member] = []
    forbidden: list[Member] = []
    for member in members.members:
        seen = Seen(member.deployment, view)
        (allowed if is_true(rule.allows, seen.value) else forbidden).append(member)
    return tuple(allowed), tuple(forbidden)


def decide(rule: Rule, prop: str, audited: Audited, view: View, traced: Traced) -> Judgement:
    """Return the decision on a rule. Raise PolicyError for a rule that has no value for some deployment."""
    members = audited.members
    allowed, forbidden = split(rule, members, view)
    counts = Counts(_counted(allowed, prop, audited), _counted(forbidden, prop, audited))
    unmodelled = tuple(_unmodelled(rule, members, view))
    wrongly = _simplest(allowed, prop, audited, Status.VIOLATED)
    strictly = _simplest(forbidden, prop, audited, Status.HOLDS)
    sufficient = _sufficient(counts, decided=not unmodelled)
    needed = _needed(counts, decided=not unmodelled)
    return Judgement(
        rule.name,
        rule.text,
        prop,
        sufficient,
        needed,
        counts,
        _witness(wrongly, prop, audited, traced) if sufficient is Sufficient.NO else None,
        _witness(strictly, prop, audited, traced) if needed is Needed.NO else None,
        (*rule.notes, *_notes(rule, members, view)),
        unmodelled,
        sum(
            audited.of(one, prop).status is Status.HOLDS and bool(defects_beside(one.deployment, prop))
            for one in allowed
        ),
    )


def properties_of(policy: Policy, default: str | None = None) -> tuple[str, ...]:
    """Return the properties about which the rules of a policy are decided, each once."""
    own = default or policy.property
    named = [rule.property or own for rule in policy.rules]
    return tuple(dict.fromkeys(one for one in named if one is not None))


def check_values(rule: Rule, members: Members, view: View, file: str) -> None:
    """Raise PolicyError, with the place, if the rule has no value for some deployment."""
    try:
        split(rule, members, view)
    except PolicyError as error:
        error.file = file
        raise


def _counted(members: Iterable[Member], prop: str, audited: Audited) -> dict[Status, int]:
    found = Counter(audited.of(member, prop).status for member in members)
    return {status: found[status] for status in Status}


def _sufficient(counts: Counts, *, decided: bool) -> Sufficient:
    if counts.allowed[Status.VIOLATED]:
        return Sufficient.NO
    if not decided:
        return Sufficient.UNKNOWN
    if not counts.all_allowed:
        return Sufficient.ALLOWS_NONE
    return Sufficient.UNKNOWN if any(counts.allowed[one] for one in UNDECIDED) else Sufficient.YES


def _needed(counts: Counts, *, decided: bool) -> Needed:
    if counts.forbidden[Status.HOLDS]:
        return Needed.NO
    if not decided:
        return Needed.UNKNOWN
    if not counts.all_forbidden:
        return Needed.FORBIDS_NONE
    return Needed.UNKNOWN if any(counts.forbidden[one] for one in UNDECIDED) else Needed.YES


def _simplest(members: Iterable[Member], prop: str, audited: Audited, status: Status) -> Member | None:
    """Return the deployment with the fewest faults, then the fewest steps, then the lowest number."""

    def cost(member: Member) -> tuple[int, int, int]:
        found = audited.of(member, prop)
        return sum(count for _, count in found.faults), len(found.steps), member.number

    found = [member for member in members if audited.of(member, prop).status is status]
    return min(found, key=cost, default=None)


def _witness(member: Member | None, prop: str, audited: Audited, traced: Traced) -> Witness | None:
    if member is None:
        return None
    outcome = audited.of(member, prop)
    question = question_of(member.deployment, prop)
    if outcome.steps and outcome.of != question.digest:
        # The trace is of another deployment, whose parts that the property does not see can have other values.
        outcome = traced(question)
    return Witness(
        member.number,
        member.deployment.name,
        member.chosen,
        outcome.status,
        outcome.faults,
        outcome.failure,
        outcome.steps,
        outcome.cut_sets,
    )


def _each_once(rule: Rule) -> tuple[Read, ...]:
    return tuple({(one.scope, one.key): one for one in reads_of(rule.allows)}.values())


def _unmodelled(rule: Rule, members: Members, view: View) -> Iterator[str]:
    """Yield the settings that the rule reads, and that no deployment of the matrix sets or depends on.

    With another value of such a setting, the rule could allow other deployments: only a witness decides the rule.
    """
    for read in _each_once(rule):
        modelled = any(Seen(one.deployment, view).is_modelled(read) for one in members.members)
        if not modelled and not members.varies(read):
            yield read.name


def _notes(rule: Rule, members: Members, view: View) -> Iterator[str]:
    """Yield a sentence for each setting that has the same value in every deployment of the matrix."""
    for read in _each_once(rule):
        values = {Seen(one.deployment, view).value(read) for one in members.members}
        if len(values) == 1:
            (value,) = values
            shown = "not set" if value is None else value
            yield f"{read.name} is {shown} in every deployment of the matrix; other values are not part of the answer"
