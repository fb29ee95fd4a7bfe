"""The known defects that a word names: an id, a product, a release of a product, or a release of Kafka."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from proofka.model.deployment.release import JAVA, ReleaseError, parse_release
from proofka.model.input.input_error import InputError
from proofka.properties.known_defects.affected import release_from
from proofka.properties.known_defects.defect import Defect
from proofka.properties.known_defects.near_ids import near_ids
from proofka.properties.known_defects.register import defects_of, products, register
from proofka.properties.known_defects.releases import BROKER


class NoSuchDefect(InputError, LookupError):
    """A word that names no defect, product or release. The message has what is close to the word."""


def is_known(word: str) -> bool:
    """Tell whether a word is the id of a defect, a product, or a release of a product with ``=``."""
    return word.partition("=")[0] in products() or any(_has_id(defect, word) for defect in register())


def defects_named(word: str) -> tuple[str, Sequence[Defect]]:
    """Return the defects that a word names under a heading; the heading is empty for a single id.

    Raises :class:`NoSuchDefect`.
    """
    named = [defect for defect in register() if _has_id(defect, word)]
    if named:
        return "", named
    product, _, version = word.partition("=")
    if product in products():
        release = release_from(version)
        if version and not release:
            raise NoSuchDefect(f"{word}: {version} is no release; such as {product}=2.3.0")
        of_product = defects_of(product)
        return word, [one for one in of_product if one.affected.has(release)] if release else of_product
    try:
        parse_release(word)
    except ReleaseError as error:
        if word[:1].isdigit():
            raise NoSuchDefect(f"{error}; proofka defects says what there is") from error
        close = near_ids(word) or get_close_matches(word, products(), n=3)
        near = f"; did you mean {', '.join(close)}?" if close else "; proofka defects says what there is"
        raise NoSuchDefect(f"{word[:100]}: no release, client, defect or file has that name{near}") from error
    release = release_from(word)
    of_kafka = [*defects_of(BROKER), *defects_of(JAVA)]
    return f"Kafka {word}, brokers and Java clients", [one for one in of_kafka if one.affected.has(release)]


def _has_id(defect: Defect, word: str) -> bool:
    return defect.id.lower() == word.lower()
