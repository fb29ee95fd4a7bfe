"""The verdict on a property of each deployment, with equal questions explored once, without Spark."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from proofka.checker.budget import Budget, processors
from proofka.checker.check import question_ids, verdict_on
from proofka.checker.disk_cache import disk_cache
from proofka.checker.processes import as_completed
from proofka.checker.questions import group, prepare
from proofka.checker.spark.normalising import meaning
from proofka.checker.versions import versions
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.document import from_document, to_document
from proofka.model.pipeline import build
from proofka.properties.catalogue import properties_of
from proofka.properties.judged_policy import fault_set_of
from proofka.properties.verdict import CutSet, Status, Verdict

NOT_ASKED = "the property is not asked of this deployment"
"""The reason for which a property has no verdict."""

KEPT = "policy-1"
"""The first part of the keys of kept outcomes; the number is that of their form."""


@dataclass(frozen=True)
class Question:
    """A property and a deployment, as a JSON document that is the same for deployments with the same meaning."""

    asked: str
    document: str

    @property
    def digest(self) -> str:
        """The hash of the question."""
        return hashlib.sha256(f"{self.asked} {self.document}".encode()).hexdigest()


@dataclass(frozen=True)
class Limits:
    """The limits of one exploration in seconds and bytes; without them, only the machine's memory limits it."""

    seconds: float | None = None
    memory: int | None = None

    def budget(self) -> Budget:
        """Return a budget of one thread, because as many explorations run side by side as there are processors."""
        budget = Budget(seconds=self.seconds, threads=1)
        return replace(budget, memory=self.memory or budget.memory // processors())


@dataclass(frozen=True)
class Outcome:
    """The verdict on one property.

    ``faults``, ``failure`` and ``steps`` are those of the first trace, in words. ``of``: the digest of the question
    whose deployment was explored; an equal system of another deployment can show other words in its traces.
    ``reason``: the reason for an unknown status.
    """

    status: Status
    cut_sets: tuple[CutSet, ...] = ()
    faults: CutSet = ()
    failure: str = ""
    steps: tuple[str, ...] = ()
    of: str = ""
    reason: str = ""


def question_of(deployment: Deployment, prop: str) -> Question:
    """Return the question whether a deployment has a property.

    Without a total of faults, every pair is covered: an answer must not depend on the speed of the machine.
    """
    meant = meaning(replace(deployment, require=(prop,)))
    return Question(prop, json.dumps(to_document(meant), sort_keys=True))


def identity(question: Question) -> str | None:
    """Return the identity of the system and its question; None if the property is not asked of the deployment.

    Questions with the same identity have the same verdict.
    """
    deployment = from_document(json.loads(question.document))
    model = build(deployment)
    asked = [prop for prop in properties_of(model.pipeline) if prop.name == question.asked]
    if not asked:
        return None
    prepared = prepare(model)
    return question_ids(deployment, prepared, group(prepared, asked))[question.asked]


def explore(question: Question, limits: Limits) -> Outcome:
    """Return the outcome of one question."""
    deployment = from_document(json.loads(question.document))
    return _outcome(verdict_on(question.asked, deployment, limits.budget()), question.digest)


def _outcome(verdict: Verdict, digest: str) -> Outcome:
    reason = ""
    if verdict.status is Status.UNKNOWN:
        stopped = verdict.coverage.stopped
        reason = "no times were found for a violation" if stopped is None else f"stopped: {stopped}"
    if not verdict.traces:
        return Outcome(verdict.status, verdict.cut_sets, of=digest, reason=reason)
    trace = verdict.traces[0]
    steps = tuple(step.text for step in trace.steps)
    return Outcome(verdict.status, verdict.cut_sets, trace.faults, trace.failure, steps, digest, reason)


@dataclass(frozen=True)
class Explored:
    """The outcome of each question, and the identity of its system; None if the property is not asked."""

    outcomes: Mapping[Question, Outcome]
    ids: Mapping[Question, str | None]

    @property
    def systems(self) -> int:
        """The number of distinct systems."""
        return self.systems_of(self.outcomes)

    def systems_of(self, questions: Iterable[Question]) -> int:
        """Return the number of distinct systems of some questions."""
        return len({self.ids.get(question) for question in questions} - {None})


Told = Callable[[str, int, int], None]
"""A function that receives a stage of the work, and how many of how many parts are done."""


def outcomes(
    questions: Iterable[Question],
    limits: Limits,
    *,
    stop: threading.Event | None = None,
    tell: Told = lambda *_: None,
    keeps: bool = True,
) -> Explored:
    """Return the outcome of each question.

    Equal systems are explored once. ``keeps``: complete outcomes are kept on this machine, and used again. Once
    ``stop`` is set, the outcomes of the remaining questions are unknown.
    """
    asked = list(dict.fromkeys(questions))
    ids: dict[Question, str | None] = {}
    tell("reading models", 0, len(asked))
    for question, found in as_completed(identity, asked, stop):
        ids[question] = found
        tell("reading models", len(ids), len(asked))
    first: dict[str, Question] = {}
    for question in asked:
        if (one := ids.get(question)) is not None:
            first.setdefault(one, question)
    known = {one: outcome for one in first if keeps and (outcome := _kept(one)) is not None}
    missing = {question: one for one, question in first.items() if one not in known}
    tell("exploring", len(known), len(first))
    for question, outcome in as_completed(_Exploring(limits), list(missing), stop):
        known[missing[question]] = outcome
        if keeps:
            _keep(missing[question], outcome)
        tell("exploring", len(known), len(first))
    return Explored({question: _of(question, ids, known) for question in asked}, ids)


@dataclass(frozen=True)
class _Exploring:
    limits: Limits

    def __call__(self, question: Question) -> Outcome:
        return explore(question, self.limits)


def _of(question: Question, ids: Mapping[Question, str | None], known: Mapping[str, Outcome]) -> Outcome:
    if question not in ids:
        return Outcome(Status.UNKNOWN, reason="stopped: interrupted")
    identified = ids[question]
    if identified is None:
        return Outcome(Status.UNKNOWN, reason=NOT_ASKED)
    return known.get(identified, Outcome(Status.UNKNOWN, reason="stopped: interrupted"))


def _key(identified: str) -> str:
    return f"{KEPT}-{hashlib.sha256(json.dumps([identified, versions()], sort_keys=True).encode()).hexdigest()}"


def _kept(identified: str) -> Outcome | None:
    cache = disk_cache()
    content = None if cache is None else cache.read(_key(identified))
    return None if content is None else _read(json.loads(content))


def _keep(identified: str, outcome: Outcome) -> None:
    cache = disk_cache()
    if cache is not None and outcome.status is not Status.UNKNOWN:
        cache.write(_key(identified), json.dumps(asdict(outcome)).encode())


def _read(kept: Mapping[str, Any]) -> Outcome:
    return Outcome(
        Status(kept["status"]),
        tuple(map(fault_set_of, kept["cut_sets"])),
        fault_set_of(kept["faults"]),
        kept["failure"],
        tuple(kept["steps"]),
        kept["of"],
    )
