"""The claims of the tables, in the order of their ids.

.. code-block:: yaml

    C005:
      says: With acks=1 a record is lost if the leader dies before a follower has copied it.
      cases:
        - fails: no-acked-loss           # or holds: what the claim says of this property
          if: a broker dies              # only where the claim leaves it open
          with: {producer.acks: 1, faults: {kill: 1}}

``with`` is a record as of an inventory, on top of ``pipeline`` (a name from ``tables/pipelines.yaml``; ``three`` where
nothing is said). ``faults`` is short for ``assume.faults`` with their sum for a total. Instead of ``cases`` stands
``default: {scope: ..., key: ..., value: ...}`` for what only says what a default is, ``choices: {scope: ..., key:
...}`` for what says what values there are, ``exists`` likewise for what says that there is something to set,
``follows`` for what says what a setting makes of others, and ``missing: why`` for what no model decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from model.input_error import InputError
from properties.claims.claim import About, Case, Claim, SettingClaim

TABLES = Path(__file__).with_name("tables")
PIPELINES = "pipelines.yaml"
INCIDENTS = Path(__file__).with_name("incidents.yaml")
FINDINGS = Path(__file__).with_name("findings.yaml")
USUAL = "three"
"""The pipeline of a case that names none."""


class UnknownClaimError(InputError):
    """There is no claim of this id."""


@cache
def claims() -> tuple[Claim, ...]:
    """Every claim. The tables are shipped with the package: what is wrong in one is a plain KeyError."""
    found = (claim for path in TABLES.glob("*.yaml") if path.name != PIPELINES for claim in _claims_in(path))
    return tuple(sorted(found, key=lambda claim: claim.id))


@cache
def incidents() -> tuple[Claim, ...]:
    """What happened somewhere: that it is found from its configuration, and not found with what ended it."""
    return tuple(_claims_in(INCIDENTS))


@cache
def findings() -> tuple[Claim, ...]:
    """What is taken for granted of the safer of two values, and is not so everywhere."""
    return tuple(_claims_in(FINDINGS))


def _claims_in(table: Path) -> Iterator[Claim]:
    return (_claim(key, entry) for key, entry in _table(table).items())


def find_claims(ids: list[str]) -> tuple[Claim, ...]:
    """What has these ids in any of the tables, each once; all claims if none is given. Raises UnknownClaimError.

    ``claims``, ``findings`` and ``incidents`` name all that a table has.
    """
    tables = {"claims": claims(), "findings": findings(), "incidents": incidents()}
    known = {claim.id: claim for table in tables.values() for claim in table}
    ids = [key for wanted in ids for key in ([one.id for one in tables.get(wanted, ())] or [wanted])]
    for wanted in ids:
        if wanted.upper() not in known:
            first, *_, last = (claim.id for claim in claims())
            happened = ", ".join(incident.id for incident in incidents())
            there = f"{first} to {last}, findings {', '.join(one.id for one in findings())}, and incidents {happened}"
            raise UnknownClaimError(f"{wanted}: no such claim; there are {there}")
    return tuple(known[key] for key in dict.fromkeys(wanted.upper() for wanted in ids)) or claims()


def _table(path: Path) -> dict[str, Any]:
    from ruamel.yaml import YAML

    table: dict[str, Any] = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
    return table


@cache
def _pipelines() -> dict[str, Any]:
    return _table(TABLES / PIPELINES)


def _claim(key: str, entry: Mapping[str, Any]) -> Claim:
    settings = [_setting(about, entry[about]) for about in About if about in entry]
    setting = settings[0] if settings else None
    return Claim(key, entry["says"], tuple(_cases(entry.get("cases", ()))), setting, entry.get("missing", ""))


def _setting(about: About, entry: Mapping[str, Any]) -> SettingClaim:
    return SettingClaim(about=about, **{**entry, "keys": tuple(entry.get("keys", ()))})


def _cases(entries: Sequence[Mapping[str, Any]]) -> Iterator[Case]:
    for entry in entries:
        holds = "holds" in entry
        asked = {**_pipelines()[entry.get("pipeline", USUAL)], **entry.get("with", {})}
        faults = asked.pop("faults", {})
        assert isinstance(faults, dict)
        asked["assume.faults"] = {"total": sum(faults.values()), **faults}
        yield Case(entry["holds"] if holds else entry["fails"], holds, entry.get("if", ""), asked)
