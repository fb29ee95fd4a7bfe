"""Texts that are nearly a configuration: what a fuzz test gives to a reader."""

from __future__ import annotations

from hypothesis import strategies as st

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
    """The text with some pieces cut out, doubled, or put in; sometimes any text at all."""

    def changed(places: list[tuple[int, int, str]]) -> str:
        result = text
        for start, length, piece in places:
            at = start % (len(result) + 1)
            result = result[:at] + piece + result[at + length :]
        return result

    place = st.tuples(st.integers(0, len(text)), st.integers(0, 12), st.sampled_from(_PIECES) | st.text(max_size=6))
    return st.lists(place, max_size=6).map(changed) | st.text(max_size=200)
