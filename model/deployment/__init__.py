"""What the user configured: one :class:`Deployment`, read from YAML or from Java ``.properties`` files.

:func:`read_deployment` and :func:`read_properties` yield it with everything effective (defaults of the release,
rules of client and broker), or raise :class:`DeploymentError`, whose text is one line that says what to do.
"""

from model.deployment.assumptions import ASSUMPTIONS, Assumption, with_assumption
from model.deployment.deployment import Deployment
from model.deployment.document import from_document, to_document
from model.deployment.errors import DeploymentError, DocumentError, NotModelledError, RefusedError
from model.deployment.options import OPTION_KEYS
from model.deployment.properties_reader import read_properties
from model.deployment.required_properties import KNOWN_PROPERTIES
from model.deployment.yaml_reader import read_deployment

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
