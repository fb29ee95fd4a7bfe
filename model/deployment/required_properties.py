"""The names of the properties that a deployment can require."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from model.deployment.deployment import Deployment
from model.deployment.errors import NotModelledError
from model.deployment.given import Given, complaint
from model.deployment.known_keys import unknown
from model.deployment.profiles import (
    AT_LEAST_ONCE,
    NAMED,
    in_profile,
    intentions_of,
    promised,
    properties_of_profile,
)

KNOWN_PROPERTIES: tuple[str, ...] = (
    "no-acked-loss",
    "no-silent-loss",
    "no-skip",
    "no-loss",
    "no-dropped-record",
    "no-log-duplicate",
    "no-reprocessing",
    "exactly-once-effect",
    "atomicity",
    "no-aborted-read",
    "no-hanging-transaction",
    "log-order",
    "processing-order",
    "no-gap",
    "read-stability",
    "replica-agreement",
    "recoverability",
)
"""Every property that can be required, in the order in which they are reported."""

TO_BE_NAMED = ("no-dropped-record", "no-gap")
"""Whether a send is given up, and what comes after it, depends on how long faults last, which no configuration tells.

So these have to be asked for, with durations of the environment that somebody stands for.
"""

OF_TRANSACTIONS = ("atomicity", "no-aborted-read", "no-hanging-transaction")
"""What speaks of transactions, and is checked only where it is required."""

ASKED_BY_DEFAULT: tuple[str, ...] = tuple(
    name for name in KNOWN_PROPERTIES if name not in (*TO_BE_NAMED, *OF_TRANSACTIONS)
)
"""What is checked of every pipeline, required or not. What else is checked has to be required."""


def check_property(name: Given) -> None:
    """Raise DeploymentError unless there is such a property."""
    text = name.value.strip()
    if text not in KNOWN_PROPERTIES:
        error = unknown(Given(text, "", name.origin), "unknown property", KNOWN_PROPERTIES)
        then = "" if error.message.endswith("?") else ";"
        error.message += f"{then} choose from {', '.join(KNOWN_PROPERTIES)}"
        raise error


def read_required(
    given: tuple[Given, ...] | None,
    *,
    transactional: bool,
    profile: Given | None = None,
    intentions: Iterable[str] = (),
) -> tuple[str, ...]:
    """The required properties in the order of KNOWN_PROPERTIES, or the error for a name that is none.

    Names outrank a profile, and a profile what the settings promise. Without any of these: :func:`by_intentions`.
    """
    if given is not None:
        return _named(given, transactional=transactional)
    if profile is None:
        return by_intentions(intentions)
    left_out = frozenset() if transactional else frozenset(OF_TRANSACTIONS)
    return _in_order(properties_of_profile(profile) - left_out)


def requiring(given: tuple[Given, ...] | None, profile: Given | None) -> str:
    """Name the profile that says what is required, or :data:`NAMED` where names of properties outrank it."""
    if given is not None:
        return NAMED
    return AT_LEAST_ONCE if profile is None else profile.value.strip()


def by_intentions(intentions: Iterable[str]) -> tuple[str, ...]:
    """Name what is required where nobody says: at least once, and what the producer's settings promise."""
    return _in_order(in_profile(AT_LEAST_ONCE) | promised(intentions))


def required_unless_said(deployment: Deployment) -> tuple[str, ...]:
    """Name what would be required of a deployment if nobody had said."""
    return by_intentions(
        intentions_of(
            deployment.settings,
            idempotence=deployment.idempotence,
            max_in_flight=deployment.max_in_flight,
            transactional=deployment.transactional is not None,
        )
    )


def _in_order(names: Collection[str]) -> tuple[str, ...]:
    return tuple(name for name in KNOWN_PROPERTIES if name in names)


def _named(given: tuple[Given, ...], *, transactional: bool) -> tuple[str, ...]:
    names: dict[str, Given] = {}
    for name in given:
        text = name.value.strip()
        what = "" if name.origin.kind == "option" else f"{text}: "  # an option's place ends with its value
        if text in OF_TRANSACTIONS and not transactional:
            raise complaint(name, f"{what}it is about transactions, and the producer has no transactional.id")
        if text == "no-dropped-record" and transactional:
            raise complaint(
                name, f"{what}not modelled yet: how long a coordinator of transactions takes", NotModelledError
            )
        check_property(name)
        if text in names:
            raise complaint(name, f"{text} is required twice")
        names[text] = name
    return _in_order(names)
