"""A claim, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from model.deployment.deployment import Deployment
from properties.verdict import Status, Verdict


@dataclass(frozen=True)
class Case:
    """What a claim comes to in one deployment: ``property`` holds there, or it can be violated.

    ``condition``: in words, what this deployment has beyond what the claim itself says; empty if nothing. ``asked``:
    the deployment, as a record of an inventory (:mod:`model.deployment.record_reader`).
    """

    property: str
    holds: bool
    condition: str
    asked: Mapping[str, object]


class About(StrEnum):
    """What a claim can say of a setting: its default, what it can be, that there is one, what follows from it."""

    DEFAULT = "default"
    CHOICES = "choices"
    EXISTENCE = "exists"
    FOLLOWS = "follows"


@dataclass(frozen=True)
class SettingClaim:
    """What a claim speaks of: ``about`` of ``key`` of ``scope`` (producer, broker, ...), and the default it names.

    What follows from a setting is read of a deployment: ``of`` is its record, ``keys`` are the settings that it
    decides, ``against`` values of these that somebody could set beside it.
    """

    scope: str
    key: str
    about: About
    value: str | None = None
    of: Mapping[str, object] = field(default_factory=dict)
    keys: tuple[str, ...] = ()
    against: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Claim:
    """A sentence from the literature.

    ``cases``: what it comes to, all of which must be so for it to be true. ``setting``: where it only speaks of a
    setting, and not of what happens. ``missing``: why no model decides it; empty if one does.
    """

    id: str
    says: str
    cases: tuple[Case, ...] = ()
    setting: SettingClaim | None = None
    missing: str = ""

    @property
    def kind(self) -> str:
        """Which of the tables it stands in: ``claims``, ``findings`` or ``incidents``."""
        return {"C": "claims", "F": "findings", "I": "incidents"}[self.id[0]]


class Outcome(StrEnum):
    """What became of a claim."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    CONDITIONAL = "only under a condition"
    SETTING = "about a setting"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Answer:
    """What the checker found in one case."""

    case: Case
    deployment: Deployment
    verdict: Verdict

    @property
    def is_decided(self) -> bool:
        """It was found to hold, with its witness reached, or to be violated."""
        return self.verdict.status in (Status.HOLDS, Status.VIOLATED)

    @property
    def agrees(self) -> bool:
        """What was found is what the claim says."""
        return self.verdict.status is (Status.HOLDS if self.case.holds else Status.VIOLATED)


@dataclass(frozen=True)
class History:
    """What is so of a setting from one release on, and before another (None: up to the newest)."""

    since: str
    until: str | None
    value: str | None


@dataclass(frozen=True)
class Decision:
    """What became of a claim, with all that it rests on: ``answers`` of its cases, or ``history`` of a setting."""

    claim: Claim
    answers: tuple[Answer, ...] = ()
    history: tuple[History, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """Computed from what was found, and from nothing else."""
        if self.claim.setting is not None:
            return Outcome.SETTING
        if not self.answers or not all(answer.is_decided for answer in self.answers):
            return Outcome.UNDECIDED
        agreeing = sum(answer.agrees for answer in self.answers)
        if agreeing == len(self.answers):
            return Outcome.CONFIRMED
        return Outcome.CONDITIONAL if agreeing else Outcome.REFUTED

    @property
    def when_true(self) -> Sequence[Answer]:
        """The cases in which the claim is right."""
        return [answer for answer in self.answers if answer.agrees]

    @property
    def when_false(self) -> Sequence[Answer]:
        """The cases in which it is wrong."""
        return [answer for answer in self.answers if answer.is_decided and not answer.agrees]
