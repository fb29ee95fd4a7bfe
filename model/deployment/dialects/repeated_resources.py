"""Resources of Kubernetes that stand in a file more than once."""

from __future__ import annotations

from collections.abc import Sequence

from proofka.model.deployment.dialects.accounts import Accounts
from proofka.model.deployment.dialects.formats.yaml import values_of
from proofka.model.deployment.dialects.nodes import text_under
from proofka.model.deployment.dialects.said import are_equal
from proofka.model.deployment.yaml_tree import Node

_IDENTITY = (("apiVersion",), ("kind",), ("metadata", "namespace"), ("metadata", "name"))
NAME = ("metadata", "name")


def each_resource_once(resources: Sequence[Node], accounts: Accounts) -> list[Node]:
    """Return each resource once. Of one that is repeated, the last is kept.

    Equal ones before are ignored. Others are rejected, because Kubernetes would apply one after the other.
    """
    last = {_identity(one): one for one in resources if text_under(one, *NAME)}
    kept: list[Node] = []
    for resource in resources:
        final = last.get(_identity(resource), resource)
        if final is resource:
            kept.append(resource)
        else:
            _leave_out(resource, final, accounts)
    return kept


def _identity(resource: Node) -> tuple[str, ...]:
    return tuple(text_under(resource, *path) for path in _IDENTITY)


def _leave_out(resource: Node, final: Node, accounts: Accounts) -> None:
    before, after = list(values_of(resource)), list(values_of(final))
    is_equal = are_equal(before, after)
    for said in before:
        if said.path == NAME and not is_equal:
            accounts.reject(
                said, f"is the name of a resource that stands again in line {final.line}, with other values; keep one"
            )
        else:
            accounts.ignore(said, f"belongs to a resource that stands again in line {final.line}")
