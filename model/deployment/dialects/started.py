"""Brokers that a command starts: ``kafka-server-start.sh server.properties --override key=value ...``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from proofka.model.deployment.dialects.said import Said

_STARTS = re.compile(r"\bkafka-server-start(\.sh)?\b")
_OVERRIDE = re.compile(r"--override[ \t=]+[\"']?([a-z][\w.]{1,200})=(\"[^\"\n]*\"|'[^'\n]*'|[^\s\"';&|\\\\]*)")
_VARIABLE = re.compile(r"\${1,2}[({]?([A-Z_][A-Z0-9_]*)[)}]?", re.ASCII)
_IDS = ("broker.id", "node.id")


def starts_a_broker(command: Said) -> bool:
    """Tell whether the words of a command run Kafka's script that starts a broker."""
    return _STARTS.search(command.value) is not None


def overrides_in(command: Said, variables: Mapping[str, str]) -> Iterator[tuple[str, Said]]:
    """Yield the settings in the command besides those of its file, each at the place of the command.

    ``variables``: the container's variables, which the shell inserts. An id that the shell computes differs for each
    broker.
    """
    if starts_a_broker(command):
        for found in _OVERRIDE.finditer(command.value):
            if not (found[1] in _IDS and "$" in found[2]):
                text = found[2].strip("\"'")
                name = _VARIABLE.fullmatch(text)
                text = text if name is None else variables.get(name[1], text)
                yield found[1], Said(command.path, text, command.line)
