"""Files in Proofka's own format, distinguished from all others."""

from __future__ import annotations

from model.deployment.dialects.document import YAML, Document
from model.deployment.errors import DeploymentError
from model.deployment.yaml_tree import Mapping, Scalar


def is_deployment(document: Document) -> bool:
    """Tell whether the document is a deployment (docs/deployment-format.md): it names a release of Kafka at the top."""
    try:
        roots = document.yaml if document.suffix in YAML else ()
    except DeploymentError:
        return False
    entries = roots[0].entries if len(roots) == 1 and isinstance(roots[0], Mapping) else ()
    return any(entry.key == "kafka" and isinstance(entry.node, Scalar) and not entry.node.null for entry in entries)
