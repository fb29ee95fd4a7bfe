"""Whether the settings that a result prints lead to the deployment that was checked.

A deployment in a result stands there twice: as settings, for people, and as the fields of the model. The files that it
was read from are not there. So it is built again from as few of the settings as give all the others, and compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product

from checker.tampered import TamperedDocument
from model.deployment import to_document
from model.deployment.defaults import choices_of, is_known
from model.deployment.deployment import Deployment
from model.deployment.errors import DeploymentError
from model.deployment.question import question
from model.deployment.rebuilding import Place, built_of, of_faults, said_of
from model.deployment.setting import Setting

GIVEN = ("file", "option")
ATTEMPTS = 6
"""So often settings that did not come out are taken for given; each time there are more of them."""

Settings = Mapping[Place, Setting]


def verify_settings(deployment: Deployment) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What was compared, a line each, and what could not be, a line each. Raises TamperedDocument where it differs."""
    _same_faults(deployment)
    shown = {_place(setting): setting for setting in deployment.settings}
    if len(shown) != len(deployment.settings):
        raise TamperedDocument("deployment.settings: a setting stands there twice")
    closest: list[str] | None = None
    why = ""
    for built in _attempts(deployment, shown):
        if isinstance(built, DeploymentError):
            why = why or str(built)
            continue
        different = list(_different(built, deployment, shown))
        if not different:
            return (f"settings: what the {len(shown)} that are printed say is the deployment that was checked",), ()
        if closest is None or len(different) < len(closest):
            closest = different
    if why or closest is None:
        return (), (f"settings: what is printed of them cannot be built again: {why}"[:400],)
    raise TamperedDocument(f"deployment.settings: what they say is not what was checked: {'; '.join(closest[:3])}")


def _attempts(deployment: Deployment, shown: Settings) -> Iterator[Deployment | DeploymentError]:
    """The deployment, built from what was said and, step by step, from what did not come of it."""
    said = said_of(deployment)
    ignored = {(one.scope, one.key): Setting(one.scope, one.key, one.value, one.origin) for one in deployment.ignored}
    fewest = {place: one for place, one in said.items() if one.origin.kind in GIVEN or _is_needed(place)}
    # What is ignored may still tell something else: zookeeper.connect, that there is no KRaft.
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
    """The deployment of which this is given; where a client has its own words for values, one of which that comes."""
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
        return DeploymentError("nothing says which release the brokers are")


def _own_words(given: Settings, place: Place) -> tuple[str, ...]:
    """What the client calls values of a setting that is printed in Kafka's word: OffsetOldest for earliest."""
    client = given.get((place[0], "client"))
    table = "" if client is None else f"{client.value.partition(' ')[0]} {place[0]}"
    if not is_known(table, place[1]):
        return ()
    words = tuple(str(choices_of(table, place[1])[-1][2]).split(", "))
    return words if len(words) > 1 and given[place].value not in words else ()


def _is_needed(place: Place) -> bool:
    """Without these nothing is built: the release, and whose the clients are."""
    return place[1] in ("release", "client")


def _different(built: Deployment, deployment: Deployment, shown: Settings) -> Iterator[str]:
    """Each setting, and each field of the model, that is not what is said."""
    values = {_place(setting): setting.value for setting in built.settings if not of_faults(_place(setting))}
    told = {place: setting.value for place, setting in shown.items() if not of_faults(place)}
    for place in dict.fromkeys((*told, *values)):
        if told.get(place) != values.get(place):
            yield f"{' '.join(place)}={told.get(place)} is printed, and {values.get(place)} comes of the others"
    if question(built) != question(deployment):
        said, modelled = to_document(built), to_document(deployment)
        for name in modelled:
            if (
                name not in ("name", "client", "settings", "ignored", "notes", "require", "profile")
                and said[name] != modelled[name]
            ):
                yield f"{name}: {said[name]} comes of the settings, and {modelled[name]} was checked"[:160]


def _same_faults(deployment: Deployment) -> None:
    """The faults that are printed are those that were explored."""
    faults = deployment.faults
    told = {
        place[1].removeprefix("faults."): one.value for one in deployment.settings if of_faults(place := _place(one))
    }
    total = "any" if faults.any_number else "as many as time allows" if faults.total is None else str(faults.total)
    if told.pop("total", None) not in (total, *(("any",) if not faults.at_most else ())):
        raise TamperedDocument(f"deployment.settings: faults.total is not {total}, which was asked")
    kinds = {kind: value for kind, value in told.items() if value != "0"}
    if kinds.keys() != dict(faults.at_most).keys():
        raise TamperedDocument("deployment.settings: the kinds of fault are not those that were asked for")
    for kind, most in faults.at_most:
        if kinds[kind] not in ("any", str(most)) and kind not in faults.any_number:
            raise TamperedDocument(f"deployment.settings: faults.{kind} is not {most}, which was asked")


def _place(setting: Setting) -> Place:
    return setting.scope, setting.key
