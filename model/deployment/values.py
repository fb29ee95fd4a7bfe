"""Reading of one value as Kafka's own configuration parser does, with its exception and the allowed values."""

from __future__ import annotations

import re
from math import ceil

from proofka.model.deployment.defaults import Definition
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.given import Given, complaint
from proofka.model.deployment.hiding import shown_value
from proofka.model.durations import UNITS

CONFIG_EXCEPTION = "ConfigException"
"""The exception of Kafka's own clients and brokers."""

_LIMITS = {"short": (-(2**15), 2**15 - 1), "int": (-(2**31), 2**31 - 1), "long": (-(2**63), 2**63 - 1)}
_INTEGER = re.compile(r"[+-]?[0-9]{1,20}", re.ASCII)
_FLOAT = re.compile(r"[+-]?([0-9]{1,40}(\.[0-9]{0,40})?|\.[0-9]{1,40})([eE][+-]?[0-9]{1,3})?", re.ASCII)
_GO_UNITS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4, "h": 3.6e6}
_GO_PART = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)(ns|us|ms|s|m|h)", re.ASCII)
_WRITTEN_UNITS = {**UNITS, "m": UNITS["min"]}
_WITH_UNIT = re.compile(rf"([0-9]{{1,15}})\s*({'|'.join(_WRITTEN_UNITS)})")
_GO_DURATION = re.compile(rf"({_GO_PART.pattern})+|0", re.ASCII)
_RANGE = re.compile(r"(-?[0-9.]+?)\.\.(-?[0-9.]+)")
_PLACEHOLDER = re.compile(r"\{\{|\{%|%\([\w.-]+\)s|^\$[A-Za-z_]\w*$|^\{[A-Za-z_]\w*\}$|^<[\w. -]+>$|^@[\w.-]+@$")
_DURATION = re.compile(
    r"by_duration:P(?=[0-9T])(\d+D)?(T(?=[0-9])(\d+H)?(\d+M)?(\d+(\.\d{1,9})?S)?)?", re.IGNORECASE | re.ASCII
)


def has_placeholder(value: str) -> bool:
    """Tell whether the value contains a placeholder: ``${ENV}``, ``{{ template }}`` and similar."""
    inside = _has_between(value, "${", "}") or _has_between(value, "$(", ")")
    return inside or _PLACEHOLDER.search(value.strip()) is not None


def _has_between(value: str, opening: str, closing: str) -> bool:
    """Tell whether the closing text comes after the opening text. A pattern would search to the end from each
    opening."""
    return -1 < value.find(opening) < value.rfind(closing)


def check_value(given: Given, definition: Definition, exception: str = CONFIG_EXCEPTION) -> None:
    """Raise the one-line error with the client's exception if the value is impossible."""
    problem = problem_of(given.value.strip(), definition)
    if problem is not None:
        with_unit = _WITH_UNIT.fullmatch(given.value.strip())
        if given.key.endswith(".ms") and with_unit is not None:
            problem += f"; the unit is ms: write {int(with_unit[1]) * _WRITTEN_UNITS[with_unit[2]]}"
        raise invalid(given, problem, exception)


def invalid(given: Given, allowed: str, exception: str = CONFIG_EXCEPTION) -> DeploymentError:
    """Return the error for a value that the configuration parser of Kafka, or of a library, does not accept."""
    value = shown_value(given.key, given.value.strip()) or '""'
    return complaint(given, f"{exception}: Invalid value {value} for configuration {given.key}: {allowed.strip()}")


def boolean(text: str) -> bool:
    """Read a checked boolean: Kafka accepts true and false in any case, and nothing else; librdkafka also t and 1."""
    return text.strip().lower() in ("true", "t", "1")


def protocol_version(text: str) -> tuple[int, ...]:
    """Return the line of a protocol as sarama names it: ``0.10.2.1``, or the name of the constant, ``V0_10_2_1``."""
    numbers = text.strip().removeprefix("sarama.").removeprefix("V").replace("_", ".").split(".")
    return tuple(int(part) for part in numbers[:2] if part.isdigit())


def milliseconds(text: str) -> int:
    """Return a checked duration in ms, rounded up: a number of ms, or as Go writes it (``1m30s``)."""
    text = text.strip()
    if _GO_DURATION.fullmatch(text) is None:
        return ceil(float(text))
    return ceil(sum(float(number) * _GO_UNITS[unit] for number, unit in _GO_PART.findall(text)))


def problem_of(value: str, definition: Definition) -> str | None:
    """Return the reason why the parser does not accept a value; None for a value that it accepts."""
    if definition.type == "boolean":
        return None if value.lower() in ("true", "false") else "must be true or false"
    if definition.type == "flag":
        return None if value.lower() in ("true", "t", "1", "false", "f", "0") else "must be true or false"
    if definition.type == "duration":
        return None if _GO_DURATION.fullmatch(value) else "must be a duration, as in 100ms, 1m30s or 0s"
    if definition.type in _LIMITS:
        return _integer_problem(value, *_LIMITS[definition.type], definition.valid)
    if definition.type == "double":
        return _double_problem(value, definition.valid)
    return _text_problem(value, definition.valid)


def _integer_problem(value: str, lowest: int, highest: int, valid: str) -> str | None:
    for part in valid.split("|"):
        low, high = _bounds(part)
        low, high = max(lowest, low), min(highest, high)
        if _INTEGER.fullmatch(value) and low <= int(value) <= high:
            return None
    parts = [_allowed(part, highest) for part in valid.split("|")]
    return "must be an integer" + (" " + " or ".join(parts) if valid else f" between {lowest} and {highest}")


def _allowed(part: str, highest: int) -> str:
    if part.startswith(">="):
        return f"from {part[2:]} to {highest}"
    return "from " + part.replace("..", " to ") if ".." in part else part


def _bounds(part: str) -> tuple[int, int]:
    unbounded = 2**63
    if not part:
        return -unbounded, unbounded
    if part.startswith(">="):
        return int(part[2:]), unbounded
    match = _RANGE.fullmatch(part)
    if match is not None:
        return int(match.group(1)), int(match.group(2))
    return int(part), int(part)


def _double_problem(value: str, valid: str) -> str | None:
    if _FLOAT.fullmatch(value) is None:
        return "must be a number"
    match = _RANGE.fullmatch(valid)
    if match is not None and not float(match.group(1)) <= float(value) <= float(match.group(2)):
        return f"must be a number from {match.group(1)} to {match.group(2)}"
    return None


def _text_problem(value: str, valid: str) -> str | None:
    if not valid:
        return None
    if valid == "nonempty":
        return None if value else "must not be empty"
    if valid == "reset":
        names = ("latest", "earliest", "none")
        if value in names or _DURATION.fullmatch(value):
            return None
        return "must be latest, earliest, none or by_duration:<ISO-8601 duration, not negative> (rule C11)"
    kind, _, choices = valid.rpartition(":")
    allowed = choices.split("|")
    listed = ", ".join(allowed)
    if kind == "list":
        items = [item.strip() for item in value.split(",")]
        return None if all(item in allowed for item in items) else f"must be a list of {listed}"
    found = value.lower() if kind == "nocase" else value
    return None if found in allowed else f"must be one of {listed}"
