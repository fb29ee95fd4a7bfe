"""A file that contains a normalised deployment: every value effective, as in a result or a bundle."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.document import from_document
from proofka.model.deployment.errors import DeploymentError, DocumentError
from proofka.model.deployment.source import read_bytes
from proofka.model.input.strict_json import read_json

SUFFIX = ".json"
_TOLD_BY = ("kafka", "sender", "durations", "faults", "bounds", "settings", "ignored")
"""Members of a deployment; no other JSON file has all of them."""
_RESULT_TOLD_BY = ("versions", "command", "deployment", "engine", "verdicts", "checksum")
"""Members of a check's result; no other JSON file has all of them."""


def read_normalised(file: Path) -> Deployment | None:
    """Return the deployment of a JSON file that contains nothing else; None for any other file. Raises
    DeploymentError."""
    document = _document(file)
    if document is None:
        return None
    if all(key in document for key in _RESULT_TOLD_BY):
        what = "is the result of a check, not a configuration; use it with proofka verify, trace or diff"
        raise DeploymentError(what, file=str(file))
    if not all(key in document for key in _TOLD_BY):
        return None
    try:
        return from_document(document)
    except DocumentError as error:
        what = f"{error.message} (probably written by another version of Proofka; write the deployment again)"
        raise DeploymentError(what, file=str(file), key=error.key) from None


def _document(file: Path) -> Mapping[str, Any] | None:
    if file.suffix.lower() != SUFFIX or not file.is_file():
        return None
    try:
        document = read_json(read_bytes(file))
    except (DeploymentError, ValueError, RecursionError):
        return None  # The file's own reader reports the error.
    return document if isinstance(document, dict) else None
