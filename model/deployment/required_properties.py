"""The names of the properties that a deployment can require."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from model.deployment.deployment import Deployment
from model.deployment.given import Given, complaint, not_modelled
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
    "no-failed-send",
    "no-stored-failure",
    "no-failed-read",
    "enough-copies",
    "no-log-duplicate",
    "no-reprocessing",
    "exactly-once-effect",
    "atomicity",
    "no-aborted-read",
    "no-uncommitted-read",
    "no-hanging-transaction",
    "log-order",
    "processing-order",
    "no-gap",
    "read-stability",
    "replica-agreement",
    "recoverability",
)
"""Every property that can be required, in the order of reports."""

OF_ANSWERS = ("no-failed-send", "no-stored-failure", "no-failed-read", "enough-copies")
"""Properties of what an acknowledgement or an error tells, which are checked only if they are required."""

OF_TRANSACTIONS = ("atomicity", "no-aborted-read", "no-hanging-transaction")
"""Properties of transactions, which are checked only if they are required."""

NEED_TRANSACTIONS = (*OF_TRANSACTIONS, "no-uncommitted-read")
"""Properties that need a producer with transactions."""

TO_BE_NAMED = ("no-dropped-record", *OF_ANSWERS, "no-uncommitted-read", "no-gap")
"""Properties that are checked only by name.

Most depend on the length of faults, which no configuration tells: they concern abandoned sends, the records after
them, and what the application is told. The user must name them, with durations of the environment. The property
``no-uncommitted-read`` asks what ``isolation.level`` says by itself.
"""

ASKED_BY_DEFAULT: tuple[str, ...] = tuple(
    name for name in KNOWN_PROPERTIES if name not in (*TO_BE_NAMED, *OF_TRANSACTIONS)
)
"""The properties that are checked for every pipeline, required or not. All others must be required."""


def check_property(name: Given) -> None:
    """Raise DeploymentError for an unknown property."""
    text = name.value.strip()
    if text not in KNOWN_PROPERTIES:
        error = unknown(Given(text, "", name.origin), "unknown property", KNOWN_PROPERTIES)
        if not error.message.endswith("?"):
            error.message += f"; choose from {', '.join(KNOWN_PROPERTIES)}"
        raise error


def read_required(
    given: tuple[Given, ...] | None,
    *,
    transactional: bool,
    profile: Given | None = None,
    intentions: Iterable[str] = (),
) -> tuple[str, ...]:
    """Return the required properties in the order of KNOWN_PROPERTIES. Raises DeploymentError for an unknown name.

    Names outrank a profile, and a profile outranks the promises of settings. Without any of these:
    :func:`by_intentions`.
    """
    if given is not None:
        return _named(given, transactional=transactional)
    if profile is None:
        return by_intentions(intentions)
    left_out = frozenset() if transactional else frozenset(OF_TRANSACTIONS)
    return _in_order(properties_of_profile(profile) - left_out)


def requiring(given: tuple[Given, ...] | None, profile: Given | None) -> str:
    """Return the name of the profile in force, or :data:`NAMED` if names of properties outrank it."""
    if given is not None:
        return NAMED
    return AT_LEAST_ONCE if profile is None else profile.value.strip()


def by_intentions(intentions: Iterable[str]) -> tuple[str, ...]:
    """Return the default requirements: at least once, and the promises of the producer's settings."""
    return _in_order(in_profile(AT_LEAST_ONCE) | promised(intentions))


def required_unless_said(deployment: Deployment) -> tuple[str, ...]:
    """Return the properties that would be required of a deployment without any names or profile."""
    return by_intentions(
        intentions_of(
            deployment.settings,
            idempotence=deployment.producer.idempotence,
            max_in_flight=deployment.producer.max_in_flight,
            transactional=deployment.producer.transactional is not None,
        )
    )


def _in_order(names: Collection[str]) -> tuple[str, ...]:
    return tuple(name for name in KNOWN_PROPERTIES if name in names)


def _named(given: tuple[Given, ...], *, transactional: bool) -> tuple[str, ...]:
    names: dict[str, Given] = {}
    for name in given:
        text = name.value.strip()
        what = "" if name.origin.kind == "option" else f"{text}: "  # an option's place ends with its value
        if text in NEED_TRANSACTIONS and not transactional:
            raise complaint(
                name,
                f"{what}needs transactions, but the producer has no transactional.id; set it, or remove this property",
            )
        if text in ("no-dropped-record", *OF_ANSWERS) and transactional:
            where = name if name.origin.kind == "option" else replace(name, key=f"{name.key}: {text}")
            raise not_modelled(where, "N37", "the time that a transaction coordinator takes")
        check_property(name)
        if text in names:
            raise complaint(name, f"{text} is required twice; keep one")
        names[text] = name
    return _in_order(names)
