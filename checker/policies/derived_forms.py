"""A derived rule in each of its forms, each read again and compared with the deployments."""

from __future__ import annotations

from dataclasses import dataclass

from proofka.checker.policies.cel import read_cel
from proofka.checker.policies.deriving import Derived
from proofka.checker.policies.expression import AllOf, Expression, is_true
from proofka.checker.policies.members import Audited
from proofka.checker.policies.seen import Seen
from proofka.checker.policies.topic_conditions import TopicConditions, are_sound
from proofka.checker.policies.words import read_words
from proofka.checker.policies.writing import in_cel, in_words
from proofka.properties.verdict import Status


class FormDiffersError(Exception):
    """A written rule does not mean what the derived rule means: a defect of Proofka."""


@dataclass(frozen=True)
class Forms:
    """A derived rule as a text of each form.

    ``conditions``: the conditions of a topic policy, with the assumption of each in words; ``""`` for none.
    """

    words: str
    cel: str
    conditions: tuple[tuple[str, str], ...]

    def as_yaml(self, prop: str, matrix: str | None) -> str:
        """Return the rule as a policy in YAML; ``matrix``: the path of the matrix, or None for the usual one."""
        lines = [f"property: {prop}", *([] if matrix is None else [f"matrix: {_quoted(matrix)}"]), "rules:"]
        return "\n".join([*lines, f"  - allow: {_quoted(self.words)}", ""])


def forms_of(derived: Derived, conditions: tuple[TopicConditions, ...], audited: Audited, prop: str) -> Forms:
    """Return the forms of a derived rule, after reading each of them again.

    Raise FormDiffersError if a form allows other deployments than the rule, or a deployment without the property.
    """
    words, cel = in_words(derived.expression), in_cel(derived.expression)
    _compare(read_words(words, "the derived rule"), derived, audited, prop)
    _compare(read_cel(cel, "the derived rule"), derived, audited, prop)
    written = tuple(
        (in_words(one.conditions), "" if one.is_guarantee else in_words(one.assumption)) for one in conditions
    )
    read = [
        TopicConditions(
            read_words(text, "the conditions"), read_words(assumed, "the assumption") if assumed else AllOf(())
        )
        for text, assumed in written
    ]
    if not are_sound(read, audited, prop):
        raise FormDiffersError("the conditions of the topic policy allow a deployment without the property")
    return Forms(words, cel, written)


def _compare(read: Expression, derived: Derived, audited: Audited, prop: str) -> None:
    for member in audited.members.members:
        value = Seen(member.deployment).value
        allowed = is_true(read, value)
        if allowed is not is_true(derived.expression, value):
            raise FormDiffersError(f"a form of the derived rule differs on {member.deployment.name}")
        if allowed and audited.of(member, prop).status is not Status.HOLDS:
            raise FormDiffersError(f"the derived rule allows {member.deployment.name}")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
