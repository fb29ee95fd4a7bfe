"""Files of no dialect that configure or program clients or brokers of Kafka: the product or the language of each.

``tables/other_products.csv`` has a row for each product: its client (or another key of ``_ADVICE``), the ending of its
files, and a regular expression that such a file contains. ``tables/unknown_forms.csv`` has a name for each kind of
other files.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from proofka.model.deployment.dialects.document import Document
from proofka.model.deployment.dialects.telling import is_for_people, mentions

_TABLES = Path(__file__).parent / "tables"
_ADVICE = {
    "its own": "whose client is not modelled",
    "a program": "which hands its records to a program: give the settings of that program's client",
    "other brokers": "whose brokers are not modelled",
    "brokers": "which is not read: give the settings of the brokers in a file for --broker",
    "variables": "which count beside the files that declare them: name the folder of both",
    "Java": "which is not read: give the settings of its Java client in files for --producer and --consumer",
}
"""The end of the sentence about a product, by its client."""

_IN_A_DEPLOYMENT = (
    "which is not read: give the settings of its {0} client in a deployment with client: {0} "
    "(docs/deployment-format.md)"
)
"""The same for a client that the options for Java's files do not take."""

IN_NO_KNOWN_FORM = "mentions Kafka in no known form"


@dataclass(frozen=True)
class Product:
    """A product by its name, with the client library that it uses, the ending of its files, and their sign.

    ``beside``: the ending of files with which such a file is read, in a folder that has them.
    """

    name: str
    client: str
    files: re.Pattern[str]
    beside: str
    sign: re.Pattern[str]

    @property
    def advice(self) -> str:
        """The sentence about what a user can give instead of the file."""
        return f"is a file of {self.name}, {_ADVICE.get(self.client, _IN_A_DEPLOYMENT.format(self.client))}"


@dataclass(frozen=True)
class Mention:
    """A file that mentions Kafka and that no dialect reads; ``product`` is None where nothing tells whose it is.
    ``form``: the kind of such a file, by its name; empty if unknown."""

    file: str
    product: Product | None
    form: str = ""

    @property
    def sentence(self) -> str:
        """The end of a sentence about the file."""
        return IN_NO_KNOWN_FORM if self.product is None else self.product.advice

    @property
    def advice(self) -> str:
        """The sentence about what a user can give instead of the file, where no product is known."""
        form = self.form or "a file whose names only its own program knows"
        return f"it is {form}; write a deployment with the settings of its clients"


@cache
def _products() -> Sequence[Product]:
    rows = csv.DictReader((_TABLES / "other_products.csv").read_text(encoding="utf-8").splitlines())
    return tuple(
        Product(
            row["product"],
            row["client"],
            re.compile(f".*(?:{row['files']})" if row["files"] else ".*"),
            row["beside"],
            re.compile(row["sign"], re.MULTILINE),
        )
        for row in rows
    )


@cache
def _forms() -> Sequence[tuple[re.Pattern[str], str]]:
    rows = csv.DictReader((_TABLES / "unknown_forms.csv").read_text(encoding="utf-8").splitlines())
    return tuple((re.compile(row["files"]), row["form"]) for row in rows)


def mention_of(document: Document, file: Path) -> Mention | None:
    """Return the mention of Kafka in a file of no dialect; None if the file is a text for people, or has nothing to do
    with Kafka."""
    if is_for_people(document):
        return None
    own = (one for one in _products() if one.files.fullmatch(document.name) is not None)
    product = next((one for one in own if one.sign.search(document.text) is not None), None)
    form = next((form for files, form in _forms() if files.fullmatch(document.name) is not None), "")
    return Mention(str(file), product, form) if product is not None or mentions(document) else None


def passed_over(document: Document, file: Path) -> Mention | None:
    """Return the mention of Kafka in a file of a folder, unless another file of the folder is read with this one."""
    mention = mention_of(document, file)
    beside = mention.product.beside if mention is not None and mention.product is not None else ""
    return None if beside and document.names_beside(beside) else mention
