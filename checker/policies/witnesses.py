"""A combination of a matrix as a deployment file, for every other command."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from proofka.model.deployment import yaml_tree
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.matrix import Matrix
from proofka.model.deployment.question import question
from proofka.model.deployment.yaml_reader import deployment_by

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*|-?[0-9]+")
_SAID_AS_OTHERS = frozenset({"yes", "no", "on", "off", "null", "y", "n"})


class WitnessDiffersError(Exception):
    """A written deployment that is read as another deployment: a defect of Proofka."""


def deployment_file(matrix: Matrix, number: int, deployment: Deployment, prop: str) -> str:
    """Return a combination as a file that requires ``prop``, with the faults of ``deployment``.

    Raise WitnessDiffersError if the file would be read as another deployment.
    """
    tree = matrix.tree(number)
    left_out = ("name", "require", "profile", "assume")
    entries = [entry for entry in tree.entries if entry.key not in left_out]
    assumed = next((entry.node for entry in tree.entries if entry.key == "assume"), None)
    others = [] if not isinstance(assumed, yaml_tree.Mapping) else [e for e in assumed.entries if e.key != "faults"]
    total = deployment.faults.total
    limits = [("total", "any" if deployment.faults.any_number else total), *deployment.faults.at_most]
    unlimited = deployment.faults.any_number
    faults = yaml_tree.Mapping(
        tuple(
            _entry(kind, "any" if kind in unlimited else str(most))
            for kind, most in limits
            if most is not None and not (kind == "total" and unlimited)
        ),
        1,
    )
    assume = yaml_tree.Mapping((*others, yaml_tree.Entry("faults", 1, faults)), 1)
    whole = yaml_tree.Mapping(
        (
            _entry("name", deployment.name),
            *entries,
            yaml_tree.Entry("assume", 1, assume),
            yaml_tree.Entry("require", 1, yaml_tree.Sequence((yaml_tree.Scalar(prop, 1),), 1)),
        ),
        1,
    )
    text = "\n".join(_lines(whole, "")) + "\n"
    read = deployment_by(yaml_tree.parse_yaml(text, deployment.name), deployment.name, deployment.name)
    asked = replace(deployment, require=(prop,))
    if question(read) != question(asked) or read.require != (prop,):
        raise WitnessDiffersError(f"{deployment.name} is read as another deployment")
    return text


def write_witness(folder: Path, name: str, text: str) -> Path:
    """Write a deployment file into a folder, and return its path."""
    from proofka.model.input.whole_file import write_whole

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.yaml"
    write_whole(path, text)
    return path


def _entry(key: str, text: str) -> yaml_tree.Entry:
    return yaml_tree.Entry(key, 1, yaml_tree.Scalar(text, 1))


def _lines(node: yaml_tree.Mapping, indent: str) -> Iterator[str]:
    for entry in node.entries:
        key = _quoted(entry.key)
        match entry.node:
            case yaml_tree.Mapping():
                yield f"{indent}{key}:"
                yield from _lines(entry.node, indent + "  ")
            case yaml_tree.Sequence(items):
                texts = [_quoted(one.text) for one in items if isinstance(one, yaml_tree.Scalar)]
                yield f"{indent}{key}: [{', '.join(texts)}]"
            case yaml_tree.Scalar(text, _, null):
                yield f"{indent}{key}: {'null' if null else _quoted(text)}"


def _quoted(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.lower() not in _SAID_AS_OTHERS:
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
