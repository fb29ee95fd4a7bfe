"""Comparison of a body as Proofka reads it with Kafka's own reading in JSON."""

from __future__ import annotations

import base64
from typing import Any


def differences(read: Any, expected: Any, at: str = "") -> list[str]:
    """Return the places where two readings of a body differ; JSON has names in lower camel case, and bytes in base64.

    Kafka's JSON leaves out a tagged field that has its default value, and has only the size of records.
    """
    if isinstance(expected, dict):
        records = {name: size for name, size in expected.items() if name.endswith("SizeInBytes")}
        found = [
            f"{at}.{name}: {len(read[upper(name[: -len('SizeInBytes')])])} bytes"
            for name, size in records.items()
            if len(read[upper(name[: -len("SizeInBytes")])]) != size
        ]
        known = {upper(name.removesuffix("SizeInBytes") if name in records else name) for name in expected}
        found += [
            f"{at}.{name}: not in Kafka's reading" for name in read if name not in known and read[name] is not None
        ]
        for name, value in expected.items():
            if name not in records:
                found += differences(read.get(upper(name)), value, f"{at}.{name}")
        return found
    if isinstance(expected, list):
        if not isinstance(read, list) or len(read) != len(expected):
            return [f"{at}: {read!r} is not {expected!r}"]
        return [
            each
            for number, (one, other) in enumerate(zip(read, expected, strict=True))
            for each in differences(one, other, f"{at}[{number}]")
        ]
    if isinstance(read, bytes) and isinstance(expected, str):
        read = base64.b64encode(read).decode()
    return [] if (type(read), read) == (type(expected), expected) else [f"{at}: {read!r} is not {expected!r}"]


def upper(name: str) -> str:
    """Return the name of a field as the definition of its message has it."""
    return name[0].upper() + name[1:]
