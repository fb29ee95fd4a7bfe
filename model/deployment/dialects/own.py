"""Files in Proofka's own format, distinguished from all others."""

from __future__ import annotations

from proofka.model.deployment.dialects.document import YAML, Document
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.yaml_reader import SECTIONS
from proofka.model.deployment.yaml_tree import Mapping, Scalar

MATRIX = ("base", "values")
"""The sections of a file that describes many deployments."""


def is_deployment(document: Document) -> bool:
    """Tell whether the document is a deployment (docs/deployment-format.md): it names a release of Kafka at the top."""
    try:
        roots = document.yaml if document.suffix in YAML else ()
    except DeploymentError:
        return False
    entries = roots[0].entries if len(roots) == 1 and isinstance(roots[0], Mapping) else ()
    return any(entry.key == "kafka" and isinstance(entry.node, Scalar) and not entry.node.null for entry in entries)


def looks_like_deployment(document: Document) -> bool:
    """Tell whether the document has a section of a deployment, or cannot be parsed; a wrong one is told as such.

    Files of other programs have a ``name`` too, and ``kafka`` with settings below.
    """
    try:
        roots = document.yaml
    except DeploymentError:
        return document.suffix in YAML
    if not roots or not isinstance(roots[0], Mapping):
        return not roots
    keys = {entry.key for entry in roots[0].entries if entry.key != "kafka" or isinstance(entry.node, Scalar)}
    return bool(keys & {*SECTIONS} - {"name"}) or keys.issuperset(MATRIX)
