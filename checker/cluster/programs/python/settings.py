"""The command line of a client program: bootstrap servers, role, topic, and settings as ``name=value``."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

_WORDS = {"true": True, "false": False, "null": None, "none": None, "inf": float("inf")}
_TEXTS = ("client_id", "client_rack", "group_id", "group_instance_id", "transactional_id")
_OBJECTS = (
    "default_offset_commit_callback",
    "kafka_client",
    "key_deserializer",
    "key_serializer",
    "loop",
    "metric_reporters",
    "partitioner",
    "sasl_oauth_token_provider",
    "selector",
    "socket_options",
    "ssl_context",
    "value_deserializer",
    "value_serializer",
)


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


def python_settings(settings: Mapping[str, str]) -> dict[str, Any]:
    """Return settings with values for a library written in Python.

    Raises ValueError for a setting whose value is an object: a line of text cannot give one.
    """
    objects = [name for name, text in settings.items() if name in _OBJECTS and python_value(text) is not None]
    if objects:
        raise ValueError(f"{', '.join(objects)}: the value is an object of a program, which a line cannot give")
    return {name: text if name in _TEXTS else python_value(text) for name, text in settings.items()}


def python_value(text: str) -> Any:
    """Return the value of a setting: a number, a truth value, None, a tuple or text.

    >>> python_value("5"), python_value("true"), python_value("None"), python_value("all"), python_value("(2, 6)")
    (5, True, None, 'all', (2, 6))
    """
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def classes_of(text: str, modules: Sequence[str]) -> list[type]:
    """Return the classes of a list such as "RangePartitionAssignor, RoundRobinPartitionAssignor".

    ``modules``: the modules to look in. Raises ValueError where none has the class.
    """
    names = [word.rpartition(".")[2] for word in re.findall(r"[\w.]+", text)]
    places = [import_module(module) for module in modules]
    found = [next((vars(place)[name] for place in places if name in vars(place)), None) for name in names]
    if None in found or not found:
        raise ValueError(f"{text}: not all are classes in {', '.join(modules)}")
    return [one for one in found if one is not None]
