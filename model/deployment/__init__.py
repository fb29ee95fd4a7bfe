"""The user's configuration: one :class:`Deployment`, read from YAML or from Java ``.properties`` files.

:func:`read_deployment` and :func:`read_properties` apply the defaults of the release and the rules of client and
broker, and return the effective deployment. They raise :class:`DeploymentError`, whose text is one line that says what
to do.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proofka.model.deployment.assumptions import ASSUMPTIONS, Assumption, with_assumption
    from proofka.model.deployment.deployment import Deployment
    from proofka.model.deployment.document import from_document, to_document
    from proofka.model.deployment.errors import DeploymentError, DocumentError, NotModelledError, RefusedError
    from proofka.model.deployment.options import OPTION_KEYS
    from proofka.model.deployment.properties_reader import read_properties
    from proofka.model.deployment.required_properties import KNOWN_PROPERTIES
    from proofka.model.deployment.yaml_reader import read_deployment

__all__ = [
    "ASSUMPTIONS",
    "KNOWN_PROPERTIES",
    "OPTION_KEYS",
    "Assumption",
    "Deployment",
    "DeploymentError",
    "DocumentError",
    "NotModelledError",
    "RefusedError",
    "from_document",
    "read_deployment",
    "read_properties",
    "to_document",
    "with_assumption",
]

_HOMES = {
    "ASSUMPTIONS": "assumptions",
    "Assumption": "assumptions",
    "with_assumption": "assumptions",
    "Deployment": "deployment",
    "from_document": "document",
    "to_document": "document",
    "DeploymentError": "errors",
    "DocumentError": "errors",
    "NotModelledError": "errors",
    "RefusedError": "errors",
    "OPTION_KEYS": "options",
    "read_properties": "properties_reader",
    "KNOWN_PROPERTIES": "required_properties",
    "read_deployment": "yaml_reader",
}
"""The module that defines each public name. Modules are imported on first use, so a question about settings does not
wait for the readers."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
