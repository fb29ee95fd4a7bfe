"""A deployment in one record of an inventory: the words of the YAML format as keys, nested, with dots, or both.

``{"kafka": "4.0", "topic": {"replicas": 3}, "producer.acks": "all"}`` means the same as a YAML file with these words. A
key without a value (an empty cell of a table, null in JSON) counts as absent. Keys such as ``label.team`` are labels of
the inventory and do not describe the deployment.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isnan

from proofka.model.deployment import yaml_tree
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.given import Given, GivenDeployment
from proofka.model.deployment.hiding import HIDDEN, is_secret, shown_key
from proofka.model.deployment.known_keys import unknown
from proofka.model.deployment.setting import Origin
from proofka.model.deployment.yaml_reader import SECTIONS, deployment_by, given_by

Record = Mapping[str, object]
"""Keys with texts, numbers, booleans, lists of these, or records."""

NESTED = ("settings", "faults")
"""Words within a section that contain keys of their own: ``assume.faults.kill``, ``topic.settings.retention.ms``."""

RELEASES = ("kafka", "version")
"""Words whose value is a release."""

LABEL = "label"
"""The section of a record for labels, which Proofka carries along and does not interpret."""


def read_record(
    record: Record, *, name: str, file: str, line: int, overrides: Mapping[str, str] | None = None
) -> Deployment:
    """Read and check one record, found in line (or row) ``line`` of ``file``. Raises DeploymentError.

    ``name`` names the deployment if the record does not; ``overrides`` are options as in ``--assume``.
    """
    return deployment_by(_Unfolding(file, line).tree(record), file, name, overrides)


def given_record(record: Record, *, name: str, file: str, line: int) -> GivenDeployment:
    """Return the given deployment of a record, before defaults and rules. Raises DeploymentError."""
    return given_by(_Unfolding(file, line).tree(record), file, name)


def check_keys(record: Record, *, file: str, line: int) -> None:
    """Raise DeploymentError for a key that belongs to no section, whatever its value."""
    _Unfolding(file, line).tree(record)


def labels_of(record: Record) -> dict[str, str]:
    """Return the labels of a record, as in ``{"label.team": "billing"}``, except those that are no single values.

    The record can be one that :func:`read_record` refuses.
    """
    found: dict[str, str] = {}
    for key, value in record.items():
        if not isinstance(key, str) or _is_missing(value):
            continue
        if key == LABEL and isinstance(value, Mapping):
            found |= labels_of({f"{LABEL}.{name}": inner for name, inner in value.items()})
        elif key.startswith(f"{LABEL}.") and isinstance(value, str | int | float):
            found[key] = HIDDEN if is_secret(key) else _shown(value)
    return found


class _Unfolding:
    def __init__(self, file: str, line: int) -> None:
        self._file = file
        self._line = line

    def tree(self, record: Record) -> yaml_tree.Mapping:
        """Return the record as the tree of the same words in YAML."""
        unfolded = self._unfold(record)
        labels = unfolded.pop(LABEL, {})
        if not isinstance(labels, dict):
            raise self._error("must contain labels, as in label.team", LABEL)
        for name, value in labels.items():
            self._text(f"{LABEL}.{name}", value)
        for key in unfolded:
            if key not in SECTIONS:
                given = Given(key, "", Origin("file", "", self._file, self._line))
                error = unknown(given, "unknown section", SECTIONS)
                error.message += f"; a label starts with {LABEL}., as in {LABEL}.team"
                raise error
        return self._mapping(unfolded)

    def _unfold(self, record: Record) -> dict[str, object]:
        """Return sections with their keys, each once, without keys that have no value."""
        unfolded: dict[str, object] = {}
        for key, value in self._pairs(record, 0):
            at = unfolded
            for section in key[:-1]:
                inner = at.setdefault(section, {})
                if not isinstance(inner, dict):
                    raise self._error("has both a value and keys; keep one of them", ".".join(key[:-1]))
                at = inner
            if key[-1] in at:
                raise self._error("is given twice; keep one", ".".join(key))
            at[key[-1]] = value
        return unfolded

    def _pairs(self, record: Record, depth: int) -> Iterator[tuple[tuple[str, ...], object]]:
        """Yield each value with its path."""
        if depth >= yaml_tree.DEEPEST:
            raise self._error(f"is nested deeper than {yaml_tree.DEEPEST} levels")
        for key, value in record.items():
            if not isinstance(key, str):
                raise self._error("has a key that is not text; put it in quotes")
            if _is_missing(value):
                continue
            path = path_of(key, top=depth == 0)
            if isinstance(value, Mapping):
                yield from ((path + inner, innermost) for inner, innermost in self._pairs(value, depth + 1))
            else:
                yield path, value

    def _mapping(self, values: Mapping[str, object]) -> yaml_tree.Mapping:
        entries = (yaml_tree.Entry(key, self._line, self._node(key, value)) for key, value in values.items())
        return yaml_tree.Mapping(tuple(entries), self._line)

    def _node(self, key: str, value: object) -> yaml_tree.Node:
        if isinstance(value, dict):
            return self._mapping(value)
        if key == "require" and isinstance(value, str):
            value = value.replace(",", " ").split()
        if isinstance(value, list | tuple):
            items = (yaml_tree.Scalar(self._text(key, item), self._line) for item in value)
            return yaml_tree.Sequence(tuple(items), self._line)
        return yaml_tree.Scalar(self._text(key, value), self._line)

    def _text(self, key: str, value: object) -> str:
        if key in RELEASES and isinstance(value, float):
            return repr(value)  # The value 4.0 is a release, not a whole number.
        if isinstance(value, str | int | float):
            return _shown(value)
        raise self._error(f"has a {type(value).__name__} as its value; use text, a number or a boolean", key)

    def _error(self, message: str, key: str | None = None) -> DeploymentError:
        return DeploymentError(message, file=self._file, line=self._line, key=None if key is None else shown_key(key))


def path_of(key: str, *, top: bool = True) -> tuple[str, ...]:
    """Return the path of a key: its section, and the section's own word or a setting's name with all of its dots."""
    first, dot, rest = key.partition(".")
    if top and dot and first == LABEL:
        return (first, rest)
    if not dot or not (top or first in NESTED):
        return (key,)
    return (first, *path_of(rest, top=False))


def _shown(value: str | float) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # A column of whole numbers with gaps has floats.
    return str(value)


def _is_missing(value: object) -> bool:
    if isinstance(value, float):
        return isnan(value)
    return value is None or (isinstance(value, str) and not value.strip())
