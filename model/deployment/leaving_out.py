"""A deployment without the values that are wrong, and all that is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from model.deployment.builder import build
from model.deployment.deployment import Deployment
from model.deployment.errors import DeploymentError
from model.deployment.given import Given, GivenDeployment, Settings
from model.deployment.problems import by_place

MOST_PROBLEMS = 100
"""So many problems of one deployment are told at most."""

PASSED_OVER = "taken as if nobody had said it"
"""What a note says of a value that was rejected, and that ``--partial`` leaves out."""

AS_READ = "as it is read"
"""What stands before what the reader of a file noted."""


@dataclass(frozen=True)
class Rest:
    """What a deployment is without the values that are wrong, which ``problems`` name.

    ``deployment``: None where a problem is in no value that could be left out.
    """

    problems: tuple[DeploymentError, ...]
    deployment: Deployment | None


def rest_of(given: GivenDeployment) -> Rest:
    """Build a deployment; leave out each value that is rejected, and go on with those that are left."""
    problems: dict[str, DeploymentError] = {}
    while len(problems) < MOST_PROBLEMS:
        try:
            return Rest(tuple(problems.values()), build(given))
        except DeploymentError as error:
            told = [error, *(one for one in error.others if isinstance(one, DeploymentError))]
            problems.update((str(one), one) for one in told)
            less = _without(given, told)
            if less is None:
                break
            given = less
    return Rest(tuple(problems.values()), None)


def with_notes(
    deployment: Deployment, passed_over: Iterable[DeploymentError], others: Iterable[str] = ()
) -> Deployment:
    """Note in a deployment what was left out of it, and what else there is, so that every answer on it says so."""
    told = (f"{PASSED_OVER}: {one}" for one in by_place(passed_over))
    return replace(deployment, notes=(*told, *deployment.notes, *others))


def _without(given: GivenDeployment, errors: Iterable[DeploymentError]) -> GivenDeployment | None:
    """Leave out the values at which errors point; None if they point at none."""
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
