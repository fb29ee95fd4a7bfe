"""Two deployments, and every deployment between them: the old deployment with some of the changes.

Settings are exchanged one by one if both deployments can be built again from their files. Otherwise fields of the
normalised deployments are exchanged.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from proofka.model.deployment import from_document, to_document
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.question import question
from proofka.model.deployment.rebuilding import (
    FAULTS,
    Place,
    built_of,
    changed_places,
    exchanged,
    said_of,
)
from proofka.model.deployment.setting import Setting
from proofka.properties.difference import Changed

_APART = ("durations", "bounds", "sender", "rebalancing")
"""Members of a normalised deployment that are objects of independent values."""

_NO_FIELDS = ("name", "client", "settings", "ignored", "notes", "require", "profile")
_OF_FAULTS = "faults."


@dataclass(frozen=True)
class Between:
    """The deployments between two. ``separated``: places belong to settings, otherwise to fields of the model."""

    old: Deployment
    new: Deployment
    separated: bool
    places: tuple[Place, ...]

    def with_changes(self, places: Collection[Place]) -> Deployment:
        """Return the old deployment with the new values at these places. Raise DeploymentError if none can be built."""
        if not self.separated:
            return _with_fields(self.old, self.new, places)
        said = exchanged(said_of(self.old), said_of(self.new), [place for place in places if place != FAULTS])
        return built_of(said, self.new if FAULTS in places else self.old)

    def changed(self, place: Place) -> Changed:
        """Return the change at a place."""
        if place == FAULTS:
            return _faults_changed(self.old, self.new)
        if self.separated:
            old, new = effective(self.old).get(place), effective(self.new).get(place)
            return Changed(*place, _value(old), _value(new), old, new)
        name = place[1]
        return Changed("", name, _short(_fields(self.old).get(name)), _short(_fields(self.new).get(name)))


def between(old: Deployment, new: Deployment) -> Between:
    """Return the deployments between two, with the places at which the two differ."""
    faults = (FAULTS,) if old.faults != new.faults else ()
    if _is_of_what_was_said(old) and _is_of_what_was_said(new):
        return Between(old, new, True, (*changed_places(said_of(old), said_of(new)), *faults))
    one, other = _fields(old), _fields(new)
    names = [name for name in dict.fromkeys((*one, *other)) if one.get(name) != other.get(name)]
    return Between(old, new, False, (*(("", name) for name in names), *faults))


def settings_changed(old: Deployment, new: Deployment) -> tuple[Changed, ...]:
    """Return every effective setting with another value, and the change of the explored faults."""
    one, other = effective(old), effective(new)
    places = [place for place in dict.fromkeys((*one, *other)) if _value(one.get(place)) != _value(other.get(place))]
    found = [
        Changed(*place, _value(one.get(place)), _value(other.get(place)), one.get(place), other.get(place))
        for place in places
    ]
    about_faults = any(change.scope == "assume" and change.key.startswith(_OF_FAULTS) for change in found)
    if old.faults != new.faults and not about_faults:
        found.append(_faults_changed(old, new))
    if old.require != new.require:
        found.append(Changed("", "require", ", ".join(old.require), ", ".join(new.require)))
    return tuple(found)


def effective(deployment: Deployment) -> dict[Place, Setting]:
    """Return the effective settings by scope and key."""
    return {(setting.scope, setting.key): setting for setting in deployment.settings}


def _is_of_what_was_said(deployment: Deployment) -> bool:
    try:
        return question(built_of(said_of(deployment), deployment)) == question(deployment)
    except (DeploymentError, KeyError):
        return False


def _faults_changed(old: Deployment, new: Deployment) -> Changed:
    return Changed(*FAULTS, _faults(old), _faults(new))


def _faults(deployment: Deployment) -> str:
    faults = deployment.faults
    kinds = (
        kind if kind in faults.any_number or most > 1 else f"{kind}: {most}" for kind, most in sorted(faults.at_most)
    )
    total = "any number" if faults.any_number else "no total" if faults.total is None else f"{faults.total} in total"
    return f"{total} of {', '.join(kinds)}"


def _fields(deployment: Deployment) -> dict[str, Any]:
    """Return the values of a normalised deployment that the model depends on, by dotted names."""
    found: dict[str, Any] = {}
    for name, value in to_document(deployment).items():
        if name in _APART:
            found.update({f"{name}.{key}": inner for key, inner in value.items()})
        elif name not in (*_NO_FIELDS, FAULTS[1]):
            found[name] = value
    return found


def _with_fields(old: Deployment, new: Deployment, places: Collection[Place]) -> Deployment:
    document, other = to_document(old), to_document(new)
    for place in places:
        head, _, key = place[1].partition(".")
        if place == FAULTS:
            document[head] = other[head]
        elif key:
            members: Mapping[str, Any] = document[head]
            document[head] = {**members, key: other[head][key]}
        else:
            document[head] = other[head]
    return replace(from_document(document), name=old.name)


def _value(setting: Setting | None) -> str | None:
    return None if setting is None else setting.value


def _short(value: Any) -> str:
    if isinstance(value, dict) and set(value) == {"name", "least", "most"}:
        most = "unbounded" if value["most"] is None else f"{value['most']:,}"
        return f"{value['least']:,} ms" if value["least"] == value["most"] else f"{value['least']:,}..{most} ms"
    return value if isinstance(value, str) else json.dumps(value)
