"""Files of other products that configure or program a client of Kafka, which no dialect reads.

``tables/other_products.csv`` has a row for each product: the client that it uses, and a regular expression that such a
file contains.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from model.deployment.dialects.document import Document
from model.deployment.dialects.telling import is_for_people, mentions

_TABLE = Path(__file__).parent / "tables" / "other_products.csv"

_PLACES = {"Java": "files for --producer and --consumer"}
"""The place for settings of clients that a deployment need not name; flat files are read as those of Java's client."""


@dataclass(frozen=True)
class Product:
    """A product by its name, with the client library that it uses, and the sign of its files."""

    name: str
    client: str
    sign: re.Pattern[str]

    @property
    def advice(self) -> str:
        """The sentence about what a user can give instead of the file."""
        if self.client == "its own":
            return f"is a file of {self.name}, whose client is not modelled"
        place = _PLACES.get(self.client, f"a deployment with client: {self.client} (docs/deployment-format.md)")
        return f"is a file of {self.name}, which is not read: give the settings of its {self.client} client in {place}"


@dataclass(frozen=True)
class Mention:
    """A file that mentions Kafka and that no dialect reads; ``product`` is None where nothing tells whose it is."""

    file: str
    product: Product | None

    @property
    def sentence(self) -> str:
        """The end of a sentence about the file."""
        return "mentions Kafka in no known form" if self.product is None else self.product.advice


@cache
def _products() -> Sequence[Product]:
    rows = csv.DictReader(_TABLE.read_text(encoding="utf-8").splitlines())
    return tuple(Product(row["product"], row["client"], re.compile(row["sign"], re.MULTILINE)) for row in rows)


def product_of(document: Document) -> Product | None:
    """Return the product whose sign a file of no dialect contains."""
    return next((product for product in _products() if product.sign.search(document.text) is not None), None)


def mention_of(document: Document, file: Path) -> Mention | None:
    """Return the mention of Kafka in a file of no dialect; None if the file has nothing to do with Kafka."""
    if is_for_people(document):
        return None
    product = product_of(document)
    return Mention(str(file), product) if product is not None or mentions(document) else None
