"""The value of ``sasl.jaas.config``: a login module with a user and a password."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_MODULES = {
    "org.apache.kafka.common.security.plain.PlainLoginModule": "PLAIN",
    "org.apache.kafka.common.security.scram.ScramLoginModule": "SCRAM",
}
"""The login modules of Kafka that are read, with the beginning of the mechanisms' names."""

_WHOLE = re.compile(r"\s*(?P<module>[\w.$]+)\s+(?P<flag>\w+)(?P<options>.*?)\s*;\s*", re.DOTALL)
_OPTION = re.compile(r'\s+(?P<key>[\w.-]+)\s*=\s*(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<plain>[^\s";]+))', re.DOTALL)


@dataclass(frozen=True)
class Login:
    """A user and the password; the password is in no representation."""

    user: str
    password: str = field(repr=False)


def login_of(text: str, mechanism: str) -> Login | str:
    """Return the login for a mechanism, or what is wrong; the words contain nothing of the text but names of classes.

    >>> login_of('org.apache.kafka.common.security.plain.PlainLoginModule required username="a" password="b";', "PLAIN")
    Login(user='a')
    """
    whole = _WHOLE.fullmatch(text)
    options = None if whole is None else _options(whole["options"])
    if whole is None or options is None:
        return 'is not of the form MODULE required username="..." password="...";'
    kind = _MODULES.get(whole["module"])
    if kind is None:
        known = ", ".join(name.rpartition(".")[2] for name in _MODULES)
        return f"names another login module than {known} of Kafka; use a listener with PLAIN or SCRAM"
    if not mechanism.startswith(kind):
        return f"has the login module of {kind}, and sasl.mechanism is {mechanism}; make them agree"
    if options.get("tokenauth", "false").lower() != "false":
        return "has a delegation token, which is not supported here; use a user and a password"
    if "username" not in options or "password" not in options:
        return "has no username or no password; add both"
    return Login(options["username"], options["password"])


def _options(text: str) -> dict[str, str] | None:
    """Return the options of a login module, or None if the text is something else."""
    found: dict[str, str] = {}
    position = 0
    while match := _OPTION.match(text, position):
        quoted = match["quoted"]
        found[match["key"]] = match["plain"] if quoted is None else re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL)
        position = match.end()
    return found if not text[position:].strip() else None
