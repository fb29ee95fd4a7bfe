"""Check that the settings printed in a result lead to the deployment that was checked.

A result holds its deployment twice: as settings for people, and as the fields of the model. The result does not hold
the files from which the deployment was read. So the deployment is built again from as few settings as give all the
others, and compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product

from proofka.checker.tampered import TamperedDocument
from proofka.model.deployment import to_document
from proofka.model.deployment.defaults import choices_of, is_known
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.question import question
from proofka.model.deployment.rebuilding import Place, built_of, of_faults, said_of
from proofka.model.deployment.setting import Setting

GIVEN = ("file", "option")
ATTEMPTS = 6
"""Largest number of attempts. Each attempt treats the settings that differed before as given, in addition to earlier
ones."""

Settings = Mapping[Place, Setting]


def verify_settings(deployment: Deployment) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the comparisons that agree, and the comparisons that are impossible, a line each.

    Raise TamperedDocument if a comparison differs.
    """
    _same_faults(deployment)
    shown = {_place(setting): setting for setting in deployment.settings}
    if len(shown) != len(deployment.settings):
        raise TamperedDocument("deployment.settings: a setting occurs twice")
    closest: list[str] | None = None
    why = ""
    for built in _attempts(deployment, shown):
        if isinstance(built, DeploymentError):
            why = why or str(built)
            continue
        different = list(_different(built, deployment, shown))
        if not different:
            return (f"settings: the {len(shown)} printed settings lead to the deployment that was checked",), ()
        if closest is None or len(different) < len(closest):
            closest = different
    if why or closest is None:
        return (), (f"settings: the deployment cannot be built again from the printed settings: {why}"[:400],)
    raise TamperedDocument(
        f"deployment.settings: the settings do not lead to the deployment that was checked: {'; '.join(closest[:3])}"
    )


def _attempts(deployment: Deployment, shown: Settings) -> Iterator[Deployment | DeploymentError]:
    """Yield deployments built from the given settings, and, step by step, from further printed settings that differ."""
    said = said_of(deployment)
    ignored = {(one.scope, one.key): Setting(one.scope, one.key, one.value, one.origin) for one in deployment.ignored}
    fewest = {place: one for place, one in said.items() if one.origin.kind in GIVEN or _is_needed(place)}
    # An ignored setting can have a further meaning: zookeeper.connect excludes KRaft.
    for first in ({**ignored, **fewest}, fewest, said):
        given = first
        for _ in range(ATTEMPTS):
            built = _built(given, deployment)
            yield built
            if isinstance(built, DeploymentError):
                break
            values = {_place(setting): setting.value for setting in built.settings}
            more = {
                place: setting
                for place, setting in shown.items()
                if place not in given and values.get(place) != setting.value and not of_faults(place)
            }
            if not more:
                break
            given = {**given, **more}


def _built(given: Settings, deployment: Deployment) -> Deployment | DeploymentError:
    """Return the deployment of these given settings, or the error.

    If the client has own words for values, try each of its words until the printed value results.
    """
    first = _built_of(given, deployment)
    own = {place: words for place in given if (words := _own_words(given, place))}
    if not isinstance(first, DeploymentError) or not own:
        return first
    for words in product(*own.values()):
        told = {place: replace(given[place], value=word) for place, word in zip(own, words, strict=True)}
        built = _built_of({**given, **told}, deployment)
        if not isinstance(built, DeploymentError):
            values = {_place(setting): setting.value for setting in built.settings}
            if all(values.get(place) == given[place].value for place in own):
                return built
    return first


def _built_of(given: Settings, deployment: Deployment) -> Deployment | DeploymentError:
    try:
        return built_of(given, deployment)
    except DeploymentError as error:
        return error
    except KeyError:
        return DeploymentError("the release of the brokers is missing")


def _own_words(given: Settings, place: Place) -> tuple[str, ...]:
    """Return the client's own words for the value of a setting that is printed in Kafka's word: OffsetOldest for
    earliest.
    """
    client = given.get((place[0], "client"))
    table = "" if client is None else f"{client.value.partition(' ')[0]} {place[0]}"
    if not is_known(table, place[1]):
        return ()
    words = tuple(str(choices_of(table, place[1])[-1][2]).split(", "))
    return words if len(words) > 1 and given[place].value not in words else ()


def _is_needed(place: Place) -> bool:
    """Tell whether every attempt needs the setting: the release, and the client library."""
    return place[1] in ("release", "client")


def _different(built: Deployment, deployment: Deployment, shown: Settings) -> Iterator[str]:
    """Yield each setting, and each field of the model, that differs from the printed value."""
    values = {_place(setting): setting.value for setting in built.settings if not of_faults(_place(setting))}
    told = {place: setting.value for place, setting in shown.items() if not of_faults(place)}
    for place in dict.fromkeys((*told, *values)):
        if told.get(place) != values.get(place):
            yield f"{' '.join(place)}={told.get(place)} is printed, but the other settings give {values.get(place)}"
    if question(built) != question(deployment):
        said, modelled = to_document(built), to_document(deployment)
        for name in modelled:
            if (
                name not in ("name", "client", "settings", "ignored", "notes", "require", "profile")
                and said[name] != modelled[name]
            ):
                yield f"{name}: the settings give {said[name]}, but {modelled[name]} was checked"[:160]


def _same_faults(deployment: Deployment) -> None:
    """Raise TamperedDocument if the printed faults are not the explored faults."""
    faults = deployment.faults
    told = {
        place[1].removeprefix("faults."): one.value for one in deployment.settings if of_faults(place := _place(one))
    }
    total = "any" if faults.any_number else "as many as time allows" if faults.total is None else str(faults.total)
    if told.pop("total", None) not in (total, *(("any",) if not faults.at_most else ())):
        raise TamperedDocument(f"deployment.settings: faults.total is not {total}, the requested number")
    kinds = {kind: value for kind, value in told.items() if value != "0"}
    if kinds.keys() != dict(faults.at_most).keys():
        raise TamperedDocument("deployment.settings: the kinds of fault are not the requested kinds")
    for kind, most in faults.at_most:
        if kinds[kind] not in ("any", str(most)) and kind not in faults.any_number:
            raise TamperedDocument(f"deployment.settings: faults.{kind} is not {most}, the requested number")


def _place(setting: Setting) -> Place:
    return setting.scope, setting.key
