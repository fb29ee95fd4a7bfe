"""The claims of the tables, in the order of their ids.

.. code-block:: yaml

    C005:
      says: With acks=1 a record is lost if the leader dies before a follower has copied it.
      cases:
        - fails: no-acked-loss           # or holds: the claim about this property
          if: a broker dies              # only if the claim does not state the condition
          with: {producer.acks: 1, faults: {kill: 1}}

``with`` is a record as in an inventory, on top of ``pipeline`` (a name from ``tables/pipelines.yaml``; the default is
``three``). ``faults`` is short for ``assume.faults`` with the sum of the faults as total, unless ``total`` is among
them. ``also: "3.9"`` asks the case of this release of Kafka as well. ``excludes``, of a claim or a case, has what the
sentence or the condition excludes, each with a reason; a reason alone excludes everything that is not asked
(:mod:`properties.claims.objections`). Other keys replace ``cases``:
``default: {scope: ..., key: ..., value: ...}`` for a claim about a default, ``choices: {scope: ..., key: ...}`` for a
claim about possible values, ``exists`` for a claim that a setting exists, ``follows`` for a claim about the effect of a
setting on others, and ``missing: why`` for a claim that no model decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from proofka.model.input.input_error import InputError
from proofka.properties.claims.claim import About, Case, Claim, SettingClaim
from proofka.properties.claims.conditions import FAULTS, RELEASE
from proofka.properties.claims.objections import EVERYTHING, RELEASES

TABLES = Path(__file__).with_name("tables")
PIPELINES = "pipelines.yaml"
INCIDENTS = Path(__file__).with_name("incidents.yaml")
FINDINGS = Path(__file__).with_name("findings.yaml")
USUAL = "three"
"""The pipeline of a case without a pipeline."""
MOST_NEAR = 3
"""Largest number of ids that a message about an unknown id names."""


class UnknownClaimError(InputError):
    """No claim has this id."""


@cache
def claims() -> tuple[Claim, ...]:
    """Return every claim. An error in a table, which is part of the package, raises KeyError."""
    found = (claim for path in TABLES.glob("*.yaml") if path.name != PIPELINES for claim in _claims_in(path))
    return tuple(sorted(found, key=lambda claim: claim.id))


@cache
def incidents() -> tuple[Claim, ...]:
    """Return the incidents: each must be found with its configuration, and not with the change that ended it."""
    return tuple(_claims_in(INCIDENTS))


@cache
def findings() -> tuple[Claim, ...]:
    """Return the findings: guarantees of the safer of two values that do not hold in every deployment."""
    return tuple(_claims_in(FINDINGS))


def _claims_in(table: Path) -> Iterator[Claim]:
    return (_claim(key, entry) for key, entry in _table(table).items())


def find_claims(ids: list[str]) -> tuple[Claim, ...]:
    """Return the claims, findings and incidents with these ids, each once; all claims without ids.

    The words ``claims``, ``findings`` and ``incidents`` stand for all ids of a table. Raises UnknownClaimError.
    """
    tables = {"claims": claims(), "findings": findings(), "incidents": incidents()}
    known = {claim.id: claim for table in tables.values() for claim in table}
    ids = [key for wanted in ids for key in ([one.id for one in tables.get(wanted, ())] or [wanted])]
    for wanted in ids:
        if wanted.upper() not in known:
            near = sorted(get_close_matches(wanted.upper(), known, n=MOST_NEAR))
            nearest = f"nearest are {', '.join(near)}; " if near else ""
            there = ", ".join(f"{name} {min(ids)} to {max(ids)}" for name, ids in _ids_of(tables))
            raise UnknownClaimError(f"{wanted}: no such claim; {nearest}there are {there}")
    return tuple(known[key] for key in dict.fromkeys(wanted.upper() for wanted in ids)) or claims()


def _ids_of(tables: Mapping[str, Sequence[Claim]]) -> Iterator[tuple[str, list[str]]]:
    return ((name, [claim.id for claim in table]) for name, table in tables.items())


def _table(path: Path) -> dict[str, Any]:
    from ruamel.yaml import YAML

    table: dict[str, Any] = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
    return table


@cache
def pipelines() -> Mapping[str, Mapping[str, Any]]:
    """Return the records on top of which claims ask their cases, by name."""
    return _table(TABLES / PIPELINES)


def _claim(key: str, entry: Mapping[str, Any]) -> Claim:
    settings = [_setting(about, entry[about]) for about in About if about in entry]
    setting = settings[0] if settings else None
    cases = tuple(_cases(entry.get("cases", ()), _excluded(entry)))
    return Claim(key, entry["says"], cases, setting, entry.get("missing", ""))


def _setting(about: About, entry: Mapping[str, Any]) -> SettingClaim:
    return SettingClaim(about=about, **{**entry, "keys": tuple(entry.get("keys", ()))})


def _excluded(entry: Mapping[str, Any]) -> Mapping[str, str]:
    said = entry.get("excludes", {})
    return {EVERYTHING: said} if isinstance(said, str) else said


def _cases(entries: Sequence[Mapping[str, Any]], excluded: Mapping[str, str]) -> Iterator[Case]:
    for entry in entries:
        holds = "holds" in entry
        given = entry.get("with", {})
        asked = {**pipelines()[entry.get("pipeline", USUAL)], **given}
        faults = asked.pop("faults", {})
        assert isinstance(faults, dict)
        asked[FAULTS] = {"total": sum(faults.values()), **faults}
        condition, excludes = entry.get("if", ""), {**excluded, **_excluded(entry)}
        if RELEASE in given:
            excludes = {RELEASES: "the case names its release", **excludes}
        prop = entry["holds"] if holds else entry["fails"]
        of_usual = f"Kafka {asked[RELEASE]}" if "also" in entry and not condition else condition
        yield Case(prop, holds, of_usual, asked, excludes)
        if "also" in entry:
            release = entry["also"]
            of_other = f"{condition}, Kafka {release}" if condition else f"Kafka {release}"
            yield Case(prop, holds, of_other, {**asked, RELEASE: release}, excludes)
