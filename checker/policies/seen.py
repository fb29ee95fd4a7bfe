"""The values of a deployment's settings that a rule sees: with the values that clients and brokers use where nobody
wrote one, or written values alone.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cached_property

from proofka.checker.policies.expression import Read
from proofka.checker.policies.names import CLIENT, written
from proofka.model.deployment.accepting import Components, components_of
from proofka.model.deployment.defaults import find_definition
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.section import Section
from proofka.model.deployment.synonyms import BROKER_NAMES, TOPIC_NAMES

OTHER_UNITS = (".minutes", ".hours")
"""The ends of the names of brokers' settings that have another unit than the topic's setting."""


class View(StrEnum):
    """The values that rules see.

    ``effective``: the written value; without one, the value that the client or broker uses. ``written``: written values
    alone, as a file or a request has them.
    """

    EFFECTIVE = "effective"
    WRITTEN = "written"


class Seen:
    """The values of one deployment that rules see."""

    def __init__(self, deployment: Deployment, view: View = View.EFFECTIVE) -> None:
        self._deployment = deployment
        self._view = view

    def value(self, read: Read) -> str | None:
        """Return the value of a setting as text; None if the setting has no value in this view."""
        found = self._written(read) if self._view is View.WRITTEN else self._effective(read)
        return None if found is None else written(read, found.strip())

    def is_modelled(self, read: Read) -> bool:
        """Tell whether the model of the deployment can depend on the setting."""
        places = {(read.scope, read.key)}
        if read.scope == "broker" and read.key in TOPIC_NAMES:
            places.add(("topic", TOPIC_NAMES[read.key]))
        return not places.isdisjoint(self._settings)

    @cached_property
    def _settings(self) -> dict[tuple[str, str], str]:
        return {(one.scope, one.key): one.value for one in self._deployment.settings}

    @cached_property
    def _components(self) -> Components:
        given = self._deployment.given
        assert given is not None  # a matrix is read from a file
        return components_of(given)

    def _effective(self, read: Read) -> str | None:
        place = (read.scope, read.key)
        used, said = self._settings.get(place), self._written(read)
        if used is not None and (said is None or said.strip().lower() == used.lower()):
            return used
        if said is not None or read.scope not in self._sections:
            return said
        if read.scope == "topic" and read.key in BROKER_NAMES:
            return self._of_broker(BROKER_NAMES[read.key])
        return self._default(read.scope, read.key)

    def _default(self, scope: str, key: str) -> str | None:
        section = self._sections[scope]
        definition = find_definition(section.table, key, section.release)
        return None if definition is None else definition.default

    def _of_broker(self, names: tuple[str, ...]) -> str | None:
        """Return the value of the broker settings that replace a topic's setting, in order of precedence.

        None for a value in another unit than the topic's.
        """
        given = self._sections["broker"].given
        chosen = next((name for name in names if name in given), None)
        if chosen is None:
            return next((found for name in names if (found := self._default("broker", name)) is not None), None)
        return None if chosen.endswith(OTHER_UNITS) else given[chosen].value

    def _written(self, read: Read) -> str | None:
        given = self._deployment.given
        assert given is not None  # a matrix is read from a file
        if read.scope == "application":
            found = given.application.get(read.key)
        elif read.key == CLIENT and read.scope in ("producer", "consumer"):
            client = given.producer if read.scope == "producer" else given.consumer
            return None if client.client is None and client.version is None else self._settings[(read.scope, CLIENT)]
        elif (read.scope, read.key) == ("broker", "release"):
            return given.kafka.value
        else:
            found = self._sections[read.scope].given.get(read.key)
        return None if found is None else found.value

    @cached_property
    def _sections(self) -> dict[str, Section]:
        return {one.scope: one for one in self._components.sections}
