"""A matrix: one deployment in many variants, every combination of lists of values but those that are excluded.

.. code-block:: yaml

    base:                            # a deployment, as in a file of its own
      kafka: "4.0"
      topic: {replicas: 3}
    values:                          # key of the base -> the values that it takes; null leaves it out
      producer.acks: [0, 1, all]
      topic.min.insync.replicas: [1, 2]
    exclude:                         # combinations that nobody would build: all of these at once
      - {producer.acks: [0, 1], topic.min.insync.replicas: 2}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path

from proofka.model.deployment import yaml_tree
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.errors import DeploymentError, UnknownKeyError
from proofka.model.deployment.hiding import shown_key
from proofka.model.deployment.record_reader import path_of
from proofka.model.deployment.yaml_reader import deployment_by, read_tree

SECTIONS = ("base", "values", "exclude")
MOST_COMBINATIONS = 10_000_000

Value = str | None
"""The value that a key is set to; None removes the key."""


@dataclass(frozen=True)
class Matrix:
    """A deployment in many variants. Combinations have numbers from 0; the last key's value changes first.

    ``name``: the name of the base, or of the file; with a number it names a combination. ``lines``: the lines of the
    keys.
    """

    name: str
    file: str
    base: yaml_tree.Mapping
    values: Mapping[str, tuple[Value, ...]]
    lines: Mapping[str, int]
    exclude: tuple[Mapping[str, frozenset[Value]], ...]

    @property
    def size(self) -> int:
        """The number of combinations, including excluded ones."""
        return prod(len(values) for values in self.values.values())

    def chosen(self, number: int) -> dict[str, Value]:
        """Return the value of each key in a combination."""
        chosen: dict[str, Value] = {}
        for key in reversed(tuple(self.values)):
            number, place = divmod(number, len(self.values[key]))
            chosen[key] = self.values[key][place]
        return {key: chosen[key] for key in self.values}

    def is_excluded(self, chosen: Mapping[str, Value]) -> bool:
        """Tell whether a rule excludes the combination."""
        return any(all(chosen[key] in values for key, values in rule.items()) for rule in self.exclude)

    def called(self, number: int) -> str:
        """Return the name of a combination that has no name among its values."""
        return f"{self.name}-{number:0{len(str(self.size - 1))}}"

    def read(self, number: int, overrides: Mapping[str, str] | None = None) -> Deployment:
        """Return the deployment of a combination; ``overrides`` are options as in ``--assume``. Raises
        DeploymentError."""
        return deployment_by(self.tree(number), self.file, self.called(number), overrides)

    def tree(self, number: int) -> yaml_tree.Mapping:
        """Return a combination as the tree of a deployment file. Raises DeploymentError."""
        return self._tree(self.chosen(number))

    def check_keys(self) -> None:
        """Raise UnknownKeyError for a key that no deployment has, because every combination would be rejected."""
        first = {key: values[0] for key, values in self.values.items()}
        for key, values in self.values.items():
            value = next((value for value in values if value is not None), None)
            try:
                deployment_by(self._tree({**first, key: value}), self.file, self.name)
            except UnknownKeyError as error:
                if error.line == self.lines[key]:
                    raise
            except DeploymentError:
                continue  # The error belongs to this combination, not to the key.

    def _tree(self, chosen: Mapping[str, Value]) -> yaml_tree.Mapping:
        tree = self.base
        for key, value in chosen.items():
            tree = self._changed(tree, path_of(key), value, self.lines[key])
        return tree

    def _changed(self, node: yaml_tree.Mapping, path: tuple[str, ...], value: Value, line: int) -> yaml_tree.Mapping:
        """Return the mapping with another value under a path, or without any value there."""
        head, rest = path[0], path[1:]
        if not rest:
            added = () if value is None else (yaml_tree.Entry(head, line, yaml_tree.Scalar(value, line)),)
            return yaml_tree.Mapping((*_without(node, head), *added), node.line)
        inner = next((entry.node for entry in node.entries if entry.key == head), None)
        if inner is None or (isinstance(inner, yaml_tree.Scalar) and inner.null):
            inner = yaml_tree.Mapping((), line)
        if not isinstance(inner, yaml_tree.Mapping):
            raise DeploymentError(
                "is a single value in the base, but the matrix sets keys under it; remove one of the two",
                file=self.file,
                line=inner.line,
                key=head,
            )
        changed = yaml_tree.Entry(head, inner.line, self._changed(inner, rest, value, line))
        others = (entry for entry in node.entries if entry.key != head)
        return yaml_tree.Mapping((*others, changed), node.line)


def _without(node: yaml_tree.Mapping, key: str) -> list[yaml_tree.Entry]:
    """Return the entries of a section without a key, which can also stand among its settings."""
    kept = []
    for entry in node.entries:
        if entry.key == "settings" and isinstance(entry.node, yaml_tree.Mapping):
            settings = yaml_tree.Mapping(tuple(_without(entry.node, key)), entry.node.line)
            kept.append(yaml_tree.Entry(entry.key, entry.line, settings))
        elif entry.key != key:
            kept.append(entry)
    return kept


def read_matrix(path: Path) -> Matrix:
    """Read a matrix file. Raises DeploymentError for errors of the file; errors of a combination come when it is
    read."""
    return _Reader(str(path)).matrix(read_tree(path), path.stem)


class _Reader:
    def __init__(self, file: str) -> None:
        self._file = file

    def matrix(self, root: yaml_tree.Node, name: str) -> Matrix:
        sections = {
            entry.key: entry
            for entry in self._entries(root, f"is no matrix; a matrix has the sections {', '.join(SECTIONS)}")
        }
        if "kafka" in sections and "base" not in sections:
            raise self._error("is one deployment, not a matrix; check it with proofka check", root.line)
        for entry in sections.values():
            if entry.key not in SECTIONS:
                raise self._error(f"unknown section; a matrix has {', '.join(SECTIONS)}", entry.line, entry.key)
        for needed in ("base", "values"):
            if needed not in sections:
                raise self._error(f"has no section {needed}", root.line)
        values, lines = {}, {}
        named: dict[tuple[str, ...], str] = {}
        for entry in self._entries(sections["values"].node, "must hold keys with lists of values"):
            path = tuple(word for word in path_of(entry.key) if word != "settings")
            if path in named:
                raise self._error(f"is the same as {shown_key(named[path])}; keep one", entry.line, entry.key)
            named[path] = entry.key
            values[entry.key] = self._list(entry)
            lines[entry.key] = entry.line
        if not values:
            raise self._error("lists no values", sections["values"].line, "values")
        base = sections["base"].node
        if not isinstance(base, yaml_tree.Mapping):
            raise self._error("must be a deployment", base.line, "base")
        named_base = next((entry.node for entry in base.entries if entry.key == "name"), None)
        if isinstance(named_base, yaml_tree.Scalar) and not named_base.null:
            name, base = named_base.text, yaml_tree.Mapping(tuple(_without(base, "name")), base.line)
        matrix = Matrix(name, self._file, base, values, lines, self._rules(sections.get("exclude"), values))
        if matrix.size > MOST_COMBINATIONS:
            message = f"has {matrix.size:,} combinations, more than {MOST_COMBINATIONS:,}; list fewer values"
            raise self._error(message, sections["values"].line, "values")
        return matrix

    def _list(self, entry: yaml_tree.Entry) -> tuple[Value, ...]:
        node = entry.node
        items = node.items if isinstance(node, yaml_tree.Sequence) else (node,)
        found: list[Value] = []
        for item in items:
            if not isinstance(item, yaml_tree.Scalar):
                raise self._error("must be a list of single values", item.line, entry.key)
            value = None if item.null else item.text
            if value in found:
                raise self._error(f"lists {'null' if value is None else value} twice", item.line, entry.key)
            found.append(value)
        if not found:
            raise self._error("lists no value", entry.line, entry.key)
        return tuple(found)

    def _rules(
        self, entry: yaml_tree.Entry | None, values: Mapping[str, tuple[Value, ...]]
    ) -> tuple[Mapping[str, frozenset[Value]], ...]:
        if entry is None:
            return ()
        if not isinstance(entry.node, yaml_tree.Sequence):
            raise self._error("must be a list of rules, as in - {producer.acks: 0}", entry.line, "exclude")
        return tuple(self._rule(node, values) for node in entry.node.items)

    def _rule(self, node: yaml_tree.Node, values: Mapping[str, tuple[Value, ...]]) -> Mapping[str, frozenset[Value]]:
        rule: dict[str, frozenset[Value]] = {}
        for entry in self._entries(node, "must be a rule, as in {producer.acks: 0}"):
            if entry.key not in values:
                message = f"is not a key under values; a rule can name {', '.join(values)}"
                raise self._error(message, entry.line, entry.key)
            named = self._list(entry)
            for value in named:
                if value not in values[entry.key]:
                    raise self._error(
                        f"never takes the value {value}: the rule excludes nothing", entry.line, entry.key
                    )
            rule[entry.key] = frozenset(named)
        if not rule:
            raise self._error(
                "is an empty rule, which excludes every combination; name keys, or remove it", node.line, "exclude"
            )
        return rule

    def _entries(self, node: yaml_tree.Node, otherwise: str) -> tuple[yaml_tree.Entry, ...]:
        if not isinstance(node, yaml_tree.Mapping):
            raise self._error(otherwise, node.line)
        return node.entries

    def _error(self, message: str, line: int, key: str | None = None) -> DeploymentError:
        return DeploymentError(message, file=self._file, line=line, key=None if key is None else shown_key(key))
