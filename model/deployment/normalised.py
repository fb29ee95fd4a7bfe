"""A file that holds a normalised deployment: every value effective, as a result or a bundle carries it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from model.deployment.deployment import Deployment
from model.deployment.document import from_document
from model.deployment.errors import DeploymentError, DocumentError
from model.deployment.source import read_bytes
from model.strict_json import read_json

SUFFIX = ".json"
_TOLD_BY = ("kafka", "sender", "durations", "faults", "bounds", "settings", "ignored")
"""Members of a deployment that no other JSON file has all of."""
_RESULT_TOLD_BY = ("versions", "command", "deployment", "engine", "verdicts", "checksum")
"""Members of a check's result that no other JSON file has all of."""


def read_normalised(file: Path) -> Deployment | None:
    """The deployment in a JSON file that holds nothing else; None for any other file. Raises DeploymentError."""
    document = _document(file)
    if document is None:
        return None
    if all(key in document for key in _RESULT_TOLD_BY):
        what = "is the result of a check, not a configuration: proofka verify, trace and diff read it"
        raise DeploymentError(what, file=str(file))
    if not all(key in document for key in _TOLD_BY):
        return None
    try:
        return from_document(document)
    except DocumentError as error:
        what = f"{error.message} (a deployment as another version of Proofka wrote it?)"
        raise DeploymentError(what, file=str(file), key=error.key) from None


def _document(file: Path) -> Mapping[str, Any] | None:
    if file.suffix.lower() != SUFFIX or not file.is_file():
        return None
    try:
        document = read_json(read_bytes(file))
    except (DeploymentError, ValueError, RecursionError):
        return None  # whatever is wrong with it, its own reader says so
    return document if isinstance(document, dict) else None
