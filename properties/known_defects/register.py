"""The register of known defects: a table for each product, and up to which release and day each was read."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from proofka.properties.known_defects.affected import Affected, Release, release_from
from proofka.properties.known_defects.defect import NOTHING, Defect, Treatment


@dataclass(frozen=True)
class Known:
    """A product's releases in the register, from ``oldest`` to ``newest``, as known on a ``day``."""

    product: str
    name: str
    oldest: Release
    newest: Release
    day: str
    sources: str


def rows_of(table: str) -> Iterator[Mapping[str, str]]:
    """Yield the rows of a table beside this file."""
    text = (files("proofka.properties.known_defects") / "tables" / f"{table}.csv").read_text(encoding="utf-8")
    yield from csv.DictReader(text.splitlines())


@cache
def products() -> Mapping[str, Known]:
    """Return what the register covers, by product."""
    return {
        row["product"]: Known(
            row["product"],
            row["name"],
            release_from(row["oldest"]),
            release_from(row["newest"]),
            row["day"],
            row["sources"],
        )
        for row in rows_of("products")
    }


@cache
def defects_of(product: str) -> tuple[Defect, ...]:
    """Return the defects of a product, in the order of its table; none for a product that has no table."""
    if product not in products():
        return ()
    return tuple(_defect(product, row) for row in rows_of(f"of_{product.replace('-', '_')}"))


def register() -> tuple[Defect, ...]:
    """Return every known defect, product by product."""
    return tuple(defect for product in products() for defect in defects_of(product))


def _defect(product: str, row: Mapping[str, str]) -> Defect:
    affected = Affected(
        release_from(row["first"]), release_from(row["last"]), tuple(map(release_from, _words(row["fixed"])))
    )
    return Defect(
        id=row["id"],
        product=product,
        affected=affected,
        sentence=row["sentence"],
        breaks=_words(row["breaks"]),
        settings=_words(row["settings"]),
        needs=_words(row["needs"]),
        features=_words(row["features"]),
        treatment=Treatment(row["treatment"]),
        shown_by=row["shown_by"],
        source=row["source"],
        uncertain=row["uncertain"],
        notes=row["notes"],
        codes=_codes().get(row["id"], ()),
    )


@cache
def _codes() -> Mapping[str, tuple[str, ...]]:
    """Return the codes of the refusals, by id of the defect."""
    return {row["id"]: _words(row["codes"]) for row in rows_of("codes")}


def _words(cell: str) -> tuple[str, ...]:
    return () if cell == NOTHING else tuple(cell.split())
