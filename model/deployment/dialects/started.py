"""Brokers that a command starts: ``kafka-server-start.sh server.properties --override key=value ...``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from model.deployment.dialects.said import Said

_STARTS = re.compile(r"\bkafka-server-start(\.sh)?\b")
_OVERRIDE = re.compile(r"--override[ \t=]+[\"']?([a-z][\w.]{1,200})=(\"[^\"\n]*\"|'[^'\n]*'|[^\s\"';&|\\\\]*)")
_IDS = ("broker.id", "node.id")


def starts_a_broker(command: Said) -> bool:
    """Whether the words of a command run Kafka's script that starts a broker."""
    return _STARTS.search(command.value) is not None


def overrides_in(command: Said) -> Iterator[tuple[str, Said]]:
    """The settings that it is given besides those of its file, each with the place of the command.

    An id that the shell makes is another one for each broker.
    """
    if starts_a_broker(command):
        for found in _OVERRIDE.finditer(command.value):
            if not (found[1] in _IDS and "$" in found[2]):
                yield found[1], Said(command.path, found[2].strip("\"'"), command.line)
