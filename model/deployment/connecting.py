"""The number of messages that a client exchanges before its first request over a new connection."""

from __future__ import annotations

from proofka.model.deployment.given import Settings

PROTOCOL = "security.protocol"
_NAMES = (PROTOCOL, "security_protocol")
"""The setting's names in client libraries; the second is the name in Python's clients."""

PLAIN = 4
"""Messages, both ways, for TCP and for the request that asks for the versions of all others (ApiVersions)."""

TLS = 4
"""Messages, both ways: two round trips with TLS 1.2, one with 1.3 (the JDK's defaults negotiate either)."""

SASL = 10
"""Messages for versions, the mechanism's name, and up to three rounds: GSSAPI has three, SCRAM two, PLAIN one."""

MESSAGES = {"PLAINTEXT": PLAIN, "SSL": PLAIN + TLS, "SASL_PLAINTEXT": PLAIN + SASL, "SASL_SSL": PLAIN + TLS + SASL}


def messages_to_connect(settings: Settings) -> int:
    """Return the largest number of messages for a client's ``security.protocol``. An unknown text can be any
    protocol."""
    given = next((settings[name] for name in _NAMES if name in settings), None)
    return PLAIN if given is None else MESSAGES.get(given.value.strip().upper(), max(MESSAGES.values()))
