"""Hiding of values: secrets, and control characters that must not reach a terminal."""

from __future__ import annotations

import re

from proofka.model.input.one_line import one_line

HIDDEN = "(hidden)"

_SECRET_KEY = re.compile(
    r"(^|[._-])(password|passwd|pass|pwd|passphrase|secret|token|credentials?|private[._-]?key|api[._-]?key|access[._-]?key)"
    r"([._-]|$)|jaas|ssl\.keystore\.key$|ssl\.key\.|\.certificate\.chain$|ssl\.truststore\.certificates$"
    r"|basic\.auth|user\.info$|userinfo$",
    re.IGNORECASE,
)
_NAME = re.compile(r"[\w./\[\]<>{}%' -]{1,200}")
_USER_IN_ADDRESS = re.compile(r"(?<=://)[^@\s]*@")
_SECRET_IN_QUERY = re.compile(r"(?i)(?<=[?&;])([\w.-]*(?:pass|pwd|secret|token|key|user)[\w.-]*)=[^&;\s]*")
_PLACE = re.compile(
    r"(?P<opening>\$\{|\$\(|\{\{-?\s*)(?P<name>[\w.-]*)(?P<rest>.*?)(?P<closing>\s*-?\}\}|\}|\)|$)", re.DOTALL
)
"""A placeholder: its name, and its argument or default, which can be a secret."""
_LONGEST = 120
_LOOKED_AT = 2_000
"""The number of characters of a value that are examined; the rest is not shown."""


def is_secret(key: str) -> bool:
    """Tell whether the value of this setting can be a secret."""
    return _SECRET_KEY.search(key) is not None


def shown_value(key: str, value: str) -> str:
    """Return the value in the form that is shown and stored: hidden if secret, printable, and of limited length."""
    if is_secret(key):
        return HIDDEN
    # The mark for a null in a file starts with a character that no text contains.
    return printable(without_secrets(value.removeprefix("\x00")[:_LOOKED_AT]))


def without_secrets(value: str) -> str:
    """Return the value without users in addresses, and without secrets in the queries of addresses."""
    return _SECRET_IN_QUERY.sub(rf"\1={HIDDEN}", _USER_IN_ADDRESS.sub(HIDDEN + "@", value))


def shown_placeholder(key: str, value: str) -> str:
    """Return a value with placeholders, reduced to their names."""
    return shown_value(key, _PLACE.sub(_without_what_it_is_given, value[:_LONGEST]))


def _without_what_it_is_given(place: re.Match[str]) -> str:
    rest = "..." if place["rest"].strip() else ""
    return f"{place['opening']}{place['name']}{rest}{place['closing']}"


def shown_key(key: str) -> str:
    """Return a key in the form that is shown. A text that does not look like a name can be a line of a secret."""
    if _NAME.fullmatch(key) is None or (len(key) > 40 and "." not in key[:40]):
        return f"(a text of {len(key)} characters that is no name)"
    return printable(key)


def printable(text: str) -> str:
    """Return the text with control characters replaced, cut at :data:`_LONGEST` characters."""
    return one_line(text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "...")
