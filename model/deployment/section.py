"""One component's settings while its rules run: given values and the release's defaults."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from proofka.model.deployment.defaults import find_default, find_definition
from proofka.model.deployment.errors import DeploymentError, NotModelledError, RefusedError
from proofka.model.deployment.given import Given, Settings, complaint, place
from proofka.model.deployment.hiding import shown_value
from proofka.model.deployment.release import JAVA, Release
from proofka.model.deployment.setting import Origin, Setting
from proofka.model.deployment.values import boolean, milliseconds


@dataclass(frozen=True)
class Section:
    """The checked settings of a producer, consumer, topic or broker.

    ``software`` names the reader of the settings, for messages: "Java producer 4.0" or "Kafka 4.0".
    """

    scope: str
    software: str
    release: Release
    given: Settings
    named: Given | None = None
    """The place where the release was named: the place of an error about a default."""
    library: str = JAVA
    """The client's library; for brokers and topics, Kafka's own."""

    @property
    def table(self) -> str:
        """The name of these settings in the tables of defaults."""
        return self.scope if self.library == JAVA else f"{self.library} {self.scope}"

    def has(self, key: str) -> bool:
        """Tell whether the user set this key. Clients treat a given value and the same default differently."""
        return key in self.given

    def knows(self, key: str) -> bool:
        """Tell whether this release has the setting."""
        return find_definition(self.table, key, self.release) is not None

    def text(self, key: str) -> str:
        """Return the effective value as text."""
        return self.setting(key).value

    def integer(self, key: str) -> int:
        """Return the effective value of a numeric setting."""
        return int(self.text(key))

    def milliseconds(self, key: str) -> int:
        """Return the effective value of a duration, in ms."""
        return milliseconds(self.text(key))

    def flag(self, key: str) -> bool:
        """Return the effective value of a boolean setting."""
        return boolean(self.text(key))

    def flag_setting(self, key: str) -> Setting:
        """Return a boolean setting with its value written as true or false."""
        setting = self.setting(key)
        return replace(setting, value=str(boolean(setting.value)).lower())

    def setting(self, key: str) -> Setting:
        """Return the setting in force before any rule, with its origin."""
        given = self.given.get(key)
        if given is not None:
            return Setting(self.scope, key, given.value.strip(), given.origin)
        default = find_default(self.table, key, self.release)
        return Setting(self.scope, key, default, Origin("default", self.software))

    def derived(self, key: str, value: str, because: str) -> Setting:
        """Return the setting with a value that a rule substituted for the given value or default."""
        given = self.given.get(key)
        origin = given.origin if given is not None else Origin("rule")
        return Setting(self.scope, key, value, Origin("rule", because, origin.file, origin.line))

    def refused(self, key: str, exception: str, why: str, rule: str) -> DeploymentError:
        """Return the error for a combination that the real client or broker refuses, at the place of ``key``.

        The message names the value of ``key``, unless ``why`` does, or nobody gave a value.
        """
        value = shown_value(key, self.given[key].value) if key in self.given else ""
        named = f"; given: {key}={value}" if value and f"{key}={value}" not in why and f"({value})" not in why else ""
        message = f"refused by {_the(self.software)} with {exception}: {why}{named} (rule {rule})"
        return self.at(key, message, RefusedError)

    def not_modelled(self, key: str, code: str, what: str) -> DeploymentError:
        """Return the error for a setting that needs a mechanism outside of the model.

        ``code``: the reason, from ``tables/refusals.csv``.
        """
        return self.at(key, what, partial(NotModelledError, code=code))

    def at(self, key: str, message: str, kind: Callable[..., DeploymentError] = DeploymentError) -> DeploymentError:
        """Return an error at the place where ``key`` was given, or where the release with its default was named."""
        given = self.given.get(key)
        if given is None and self.named is not None:
            given = replace(self.named, key=key)
        return complaint(given, message, kind) if given is not None else kind(message, key=f"{self.scope} {key}")

    def where(self, key: str) -> str:
        """Return ``key=value`` and its place, for a sentence."""
        given = self.given.get(key)
        return f"{key}={self.text(key)} " + (f"at {place(given)}" if given is not None else "by default")


def _the(software: str) -> str:
    return software if software.startswith("Kafka") else f"the {software}"
