"""A producer's file in the place of a consumer's file, or the reverse."""

from __future__ import annotations

from collections.abc import Mapping

from proofka.model.deployment.defaults import is_known
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.given import Settings
from proofka.model.deployment.hiding import shown_key
from proofka.model.deployment.reasons import names_key

_OTHER = {"producer": "consumer", "consumer": "producer"}


def check_exchanged(read: Mapping[str, Settings]) -> list[DeploymentError]:
    """Return an error for each client's file whose settings are the other client's, apart from shared settings.

    A client ignores the settings of the other client, so such a file would count as empty.
    """
    errors = []
    for role, other in _OTHER.items():
        settings = read.get(role, {})
        own = [key for key in settings if _has(role, key) and not _has(other, key)]
        others = [given for key, given in settings.items() if _has(other, key) and not _has(role, key)]
        if others and not own:
            what = (
                f"has no setting of a {role} alone ({shown_key(others[0].key)} is a {other}'s): "
                "are --producer and --consumer exchanged?"
            )
            errors.append(DeploymentError(what, file=others[0].origin.file))
    return errors


def _has(role: str, key: str) -> bool:
    return is_known(role, key) or names_key(role, key)
