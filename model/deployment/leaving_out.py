"""A deployment without its rejected values, and all of its errors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from proofka.model.deployment.builder import build
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.given import Given, GivenDeployment, Settings
from proofka.model.deployment.problems import by_place, each_of

MOST_PROBLEMS = 100
"""The largest number of errors that are reported for one deployment."""

PASSED_OVER = "ignored because it was rejected"
"""The text of a note about a rejected value that ``--partial`` ignores."""

AS_READ = "as Proofka reads it"
"""The text before a note from the reader of a file."""


@dataclass(frozen=True)
class Rest:
    """A deployment without its rejected values. ``problems`` name these values.

    ``deployment``: None if an error belongs to no value that can be left out.
    """

    problems: tuple[DeploymentError, ...]
    deployment: Deployment | None


def rest_of(given: GivenDeployment) -> Rest:
    """Build a deployment; leave out each rejected value, and continue with the others."""
    problems: dict[str, DeploymentError] = {}
    left_out: list[str] = []
    while len(problems) < MOST_PROBLEMS:
        try:
            return Rest(tuple(problems.values()), build(given))
        except DeploymentError as error:
            told = each_of(error)
            problems.update((str(one), one) for one in (_with_cause(one, left_out) for one in told))
            left_out += [one.key for one in told if one.key is not None]
            less = _without(given, told)
            if less is None:
                break
            given = less
    return Rest(tuple(problems.values()), None)


def _with_cause(error: DeploymentError, left_out: Iterable[str]) -> DeploymentError:
    """Return the error with the rejected setting whose default causes it, if the error names one.

    The default stands in place of the value that was left out, so the setting of the error may be right.
    """
    for key in left_out:
        if key != error.key and re.search(rf"(?<![\w.]){re.escape(key)}(?![\w.])", error.message):
            message = f"cannot be judged before {key} is right: with the default of {key}, {error.message}"
            return DeploymentError(message, file=error.file, line=error.line, key=error.key)
    return error


def with_notes(
    deployment: Deployment, passed_over: Iterable[DeploymentError], others: Iterable[str] = ()
) -> Deployment:
    """Return the deployment with notes about rejected values and other facts, so that every answer about it shows
    them."""
    told = (f"{PASSED_OVER}: {one}" for one in by_place(passed_over))
    return replace(deployment, notes=(*told, *deployment.notes, *others))


def _without(given: GivenDeployment, errors: Iterable[DeploymentError]) -> GivenDeployment | None:
    """Return the configuration without the values at which errors point; None if they point at none."""
    less = given
    for error in errors:
        less = _without_one(less, error) or less
    return None if less is given else less


def _without_one(given: GivenDeployment, error: DeploymentError) -> GivenDeployment | None:
    for role, settings in _by_role(given):
        for key, one in settings.items():
            if error.line is not None and _at(one, error):
                less = {name: value for name, value in settings.items() if name != key}
                if key == error.key or sum(_at(other, error) for other in settings.values()) == 1:
                    return _put(given, role, less)
    return None


def _at(given: Given, error: DeploymentError) -> bool:
    return (given.origin.file, given.origin.line) == (error.file, error.line)


def _by_role(given: GivenDeployment) -> Iterator[tuple[str, Settings]]:
    yield "producer", given.producer.settings
    yield "consumer", given.consumer.settings
    yield "topic", given.topic
    yield "broker", given.broker
    yield "application", given.application


def _put(given: GivenDeployment, role: str, settings: Settings) -> GivenDeployment:
    if role == "producer":
        return replace(given, producer=replace(given.producer, settings=settings))
    if role == "consumer":
        return replace(given, consumer=replace(given.consumer, settings=settings))
    if role == "topic":
        return replace(given, topic=settings)
    return replace(given, broker=settings) if role == "broker" else replace(given, application=settings)
