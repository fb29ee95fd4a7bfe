"""Values that must not be shown: secrets are hidden, and no text reaches a terminal with control characters."""

from __future__ import annotations

import re

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
"""A placeholder: its name, and what it is given or stands for otherwise, which may be a secret."""
_LONGEST = 120
_LOOKED_AT = 2_000
"""Of a longer value no more is looked at: the rest is not shown."""


def is_secret(key: str) -> bool:
    """Whether the value of this setting may be a secret."""
    return _SECRET_KEY.search(key) is not None


def shown_value(key: str, value: str) -> str:
    """The value as it may be shown and stored: hidden when secret, printable, and of bounded length."""
    if is_secret(key):
        return HIDDEN
    # What stands for a null that a file says begins with a character that no text has.
    looked_at = value.removeprefix("\x00")[:_LOOKED_AT]
    without_users = _USER_IN_ADDRESS.sub(HIDDEN + "@", looked_at)
    return printable(_SECRET_IN_QUERY.sub(rf"\1={HIDDEN}", without_users))


def shown_placeholder(key: str, value: str) -> str:
    """A value with placeholders, of which only the names are shown."""
    return shown_value(key, _PLACE.sub(_without_what_it_is_given, value[:_LONGEST]))


def _without_what_it_is_given(place: re.Match[str]) -> str:
    rest = "..." if place["rest"].strip() else ""
    return f"{place['opening']}{place['name']}{rest}{place['closing']}"


def shown_key(key: str) -> str:
    """A key as it may be shown: only what looks like a name, for any other text may be a line of a secret."""
    if _NAME.fullmatch(key) is None or (len(key) > 40 and "." not in key[:40]):
        return f"(a text of {len(key)} characters that is no name)"
    return printable(key)


def printable(text: str) -> str:
    """The text with control characters replaced, cut at a length a line can carry."""
    cut = text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in cut)
