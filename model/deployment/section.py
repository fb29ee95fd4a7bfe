"""One component's settings while its rules run: what was given, else the default of its release."""

from __future__ import annotations

from dataclasses import dataclass, replace

from model.deployment.defaults import find_default, find_definition
from model.deployment.errors import DeploymentError, NotModelledError, RefusedError
from model.deployment.given import Given, Settings, complaint, place
from model.deployment.release import JAVA, Release
from model.deployment.setting import Origin, Setting
from model.deployment.values import boolean, milliseconds


@dataclass(frozen=True)
class Section:
    """The checked settings of a producer, consumer, topic or broker.

    ``software`` names what reads them, for messages: "Java producer 4.0" or "Kafka 4.0".
    """

    scope: str
    software: str
    release: Release
    given: Settings
    named: Given | None = None
    """Where the release was named: the place of an error about a default."""
    library: str = JAVA
    """Whose client it is; of brokers and topics, Kafka's own."""

    @property
    def table(self) -> str:
        """Whose settings these are, as the tables of defaults say it."""
        return self.scope if self.library == JAVA else f"{self.library} {self.scope}"

    def has(self, key: str) -> bool:
        """Whether the user set this key. Clients treat a given value and the same default differently."""
        return key in self.given

    def knows(self, key: str) -> bool:
        """Whether this release has the setting."""
        return find_definition(self.table, key, self.release) is not None

    def text(self, key: str) -> str:
        """The effective value as text."""
        return self.setting(key).value

    def integer(self, key: str) -> int:
        """The effective value of a numeric setting."""
        return int(self.text(key))

    def milliseconds(self, key: str) -> int:
        """The effective value of a setting that is a duration, in ms."""
        return milliseconds(self.text(key))

    def flag(self, key: str) -> bool:
        """The effective value of a boolean setting."""
        return boolean(self.text(key))

    def flag_setting(self, key: str) -> Setting:
        """The same as a setting, written as true or false."""
        setting = self.setting(key)
        return replace(setting, value=str(boolean(setting.value)).lower())

    def setting(self, key: str) -> Setting:
        """The value in force before any rule, with its origin."""
        given = self.given.get(key)
        if given is not None:
            return Setting(self.scope, key, given.value.strip(), given.origin)
        default = find_default(self.table, key, self.release)
        return Setting(self.scope, key, default, Origin("default", self.software))

    def derived(self, key: str, value: str, because: str) -> Setting:
        """A value that a rule put in the place of the given or default one."""
        given = self.given.get(key)
        origin = given.origin if given is not None else Origin("rule")
        return Setting(self.scope, key, value, Origin("rule", because, origin.file, origin.line))

    def refused(self, key: str, exception: str, why: str, rule: str) -> DeploymentError:
        """The error for a combination that the real client or broker refuses, at the place of ``key``."""
        message = f"refused by {_the(self.software)} with {exception}: {why} (rule {rule})"
        return self.at(key, message, RefusedError)

    def not_modelled(self, key: str, what: str) -> DeploymentError:
        """The error for a setting that needs a mechanism the model does not have."""
        return self.at(key, f"not modelled yet: {what}", NotModelledError)

    def at(self, key: str, message: str, kind: type[DeploymentError] = DeploymentError) -> DeploymentError:
        """An error at the place where ``key`` was given, or where the release was named whose default it is."""
        given = self.given.get(key)
        if given is None and self.named is not None:
            given = replace(self.named, key=key)
        return complaint(given, message, kind) if given is not None else kind(message, key=f"{self.scope} {key}")

    def where(self, key: str) -> str:
        """``key=value`` and where it was given, for a sentence."""
        given = self.given.get(key)
        return f"{key}={self.text(key)} " + (f"at {place(given)}" if given is not None else "by default")


def _the(software: str) -> str:
    return software if software.startswith("Kafka") else f"the {software}"
