"""The status of a setting: known in this release, known elsewhere, or unknown."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches
from functools import cache, lru_cache

from proofka.model.deployment.clients import aliases
from proofka.model.deployment.defaults import TABLES, defined_when, find_definition, is_known, known_keys
from proofka.model.deployment.errors import DeploymentError, RefusedError, UnknownKeyError
from proofka.model.deployment.given import Given, complaint
from proofka.model.deployment.hiding import printable, shown_key
from proofka.model.deployment.reasons import names_key
from proofka.model.deployment.release import JAVA
from proofka.model.deployment.section import Section
from proofka.model.deployment.synonyms import BROKER_NAMES, TOPIC_NAMES

MISPLACED = "a {owner} setting: the {scope} does not read it"
"""The reason for ignoring a setting of the other client."""

MEANT = "did you mean"
"""The text before the known name that a misspelt name is similar to."""

NEAR = 0.85
"""The least similarity (ratio) at which a name counts as a misspelt name of another component's setting."""

_SCOPES = ("producer", "consumer", "topic", "broker")
_OTHER_CLIENT = {"producer": "consumer", "consumer": "producer"}


GOES_ON = "which warns and goes on"
"""The text of a note about a setting that the real software does not know, probably misspelt."""


NOT_OF_THIS_RELEASE = "does not have this setting"
"""The text of the reason to ignore a setting that another release has."""


def is_misspelt(reason: str) -> bool:
    """Tell whether the reason for ignoring a setting is that the setting is probably misspelt."""
    return MEANT in reason or f"{GOES_ON}; " in reason


def reason_to_ignore(section: Section, given: Given, *, as_found: bool = False) -> str | None:
    """Return the reason for which this component does not read the setting; None if it does. Raises DeploymentError for
    an unknown key.

    ``as_found``: the files are existing files; raise only for keys that the real readers of the files refuse.
    """
    key, scope, table, release = given.key, section.scope, section.table, section.release
    if find_definition(table, key, release) is not None or names_key(scope, key):
        return None
    if is_known(table, key):
        when = defined_when(table, key)
        if scope == "topic":
            raise complaint(
                given,
                f"refused by Kafka {release} with InvalidConfigurationException: Unknown topic config name "
                f"(the setting exists {when}); remove it",
                RefusedError,
            )
        return f"not read: {section.software} {NOT_OF_THIS_RELEASE} (it exists {when})"
    other = _OTHER_CLIENT.get(scope)
    others = "" if other is None else table.replace(scope, other)
    if other is not None and (is_known(others, key) or names_key(other, key)):
        return MISPLACED.format(owner=other, scope=scope)
    whose = "" if section.library == JAVA else f" of {section.library}"
    error = unknown(given, f"unknown {scope} setting{whose}", _names_in(table, section.library), scope)
    if not as_found:
        raise error
    return _as_found(section, error)


@cache
def _names_in(table: str, library: str) -> tuple[str, ...]:
    """Return the known settings of a table, and the other names that the library reads them by."""
    known = known_keys(table)
    others = {key for (client, key), instead in aliases().items() if client == library and instead in known}
    return (*known, *sorted(others.difference(known)))


def _as_found(section: Section, error: DeploymentError) -> str:
    """Return the reaction of the real reader. Java's clients and brokers warn and continue. Raises RefusedError if the
    reader refuses the key."""
    hint = error.message.partition("; ")[2]
    if section.scope == "topic":
        what = f"refused by {section.software} with InvalidConfigurationException: Unknown topic config name"
    elif section.library != JAVA:
        what = f"refused by the {section.software}: no such configuration property"
    else:
        return f"unknown to {section.software}, {GOES_ON}" + (f"; {hint}" if hint else "")
    message = what + (f"; {hint}" if hint else "")
    raise RefusedError(message, file=error.file, line=error.line, key=error.key)


def unknown(given: Given, what: str, choices: Iterable[str], scope: str = "") -> DeploymentError:
    """Return the error for an unknown key, with the most similar known key."""
    hint = _hint(scope, given.key, tuple(choices))
    shown = Given(shown_key(given.key), "", given.origin)
    return complaint(shown, f"{what}; {hint}" if hint else what, UnknownKeyError)


def with_choices(message: str, choices: Iterable[str]) -> str:
    """Return a message about an unknown name with all choices, unless the message names the most similar one."""
    return message if f"; {MEANT} " in message else f"{message} (choices: {', '.join(choices)})"


@lru_cache(maxsize=1024)
def _hint(scope: str, key: str, choices: tuple[str, ...]) -> str:
    instead = _legacy().get((scope, key))
    if instead is not None:
        return f"use {instead}"
    named = _name_elsewhere(scope, key)
    if named:
        return named
    if len(key) > 100:
        return ""
    close = get_close_matches(key.lower().replace("_", ".") if scope else key, choices, n=1, cutoff=0.6)
    misspelt = close[0] if close and _likeness(key, close[0]) >= NEAR else ""
    for choice in choices:
        # A misspelt name can end in the name of another setting: request.requird.acks ends in acks.
        if key.endswith("." + choice) and misspelt in ("", choice):
            return f"{MEANT} {choice}, without {printable(key.removesuffix(choice))!r}?"
    return _near_elsewhere(scope, key, close[0] if close else "") or (f"{MEANT} {close[0]}?" if close else "")


def _near_elsewhere(scope: str, key: str, near: str) -> str:
    """Return a hint if a client's unknown key resembles a setting of topic or broker more than ``near``, the most
    similar own setting."""
    if scope not in _OTHER_CLIENT:
        return ""
    for owner in ("topic", "broker"):
        for name in get_close_matches(key, known_keys(owner), n=1, cutoff=NEAR):
            if _likeness(key, name) > _likeness(key, near):
                return f"{MEANT} {name}? It is a {owner} setting: no client reads it"
    return ""


def _likeness(key: str, name: str) -> float:
    return SequenceMatcher(None, name, key).ratio()


def _name_elsewhere(scope: str, key: str) -> str:
    if scope == "topic" and key in TOPIC_NAMES:
        return f"it is a broker setting; for a topic it is {TOPIC_NAMES[key]}"
    if scope == "broker" and key in BROKER_NAMES:
        return f"it is a topic setting; for a broker it is {BROKER_NAMES[key][0]}"
    owners = [other for other in _SCOPES if other != scope and is_known(other, key)]
    return f"it is a {' or '.join(owners)} setting: move it there" if owners else ""


@cache
def _legacy() -> dict[tuple[str, str], str]:
    with (TABLES / "legacy.csv").open(encoding="utf-8", newline="") as table:
        return {(row["scope"], row["key"]): row["instead"] for row in csv.DictReader(table)}
