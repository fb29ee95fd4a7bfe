"""sarama's configuration in YAML or JSON: the fields of its ``Config``, nested or dotted, in any case.

Programs unmarshal such a file into the library's own struct, or into one with its names. As in Go, a duration without a
unit is in nanoseconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from proofka.model.deployment.defaults import find_definition, known_keys
from proofka.model.deployment.dialects.accounts import NOT_KAFKAS, Accounts
from proofka.model.deployment.dialects.component import Component, Found, Role
from proofka.model.deployment.dialects.dialect import Dialect, of_what_parses
from proofka.model.deployment.dialects.document import YAML, Document
from proofka.model.deployment.dialects.formats.yaml import values_of
from proofka.model.deployment.dialects.keys import SARAMA
from proofka.model.deployment.dialects.placeholders import Fillings
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.given import Given
from proofka.model.deployment.libraries import LIBRARIES
from proofka.model.deployment.release import Release

NAME = "settings of sarama"
SIGNS = frozenset(
    {
        "Producer.RequiredAcks",
        "Producer.Return.Successes",
        "Producer.Return.Errors",
        "Producer.Flush.Frequency",
        "Producer.Retry.Backoff",
        "Consumer.Offsets.Initial",
        "Consumer.Offsets.AutoCommit.Enable",
        "Consumer.Group.Rebalance.Strategy",
        "Consumer.Return.Errors",
        "Net.MaxOpenRequests",
    }
)
"""Fields whose names no other library has; one of them and another field suffice."""

_ROLES = (Role.PRODUCER, Role.CONSUMER)


@cache
def _fields() -> Mapping[str, str]:
    """Return the fields by their names without dots, dashes and underscores, in lower case."""
    return {_plain(key): key for role in _ROLES for key in known_keys(f"{SARAMA} {role}")}


def _plain(name: str) -> str:
    return name.replace(".", "").replace("_", "").replace("-", "").lower()


def _field(path: tuple[str, ...]) -> tuple[tuple[str, ...], str] | None:
    """Return the longest field that the end of a path names, and the path before it."""
    for start in range(len(path)):
        field = _fields().get(_plain("".join(path[start:])))
        if field is not None:
            return path[:start], field
    return None


def _values(document: Document) -> Iterator[Said]:
    if document.suffix in YAML or document.suffix == ".json":
        for node in document.yaml:
            yield from values_of(node)


@of_what_parses
def fits(document: Document) -> bool:
    """Tell whether the document has two of sarama's fields, one of which no other library has."""
    text = _plain(document.text)
    if not any(_plain(sign.rpartition(".")[2]) in text for sign in SIGNS):
        return False
    found = {field[1] for said in _values(document) if (field := _field(said.path)) is not None}
    return len(found) > 1 and bool(found & SIGNS)


def read(document: Document, fillings: Fillings) -> Found:
    """Return a producer and a consumer for each place in the file with fields of theirs."""
    accounts = Accounts(document, fillings)
    places: dict[tuple[str, ...], dict[str, Said]] = {}
    for said in accounts.last_of_each(_values(document), "a map"):
        field = _field(said.path)
        if field is None:
            accounts.ignore(said, NOT_KAFKAS)
        elif said.null:
            accounts.ignore(said, "has no value")
        else:
            places.setdefault(field[0], {})[field[1]] = said
    components = [one for place, fields in places.items() for one in _components(place, fields, accounts)]
    return accounts.found(NAME, components)


def _components(place: tuple[str, ...], fields: Mapping[str, Said], accounts: Accounts) -> Iterator[Component]:
    roles = [role for role in _ROLES if any(key.startswith(f"{role.capitalize()}.") for key in fields)]
    for said in () if roles else fields.values():
        accounts.ignore(said, "is for producers and consumers, but the file has settings of neither")
    for role in roles:
        settings = {
            key: accounts.take(said, key, _value(key, role, accounts.text(said)))
            for key, said in fields.items()
            if key in known_keys(f"{SARAMA} {role}")
        }
        client: Given = accounts.by_framework("client", SARAMA, "the fields of its Config")
        yield Component(role, ".".join((*place, role)), settings, client=client)


def _value(key: str, role: Role, text: str) -> str:
    """Return a value in the library's form: durations with a unit, constants without their package."""
    definition = find_definition(f"{SARAMA} {role}", key, Release(*LIBRARIES[SARAMA].newest))
    if definition is not None and definition.type == "duration" and text.lstrip("-").isdigit() and text != "0":
        return f"{text}ns"
    return text.removeprefix("sarama.")


DIALECT = Dialect(NAME, fits, read)
