"""The requests of the Kafka protocol: their keys, and the versions with flexible headers."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from proofka.checker.cluster.errors import ClusterError

_TABLE = Path(__file__).with_name("apis.csv")


class UnknownApi(ClusterError):
    """A name that no request of the Kafka protocol has."""

    code = "K31"

    def __init__(self, name: object) -> None:
        super().__init__(f"{name!r} names no request of the Kafka protocol; use a name of {_TABLE.name}")


@dataclass(frozen=True)
class Api:
    """A request of the protocol, with its response. ``flexible_from`` is None where no version has tagged fields."""

    key: int
    name: str
    flexible_from: int | None

    def is_flexible(self, version: int) -> bool:
        """Tell whether header and body of a version have tagged fields and compact lengths."""
        return self.flexible_from is not None and version >= self.flexible_from


def _read() -> dict[int, Api]:
    with _TABLE.open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    return {
        int(row["key"]): Api(
            key=int(row["key"]),
            name=row["name"],
            flexible_from=int(row["flexible_from"]) if row["flexible_from"] else None,
        )
        for row in rows
    }


APIS = _read()
"""Every request of the protocol, by its key."""

_BY_NAME = {api.name: api for api in APIS.values()}


def api_named(name: str) -> Api:
    """Return the request with a name such as "Produce". Raises UnknownApi."""
    try:
        return _BY_NAME[name]
    except KeyError:
        raise UnknownApi(name) from None
