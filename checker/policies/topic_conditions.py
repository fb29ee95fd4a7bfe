"""The conditions that a topic policy of the brokers (``CreateTopicPolicy``, KIP-108) can state.

Such a policy sees the replication factor and the settings that the request writes, and nothing of clients and brokers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from proofka.checker.policies.deriving import Derived, derive
from proofka.checker.policies.expression import AllOf, Expression, Has, Read, is_true, reads_of
from proofka.checker.policies.members import Audited
from proofka.checker.policies.seen import Seen, View
from proofka.properties.verdict import Status

SEEN = ("topic",)
"""The components whose settings the policy sees."""

ALWAYS_WRITTEN = "replication.factor"
"""The value of a topic that every request has."""


@dataclass(frozen=True)
class TopicConditions:
    """Conditions on a topic, and the condition on all else under which they guarantee the property.

    ``assumption`` is a conjunction without parts if the conditions guarantee the property alone.
    """

    conditions: Expression
    assumption: Expression

    @property
    def is_guarantee(self) -> bool:
        """Tell whether the conditions guarantee the property alone."""
        return self.assumption == AllOf(())


def topic_conditions(derived: Derived, audited: Audited, prop: str, most_clauses: int) -> tuple[TopicConditions, ...]:
    """Return the conditions that guarantee the property alone, or else those of each clause with its assumption."""
    alone = derive(audited, prop, most_clauses=most_clauses, scopes=SEEN)
    if alone is not None:
        return tuple(TopicConditions(_written(one.conditions), AllOf(())) for one in alone.clauses)
    found = []
    for clause in derived.clauses:
        own = [one for one in clause.conditions if _is_of_topics(one)]
        others = tuple(one for one in clause.conditions if not _is_of_topics(one))
        found.append(TopicConditions(_written(own), AllOf(others)))
    return tuple(found)


def are_sound(found: Sequence[TopicConditions], audited: Audited, prop: str) -> bool:
    """Tell whether every deployment that meets conditions with their assumption has the property.

    The conditions see written values alone, as a request has them; the assumption sees the values that clients use.
    """
    for member in audited.members.members:
        request, used = Seen(member.deployment, View.WRITTEN), Seen(member.deployment)
        met = any(is_true(one.conditions, request.value) and is_true(one.assumption, used.value) for one in found)
        if met and audited.of(member, prop).status is not Status.HOLDS:
            return False
    return True


def _is_of_topics(condition: Expression) -> bool:
    return all(read.scope in SEEN for read in reads_of(condition))


def _written(conditions: Sequence[Expression]) -> Expression:
    """Return conditions that first ask for settings which a request can leave out: the brokers' values are unknown."""
    return AllOf(tuple(part for one in conditions for part in (*_asked_for(one), one)))


def _asked_for(condition: Expression) -> Iterator[Expression]:
    for read in dict.fromkeys(reads_of(condition)):
        if not _is_always_written(read):
            yield Has(read)


def _is_always_written(read: Read) -> bool:
    return read.key == ALWAYS_WRITTEN
