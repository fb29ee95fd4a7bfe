"""Texts that are nearly configurations: what a fuzz test of a reader gives it."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import strategies as st

from proofka.model.deployment.dialects.dialect import Dialect
from proofka.model.deployment.dialects.document import Document
from proofka.model.deployment.errors import DeploymentError

PIECES = ("\n", "  ", ":", "- ", "{", "}", "[", "]", "|", "&a", "*a", "<<: *a\n", "${X", "${X:-1}", "{{ x }}", '"', "=")
"""Pieces that sometimes break or change a text."""


@st.composite
def nearly(draw: st.DrawFn, text: str) -> str:
    """Return the text with a few pieces removed, inserted or moved."""
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 30)))
        put = draw(st.sampled_from(PIECES) | st.text(max_size=6) | st.just(text[start:end] * 2))
        text = text[:start] + put + text[end:]
    return text


def only_complains(dialect: Dialect, name: str, text: str, fillings: Mapping[str, str] | None = None) -> None:
    """Check that a reader raises only errors of one line for any text, and that recognising a dialect raises
    nothing."""
    document = Document(name, text)
    dialect.fits(document)
    try:
        dialect.read(document, fillings or {})
    except DeploymentError as error:
        assert "\n" not in str(error)


_PIECES = (
    "\\",
    "\\u12",
    "${",
    "}",
    "{{",
    "%",
    "=",
    ":",
    "\n",
    "\r\n",
    "\ufeff",
    "'",
    '"',
    "[",
    "]",
    "- ",
    "  ",
    "&a",
    "*a",
)


def near(text: str) -> st.SearchStrategy[str]:
    """Return the text with some pieces removed, doubled or inserted; sometimes any text at all."""

    def changed(places: list[tuple[int, int, str]]) -> str:
        result = text
        for start, length, piece in places:
            at = start % (len(result) + 1)
            result = result[:at] + piece + result[at + length :]
        return result

    place = st.tuples(st.integers(0, len(text)), st.integers(0, 12), st.sampled_from(_PIECES) | st.text(max_size=6))
    return st.lists(place, max_size=6).map(changed) | st.text(max_size=200)
