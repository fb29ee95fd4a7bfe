"""The command line of a client program: bootstrap servers, role, topic, and settings as ``name=value``."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_WORDS = {"true": True, "false": False, "null": None, "none": None}


@dataclass(frozen=True)
class Started:
    """The arguments with which a client program was started."""

    bootstrap: str
    role: str
    topic: str
    settings: dict[str, str]

    @classmethod
    def read(cls, arguments: Sequence[str]) -> Started:
        """Return the parts of a command line."""
        bootstrap, role, topic, *pairs = arguments
        return cls(bootstrap, role, topic, dict(pair.split("=", 1) for pair in pairs))


def python_value(text: str) -> Any:
    """Return the value of a setting that a Python library takes: a number, a truth value, None, a tuple or text.

    >>> python_value("5"), python_value("true"), python_value("None"), python_value("all"), python_value("(2, 6)")
    (5, True, None, 'all', (2, 6))
    """
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
