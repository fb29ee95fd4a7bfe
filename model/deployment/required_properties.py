"""The names of the properties that a deployment can require."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.given import Given, complaint, not_modelled
from proofka.model.deployment.known_keys import unknown
from proofka.model.deployment.known_properties import Asked, known_properties
from proofka.model.deployment.profiles import (
    AT_LEAST_ONCE,
    NAMED,
    in_profile,
    intentions_of,
    promised,
    properties_of_profile,
)

KNOWN_PROPERTIES: tuple[str, ...] = tuple(known_properties())
"""Every property that can be required, in the order of reports."""

ASKED_BY_DEFAULT: tuple[str, ...] = tuple(name for name, one in known_properties().items() if one.asked is Asked.ALWAYS)
"""The properties that are checked for every pipeline, required or not. All others must be required.

The others concern transactions, or abandoned sends, the records after them, and what the application is told. The
length of faults decides whether a send is abandoned, and no configuration tells it: the user names these properties,
with durations of the environment.
"""

OF_TRANSACTIONS: tuple[str, ...] = tuple(
    name for name, one in known_properties().items() if one.asked is Asked.WITH_TRANSACTIONS
)
"""Properties of transactions, which are checked only if they are required."""


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
        asked = known_properties()[text].asked if text in KNOWN_PROPERTIES else None
        if asked in (Asked.WITH_TRANSACTIONS, Asked.BY_NAME_WITH_TRANSACTIONS) and not transactional:
            raise complaint(
                name,
                f"{what}needs transactions, but the producer has no transactional.id; set it, or remove this property",
            )
        if asked is Asked.WITHOUT_TRANSACTIONS and transactional:
            where = name if name.origin.kind == "option" else replace(name, key=f"{name.key}: {text}")
            raise not_modelled(where, "N37", "the time that a transaction coordinator takes")
        check_property(name)
        if text in names:
            raise complaint(name, f"{text} is required twice; keep one")
        names[text] = name
    return _in_order(names)
