"""Settings that a framework passes on to a Kafka client of one role."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping

from proofka.model.deployment.dialects.accounts import Accounts
from proofka.model.deployment.dialects.client_names import reason_to_leave_out
from proofka.model.deployment.dialects.component import Role
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.given import Given


def pass_on(said: Said, key: str, role: Role, accounts: Accounts, settings: MutableMapping[str, Given]) -> None:
    """Take a value for the client, unless it is a secret or belongs to another component; keep misspelt keys."""
    reason = reason_to_leave_out(role, key)
    if reason is None:
        settings[key] = accounts.take(said, key)
    else:
        accounts.ignore(said, reason)


def with_defaults(
    settings: Mapping[str, Given],
    defaults: Mapping[str, str],
    accounts: Accounts,
    framework: str,
    at: Given | None = None,
) -> dict[str, Given]:
    """Return the settings together with the framework's defaults. ``at``: the value that makes the framework set
    them."""
    own = {
        key: accounts.by_framework(key, value, framework, at) for key, value in defaults.items() if key not in settings
    }
    return {**own, **settings}
