"""Settings that programs set: one assignment after the other, some conditional, some with an unknown value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from proofka.model.deployment.dialects.accounts import Accounts
from proofka.model.deployment.dialects.component import Component, Role
from proofka.model.deployment.dialects.keys import harmless, has_key, matters
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.given import Given
from proofka.model.deployment.hiding import is_secret, printable
from proofka.model.deployment.release import JAVA
from proofka.model.deployment.setting import Origin
from proofka.model.deployment.source import MOST_KEYS
from proofka.model.deployment.values import has_placeholder

_GROUPS = ("group.id", "ConsumerGroup", "group_id", "groupId", "GroupID")
"""The settings for the group. Its existence matters, not its name."""

_VARIABLE = re.compile(r"\$\{([A-Za-z_]\w{0,60})[:}]")

MOST_CLIENTS = 100
"""The largest number of clients that a program makes in one file."""

MOST_IN_ALL = 4 * MOST_KEYS
"""The largest number of settings of all of them together."""

NO_ROLE = "this file does not show whether a producer or a consumer gets it"


@dataclass(frozen=True)
class Value:
    """The value of an expression. ``text``: None if only the running program knows it. ``shown``: the expression's own
    text.

    ``outside``: the text is a placeholder for a value from the program's environment.
    """

    text: str | None
    shown: str
    outside: bool = False

    @property
    def known(self) -> bool:
        """Tell whether the file contains the value."""
        return self.text is not None and not self.outside


@dataclass(frozen=True)
class Written:
    """A program sets ``key``. ``only_if``: the condition, if any. ``ignored`` and ``rejected``: the reason for leaving
    it out."""

    key: str
    line: int
    value: Value
    only_if: str = ""
    ignored: str = ""
    rejected: str = ""


def check_number(number: int, file: str, line: int) -> None:
    """Raise DeploymentError for more clients than a real program has."""
    if number > MOST_CLIENTS:
        raise DeploymentError(f"makes more than {MOST_CLIENTS} clients; split the file", file=file, line=line)


def check_settings(configured: Iterable[Configured], file: str) -> None:
    """Raise DeploymentError for more settings, of all clients of a file, than a real program has."""
    number = 0
    for one in configured:
        number += len(one.written)
        if number > MOST_IN_ALL:
            raise DeploymentError(
                f"sets more than {MOST_IN_ALL} settings in all; split the file", file=file, line=one.line
            )


@dataclass
class Configured:
    """A configuration that a program makes, and its users."""

    name: str
    line: int
    library: str
    written: list[Written] = field(default_factory=list)
    roles: set[Role] = field(default_factory=set)
    topics: list[str] = field(default_factory=list)
    answers: dict[str, tuple[str, int]] = field(default_factory=dict)
    rules: dict[Role, dict[str, tuple[str, str]]] = field(default_factory=dict)
    by_framework: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Answers without a line in the file: the value, and the framework that behaves so."""
    waits: bool = False
    """A send returns an object to wait for."""
    notes: list[str] = field(default_factory=list)
    """Other facts for the reader of a verdict."""
    refused: str = ""
    """The reason for which none of its settings can be used: the library is not modelled."""


def components_of(configured: Configured, accounts: Accounts, file: str) -> Iterator[Component]:
    """Yield the producer and the consumer that get a configuration, and account for each of its settings."""
    if len(configured.written) > MOST_KEYS:
        raise DeploymentError(f"sets more than {MOST_KEYS} settings; split the file", file=file, line=configured.line)
    settings: dict[Role, dict[str, Given]] = {role: {} for role in _in_order(configured.roles)}
    for one in _last_of_each(configured, accounts):
        said = Said((one.key,), one.value.text or "", one.line)
        readers = [role for role in settings if has_key(configured.library, role, one.key)] or list(settings)
        left = _left(one, configured, readers, accounts)
        if one.ignored:
            accounts.ignore(said, one.ignored)
        elif left is not None:
            (accounts.ignore if left[0] else accounts.reject)(said, left[1])
        else:
            for role in readers:
                settings[role][one.key] = accounts.take(said, one.key)
    for role, own in settings.items():
        rules = configured.rules.get(role, {})
        framework = {key: accounts.by_framework(key, *rule) for key, rule in rules.items() if key not in own}
        yield Component(
            role,
            configured.name,
            {**own, **framework},
            tuple(dict.fromkeys(configured.topics)),
            client=_client(configured, file),
            application={
                key: given
                for key, given in (*_answers(configured, file), *_by_framework(configured, accounts))
                if (key in ("sends", "on_send_error")) == (role is Role.PRODUCER)
            },
        )


