"""A claim, and its outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from proofka.model.deployment.deployment import Deployment
from proofka.properties.verdict import Status, Verdict


@dataclass(frozen=True)
class Case:
    """The meaning of a claim in one deployment: ``property`` holds, or can be violated.

    ``condition``: the condition of this deployment that the claim does not state, in words, or ``""``. ``asked``: the
    deployment as a record of an inventory (:mod:`model.deployment.record_reader`). ``excludes``: what the sentence or
    the condition excludes, with the reason (:mod:`properties.claims.objections`).
    """

    property: str
    holds: bool
    condition: str
    asked: Mapping[str, object]
    excludes: Mapping[str, str] = field(default_factory=dict)


class About(StrEnum):
    """The subject of a claim about a setting: its default, its values, its existence, or its effect on others."""

    DEFAULT = "default"
    CHOICES = "choices"
    EXISTENCE = "exists"
    FOLLOWS = "follows"


@dataclass(frozen=True)
class SettingClaim:
    """A claim about the setting ``key`` of ``scope`` (producer, broker, ...); ``value``: the claimed default.

    The effect of a setting on others is read from a deployment: ``of`` is its record, ``keys`` are the settings that
    the setting decides, and ``against`` are values of these settings that a user could set as well.
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

    ``cases``: the cases of the claim; the claim is true if all of them agree. ``setting``: the claim about a setting,
    if the claim is about nothing else. ``missing``: the reason why no model decides the claim, or ``""``.
    """

    id: str
    says: str
    cases: tuple[Case, ...] = ()
    setting: SettingClaim | None = None
    missing: str = ""

    @property
    def kind(self) -> str:
        """The table of the claim: ``claims``, ``findings`` or ``incidents``."""
        return {"C": "claims", "F": "findings", "I": "incidents"}[self.id[0]]


class Outcome(StrEnum):
    """The outcome of a claim."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    CONDITIONAL = "only under a condition"
    SETTING = "about a setting"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Answer:
    """The verdict of the checker in one case."""

    case: Case
    deployment: Deployment
    verdict: Verdict

    @property
    def is_decided(self) -> bool:
        """True if the property holds with a reached witness, or is violated."""
        return self.verdict.status in (Status.HOLDS, Status.VIOLATED)

    @property
    def agrees(self) -> bool:
        """True if the verdict is the claimed one."""
        return self.verdict.status is (Status.HOLDS if self.case.holds else Status.VIOLATED)


@dataclass(frozen=True)
class History:
    """The value of a setting from the release ``since`` to before ``until`` (None: up to the newest release)."""

    since: str
    until: str | None
    value: str | None


@dataclass(frozen=True)
class Decision:
    """The outcome of a claim with its evidence: ``answers`` for its cases, or the ``history`` of a setting.

    ``objections``: sentences on what the evidence leaves out (:mod:`properties.claims.objections`).
    """

    claim: Claim
    answers: tuple[Answer, ...] = ()
    history: tuple[History, ...] = ()
    objections: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """The outcome, computed from the evidence alone; undecided while something speaks against the evidence."""
        if self.claim.setting is not None:
            return Outcome.SETTING
        if not self.answers or not all(answer.is_decided for answer in self.answers) or self.objections:
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
        """The cases in which the claim is wrong."""
        return [answer for answer in self.answers if answer.is_decided and not answer.agrees]
