"""Conversion of frameworks' values to the units of Kafka's settings: durations to ms, sizes to bytes."""

from __future__ import annotations

import re

_DURATION = re.compile(r"(-?\d{1,15})\s*(ns|us|ms|s|m|h|d)?", re.IGNORECASE | re.ASCII)
_ISO = re.compile(r"PT?(?:(\d{1,9})D)?T?(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9})(?:\.(\d{1,3}))?S)?", re.IGNORECASE)
_SIZE = re.compile(r"(\d{1,15})\s*(B|KB|MB|GB|TB)?", re.IGNORECASE | re.ASCII)
_IN_MS = {"ns": 1e-6, "us": 1e-3, "ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_IN_BYTES = {"b": 1, "kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30, "tb": 1 << 40}


def in_ms(text: str) -> str | None:
    """Return a duration in the form of Spring, Quarkus and others (``1000``, ``5s``, ``PT5S``) in ms; None for other
    texts.

    >>> in_ms("5s"), in_ms("100"), in_ms("PT1M30S"), in_ms("soon")
    ('5000', '100', '90000', None)
    """
    found = _DURATION.fullmatch(text.strip())
    if found is not None:
        return str(int(int(found[1]) * _IN_MS[(found[2] or "ms").lower()]))
    iso = _ISO.fullmatch(text.strip())
    if iso is None or not any(iso.groups()):
        return None
    days, hours, minutes, seconds, rest = (int(group or 0) for group in iso.groups())
    millis = int((iso[5] or "0").ljust(3, "0")) if iso[5] else rest
    return str((((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1_000 + millis)


def in_bytes(text: str) -> str | None:
    """Return a size in Spring's form (``16384``, ``16KB``) in bytes; None for other texts.

    >>> in_bytes("16KB"), in_bytes("16384"), in_bytes("much")
    ('16384', '16384', None)
    """
    found = _SIZE.fullmatch(text.strip())
    return None if found is None else str(int(found[1]) * _IN_BYTES[(found[2] or "b").lower()])
