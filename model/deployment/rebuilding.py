"""A deployment reduced to its given settings, from which it can be built again with some settings changed.

A deployment keeps its effective settings with their origins, not its files. The settings that the user gave (not
defaults or rules) suffice to build it again. The caller must compare the result with the original.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from proofka.model.deployment.builder import build
from proofka.model.deployment.consumer_rules import GROUP
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.given import Given, GivenClient, GivenDeployment
from proofka.model.deployment.setting import Setting

Place = tuple[str, str]
"""Scope and key of a setting."""

FAULTS: Place = ("assume", "faults")
"""The place of all settings about faults, which change together."""

_RELEASE: Place = ("broker", "release")
_CLIENT = "client"
_SAID = ("file", "option", "assumption")
_OF_FAULTS = "faults."


def said_of(deployment: Deployment) -> dict[Place, Setting]:
    """Return the settings that the user gave in files or options, or that were assumed for existing files. Faults are
    excluded."""
    said = {}
    for setting in deployment.settings:
        is_assumed = setting.origin.kind == "assumption"
        by_default = is_assumed and (setting.scope in ("application", "assume") or setting.key == GROUP)
        about_faults = setting.scope == "assume" and setting.key.startswith(_OF_FAULTS)
        release = (setting.scope, setting.key) == _RELEASE
        if release or (setting.origin.kind in _SAID and not by_default and not about_faults):
            said[setting.scope, setting.key] = setting
    return said


def built_of(said: Mapping[Place, Setting], faults_of: Deployment) -> Deployment:
    """Build the deployment with these given settings and the faults of another deployment. Raises DeploymentError as
    any reader does."""
    sections: dict[str, dict[str, Given]] = {}
    for (scope, key), setting in said.items():
        sections.setdefault(scope, {})[key] = Given(key, setting.value, setting.origin)
    kafka = sections["broker"].pop(_RELEASE[1])
    faults = {
        setting.key.removeprefix(_OF_FAULTS): Given(setting.key, setting.value, setting.origin)
        for setting in faults_of.settings
        if setting.scope == "assume"
        and setting.key.startswith(_OF_FAULTS)
        and setting.origin.kind in _SAID
        and setting.value.isascii()
    }
    given = GivenDeployment(
        name=faults_of.name,
        kafka=kafka,
        topic=sections.get("topic", {}),
        broker=sections["broker"],
        producer=_client(sections.get("producer", {})),
        consumer=_client(sections.get("consumer", {})),
        application=sections.get("application", {}),
        environment=sections.get("assume", {}),
        faults=faults,
        bounds=sections.get("bounds", {}),
        as_found=True,
    )
    built = build(given)
    same = faults_of.faults.of_release(built.faults)
    return replace(built, faults=same, require=faults_of.require, profile=faults_of.profile)


def changed_places(old: Mapping[Place, Setting], new: Mapping[Place, Setting]) -> tuple[Place, ...]:
    """Return the places whose values differ, or that only one of the two has."""
    places = dict.fromkeys((*old, *new))
    return tuple(place for place in places if _value(old.get(place)) != _value(new.get(place)))


def exchanged(
    old: Mapping[Place, Setting], new: Mapping[Place, Setting], places: Collection[Place]
) -> dict[Place, Setting]:
    """Return the settings of ``old``, with those of ``new`` (or none) at the given places."""
    kept = {place: setting for place, setting in old.items() if place not in places}
    return {**kept, **{place: new[place] for place in places if place in new}}


def of_faults(place: Place) -> bool:
    """Tell whether a setting is about the explored faults."""
    return place[0] == "assume" and place[1].startswith(_OF_FAULTS)


def _value(setting: Setting | None) -> str | None:
    return None if setting is None else setting.value


def _client(settings: dict[str, Given]) -> GivenClient:
    named = settings.pop(_CLIENT, None)
    if named is None:
        return GivenClient(settings, present=bool(settings))
    library, _, release = named.value.partition(" ")
    client = Given(_CLIENT, library, named.origin)
    return GivenClient(settings, client, Given("version", release, named.origin), present=True)
