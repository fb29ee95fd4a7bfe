"""The decision on a rule of a policy, as plain values for reports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from proofka.properties.verdict import CutSet, Status


class Sufficient(StrEnum):
    """The answer to the question whether every deployment that a rule allows has the property."""

    YES = "sufficient"
    NO = "not sufficient"
    UNKNOWN = "sufficiency unknown"
    ALLOWS_NONE = "allows no deployment"


class Needed(StrEnum):
    """The answer to the question whether every deployment that a rule forbids lacks the property."""

    YES = "necessary"
    NO = "stricter than needed"
    UNKNOWN = "necessity unknown"
    FORBIDS_NONE = "forbids no deployment"


@dataclass(frozen=True)
class Witness:
    """A deployment that shows an answer.

    ``chosen``: the values of the matrix that make the deployment. ``name``: its name. ``faults``: the first smallest
    fault set that violates the property, ``failure`` and ``steps`` its trace in words; all empty where the property
    holds.
    """

    number: int
    name: str
    chosen: Mapping[str, str | None]
    status: Status
    faults: CutSet = ()
    failure: str = ""
    steps: tuple[str, ...] = ()
    cut_sets: tuple[CutSet, ...] = ()


@dataclass(frozen=True)
class Counts:
    """The number of deployments that a rule allows and forbids, by the status of the property."""

    allowed: Mapping[Status, int]
    forbidden: Mapping[Status, int]

    @property
    def all_allowed(self) -> int:
        """The number of deployments that the rule allows."""
        return sum(self.allowed.values())

    @property
    def all_forbidden(self) -> int:
        """The number of deployments that the rule forbids."""
        return sum(self.forbidden.values())


@dataclass(frozen=True)
class Judgement:
    """The decision on one rule for one property, over every deployment of a matrix.

    ``allowed_wrongly``: a deployment that the rule allows and that lacks the property. ``forbidden_wrongly``: a
    deployment that the rule forbids and that has the property. ``notes``: sentences that limit the answer.
    ``unmodelled``: settings that the rule reads and on which no model depends, if these leave the rule undecided.
    ``with_defects``: the number of allowed deployments that have the property and whose releases have a known defect
    that could violate the property (docs/defects.md).
    """

    rule: str
    text: str
    property: str
    sufficient: Sufficient
    needed: Needed
    counts: Counts
    allowed_wrongly: Witness | None = None
    forbidden_wrongly: Witness | None = None
    notes: tuple[str, ...] = ()
    unmodelled: tuple[str, ...] = ()
    with_defects: int = 0


@dataclass(frozen=True)
class JudgedMatrix:
    """The deployments of a matrix over which rules are decided.

    ``budget``: the faults in words. ``deployments``: the number of combinations that some client and broker accepts.
    ``refused``: reasons for which combinations are no deployments, with their numbers. ``systems``: the number of
    distinct questions to the checker.
    """

    name: str
    budget: str
    deployments: int
    refused: Mapping[str, int]
    systems: int
    settings: Mapping[str, tuple[str | None, ...]]


@dataclass(frozen=True)
class PublicRule:
    """A rule in public use.

    ``says``: the rule in a sentence. ``source``: who states the rule, and where; ``link``: its address. ``language``:
    the language of ``text`` (allow, deny, cel, rego). ``matrices``: names of the matrices over which the rule is
    decided. ``sees``: the values that the rule sees. ``assumed``: what the text leaves out of the source's rule.
    ``given``: a condition on what the rule cannot see; the rule is decided for the deployments that meet it, too.
    """

    id: str
    says: str
    source: str
    link: str
    language: str
    text: str
    property: str
    matrices: tuple[str, ...]
    sees: str
    assumed: str
    given: str = ""

    def variants(self) -> tuple[tuple[str, str], ...]:
        """Return each matrix with the condition on its deployments, ``""`` for all of them."""
        conditions = ("", self.given) if self.given else ("",)
        return tuple((name, condition) for name in self.matrices for condition in conditions)


@dataclass(frozen=True)
class JudgedRules:
    """The decisions on rules in public use.

    ``judgements``: by rule, matrix, and condition on the deployments. ``matrices``: the figures of each matrix.
    """

    judgements: Mapping[tuple[str, str, str], Judgement]
    matrices: Mapping[str, JudgedMatrix]


def fault_set_of(pairs: Iterable[tuple[str, int]]) -> CutSet:
    """Return the fault set of pairs of a kind and a number, as a JSON text has them."""
    return tuple((kind, count) for kind, count in pairs)