def _answers(configured: Configured, file: str) -> Iterator[tuple[str, Given]]:
    for key, (value, line) in configured.answers.items():
        yield key, Given(key, value, Origin("file", key, file, line))


def _by_framework(configured: Configured, accounts: Accounts) -> Iterator[tuple[str, Given]]:
    for key, (value, framework) in configured.by_framework.items():
        yield key, accounts.by_framework(key, value, framework)


def _in_order(roles: Iterable[Role]) -> list[Role]:
    return [role for role in Role if role in roles]


def _client(configured: Configured, file: str) -> Given | None:
    if configured.library == JAVA:
        return None
    return Given("client", configured.library, Origin("file", "client", file, configured.line))


def _last_of_each(configured: Configured, accounts: Accounts) -> list[Written]:
    """Return the last unconditional value of each key, with the conditional values after it.

    An ignored value replaces nothing, and a value that is rejected twice is reported twice.
    """
    kept: dict[int, Written] = {}
    by_key: dict[str, list[int]] = {}
    for number, one in enumerate(configured.written):
        if not one.only_if and not one.ignored:
            again = [earlier for earlier in by_key.get(one.key, ()) if not (kept[earlier].rejected and one.rejected)]
            by_key[one.key] = [earlier for earlier in by_key.get(one.key, ()) if earlier not in again]
            for earlier in again:
                before = kept.pop(earlier)
                accounts.ignore(
                    Said((before.key,), "", before.line), f"is set again in line {one.line}, whose value counts"
                )
        kept[number] = one
        by_key.setdefault(one.key, []).append(number)
    return list(kept.values())


def _left(one: Written, configured: Configured, readers: list[Role], accounts: Accounts) -> tuple[bool, str] | None:
    """Return whether a setting is ignored (otherwise rejected) and the reason; None if a component takes it."""
    if configured.refused:
        return False, configured.refused
    if one.rejected:
        return False, one.rejected
    if not readers:
        plain = next(
            (role for role in (Role.PRODUCER, Role.CONSUMER) if has_key(configured.library, role, one.key)), None
        )
        if plain is not None and not matters(configured.library, plain, one.key):
            return True, harmless(configured.library, plain, one.key)
        return False, NO_ROLE
    weightless = not any(matters(configured.library, role, one.key) for role in readers)
    if one.only_if:
        if weightless:
            return True, harmless(configured.library, readers[0], one.key)
        return False, f"is set only if {printable(one.only_if)}"
    text = one.value.text
    if text is not None and one.value.outside:
        text = accounts.text(Said((one.key,), text, one.line))
    if text is None or (one.value.outside and has_placeholder(text)):
        if weightless or one.key in _GROUPS:
            return True, harmless(configured.library, readers[0], one.key)
        return False, f"its value is not in this file{_form(one)}"
    return None


def _form(one: Written) -> str:
    """Return the text of the expression without its literals; an environment variable is named, so that the user can
    give it."""
    if is_secret(one.key):
        return ""
    variable = _VARIABLE.match(one.value.text or "") if one.value.outside else None
    name = "" if variable is None or variable[1] in one.value.shown else f" (${{{variable[1]}}})"
    return f": {printable(one.value.shown)}{name}"
