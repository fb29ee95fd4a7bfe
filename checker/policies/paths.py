"""The places of settings in the documents that rules in CEL and Rego read."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from proofka.checker.policies.errors import OutsideSubsetError
from proofka.checker.policies.expression import Literal, Read
from proofka.checker.policies.names import read_of
from proofka.model.deployment.hiding import printable

TABLE = Path(__file__).parent / "tables" / "paths.csv"

ANY = "*"
"""The word of the table for the name of a setting."""


@dataclass(frozen=True)
class Place:
    """A path in a document, which ends in ``*`` if names of settings follow."""

    path: tuple[str, ...]
    scope: str
    key: str
    constant: str

    def fits(self, path: tuple[str, ...]) -> bool:
        """Tell whether a path is at this place."""
        if self.path[-1] != ANY:
            return path == self.path
        return len(path) >= len(self.path) and path[: len(self.path) - 1] == self.path[:-1]


@cache
def places() -> tuple[Place, ...]:
    """Return every place at which a rule can read settings."""
    found = []
    with TABLE.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            for root in row["root"].split("|"):
                path = (*filter(None, root.split(".")), *row["path"].split("."))
                found.append(Place(path, row["scope"], row["key"], row["constant"]))
    return tuple(found)


def is_section(path: tuple[str, ...]) -> bool:
    """Tell whether a path is the mapping below which settings stand."""
    return any(place.path == (*path, ANY) for place in places())


def value_at(path: tuple[str, ...], *, line: int, column: int, file: str) -> Read | Literal:
    """Return the setting at a path, or the constant there. Raise PolicyError for another path."""
    place = next((one for one in places() if one.fits(path)), None)
    if place is None:
        message = (
            f"reads {printable('.'.join(path))}, which is no setting of Kafka; rules read settings, as in "
            'topic["min.insync.replicas"], or as docs/policies.md lists'
        )
        raise OutsideSubsetError(message, file=file, line=line, column=column)
    if place.constant:
        return Literal(place.constant)
    key = ".".join(path[len(place.path) - 1 :]) if place.key == ANY else place.key
    return read_of(f"{place.scope}.{key}" if place.scope else key, line, column, file)
