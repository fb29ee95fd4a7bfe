"""How many messages it takes until a client's first request can go over a new connection."""

from __future__ import annotations

from model.deployment.given import Settings

PROTOCOL = "security.protocol"
_NAMES = (PROTOCOL, "security_protocol")
"""How clients name it; the second is that of Python's."""

PLAIN = 4
"""TCP, and one request that asks for the versions of all others: both ways."""

TLS = 4
"""Both ways twice with TLS 1.2, once with 1.3 (JDK's defaults negotiate either)."""

SASL = 10
"""Versions, the mechanism's name, and up to three rounds of it: GSSAPI has three, SCRAM two, PLAIN one."""

MESSAGES = {"PLAINTEXT": PLAIN, "SSL": PLAIN + TLS, "SASL_PLAINTEXT": PLAIN + SASL, "SASL_SSL": PLAIN + TLS + SASL}


def messages_to_connect(settings: Settings) -> int:
    """The most that it takes with a client's ``security.protocol``; a text that names none may be any of them."""
    given = next((settings[name] for name in _NAMES if name in settings), None)
    return PLAIN if given is None else MESSAGES.get(given.value.strip().upper(), max(MESSAGES.values()))
