"""Decide published claims: each case is explored like any other deployment, and the result comes from the checker
alone.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace

from proofka.checker.budget import Budget
from proofka.checker.check import verdict_on
from proofka.checker.processes import in_processes
from proofka.model.deployment.defaults import choices_of, existence_of, history_of
from proofka.model.deployment.errors import RefusedError
from proofka.model.deployment.record_reader import read_record
from proofka.properties.claims.claim import About, Answer, Case, Claim, Decision, History, SettingClaim
from proofka.properties.claims.objections import objections_to

MOST_STATES = 60_000_000
"""Largest number of states for a case; a case with more states is left undecided."""

MOST_SECONDS = 3_600
"""Seconds for a case; a longer case is left undecided. Today every case takes seconds, or minutes on a busy machine."""


def decide(claim: Claim) -> Decision:
    """Return the decision on one claim. Raise DeploymentError for a case that is no deployment."""
    return next(decide_all([claim]))


def decide_all(claims: Sequence[Claim], stop: threading.Event | None = None) -> Iterator[Decision]:
    """Yield the decision on each claim, in order; equal questions are explored once.

    Each question is explored by a process of its own, with as many processes as cores. Once ``stop`` is set, no further
    decisions follow.
    """
    asked = {_question(case): case for claim in claims for case in claim.cases}
    coming = zip(asked, in_processes(answer, list(asked.values()), stop), strict=False)
    answers: dict[str, Answer] = {}
    for claim in claims:
        mine = [_question(case) for case in claim.cases]
        # Answers come in the order in which the claims first ask their questions.
        while not answers.keys() >= set(mine):
            came = next(coming, None)
            if came is None:
                return
            answers[came[0]] = came[1]
        found = tuple(replace(answers[one], case=case) for one, case in zip(mine, claim.cases, strict=True))
        history = () if claim.setting is None else _history(claim.setting)
        yield Decision(claim, found, history, objections=objections_to(claim, found))


def answer(case: Case) -> Answer:
    """Return the checker's answer for one case, checking no other property. Raise DeploymentError."""
    given = {**case.asked, "require": [case.property]}
    deployment = read_record(given, name=case.property, file="claims", line=1)
    budget = Budget(states=MOST_STATES, seconds=MOST_SECONDS, threads=1)
    return Answer(case, deployment, verdict_on(case.property, deployment, budget))


def _question(case: Case) -> str:
    return json.dumps([case.property, case.asked], sort_keys=True)


def _history(claimed: SettingClaim) -> tuple[History, ...]:
    if claimed.about is About.FOLLOWS:
        return tuple(_what_follows(claimed))
    looked_up = {About.DEFAULT: history_of, About.CHOICES: choices_of, About.EXISTENCE: existence_of}[claimed.about]
    return tuple(History(since, until, value) for since, until, value in looked_up(claimed.scope, claimed.key))


def _what_follows(claimed: SettingClaim) -> Iterator[History]:
    """Yield the effective values of a client's further settings, and whether the client refuses contradicting
    values.
    """
    deployment = read_record(claimed.of, name=claimed.key, file="claims", line=1)
    effective = {setting.key: setting.value for setting in deployment.settings if setting.scope == claimed.scope}
    for key in claimed.keys:
        yield History("", None, f"{key}={effective[key]}")
    for key, value in claimed.against.items():
        record = {**claimed.of, f"{claimed.scope}.{key}": value}
        try:
            read_record(record, name=claimed.key, file="claims", line=1)
        except RefusedError:
            yield History("", None, f"{key}={value} is refused")
        else:
            yield History("", None, f"{key}={value} is accepted")
