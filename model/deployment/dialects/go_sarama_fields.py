"""The values of assignments to fields of a ``sarama.Config``, and those that sarama refuses."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from proofka.model.deployment.defaults import find_definition, known_keys
from proofka.model.deployment.dialects.component import Role
from proofka.model.deployment.dialects.formats.go import Program
from proofka.model.deployment.dialects.formats.syntax import in_one_line, line_of, text_of
from proofka.model.deployment.dialects.keys import SARAMA, has_key
from proofka.model.deployment.dialects.written import Configured, Value, Written
from proofka.model.deployment.libraries import LIBRARIES
from proofka.model.deployment.release import Release

if TYPE_CHECKING:
    from tree_sitter import Node

_ROLES = (Role.PRODUCER, Role.CONSUMER)
_SECTIONS = ("Producer", "Consumer", "Net", "Metadata")
_ALONE = ("ClientID", "RackID", "ChannelBufferSize", "Version")
_SECURITY = ("Net.SASL.", "Net.TLS.", "Net.Proxy.")
_PAUSES = ("Producer.Retry.BackoffFunc", "Metadata.Retry.BackoffFunc", "Consumer.Retry.BackoffFunc")
_NEED_VERSION = ("Producer.Idempotent", "Producer.Transaction.ID")
_ANY_VERSION = "the protocol's version matters only to idempotence, which is off"
_SECTION = "{} is set as a whole, and its fields cannot be followed"
_COMPUTED = "is computed from its earlier value"
_RETURNS = {
    "Producer.Return.Successes": "Producer.Return.Successes must be true, otherwise NewSyncProducer refuses it",
    "Producer.Return.Errors": "Producer.Return.Errors must be true, otherwise NewSyncProducer refuses it",
}


def is_field(path: tuple[str, ...]) -> bool:
    """Tell whether a path is a field of ``sarama.Config`` that is a setting."""
    key = ".".join(path)
    return len(path) > 1 and path[0] in _SECTIONS and any(has_key(SARAMA, role, key) for role in _ROLES)


def written_field(
    program: Program, package: str, path: tuple[str, ...], value: Node, statement: Node, made: Node | None
) -> Written:
    """Return the value of one field. ``made``: the expression that makes its configuration, for the conditions."""
    key = ".".join(path)
    said = _with_unit(key, program.value(value, (package,)), program, value, package)
    only_if = program.conditions(statement, made)
    operator = text_of(statement.child_by_field_name("operator"))
    ignored = rejected = ""
    if key in _PAUSES:
        rejected = "is computed by a function of the program"
    elif key.startswith(_SECURITY):
        ignored = "security does not change delivery"
    elif not any(has_key(SARAMA, role, key) for role in _ROLES):
        known = path[0] in (*_SECTIONS, *_ALONE, "Admin", "MetricRegistry", "ApiVersionsRequest")
        ignored = "is no setting of sarama that changes which deliveries are possible" if known else ""
        rejected = "" if known else "is no known field of sarama.Config"
        if _has_settings(key):
            ignored, rejected = "", _SECTION.format(key)
    if operator not in ("", "=") and not ignored:
        rejected = rejected or f"{_COMPUTED}: {in_one_line(statement)[:60]}"
    return Written(key, line_of(statement), said, only_if, ignored, rejected)


def _has_settings(key: str) -> bool:
    """Tell whether a key is a part of the configuration with settings in it: ``Producer``, ``Producer.Retry``."""
    return any(name.startswith(f"{key}.") for role in _ROLES for name in known_keys(f"{SARAMA} {role}"))


def _newest() -> Release:
    return Release(*LIBRARIES[SARAMA].newest)


def as_taken(one: Written, written: list[Written], *, only_sync: bool, only_admin: bool) -> Written:
    """Return the value as the users of the configuration treat it."""
    why = _RETURNS.get(one.key)
    if why and only_sync and one.value.text == "false" and not one.only_if:
        return Written(one.key, one.line, one.value, rejected=why)
    if one.key == "Version" and not any(other.key in _NEED_VERSION for other in written):
        return replace(one, ignored=one.ignored or ("" if one.value.known and not one.only_if else _ANY_VERSION))
    if only_admin:
        return Written(
            one.key, one.line, one.value, ignored="is only for the admin client, which sends and reads nothing"
        )
    return one


def answer(configured: Configured, *, sync: bool, asynchronous: bool) -> None:
    """Add the behaviour that follows from the kind of producer."""
    if sync and not asynchronous:
        configured.answers["sends"] = ("sync", configured.line)
    unseen = [one for one in configured.written if one.key == "Producer.Return.Errors"]
    if unseen and unseen[-1].value.text == "false" and not sync and not any(one.only_if for one in unseen):
        configured.answers["on_send_error"] = ("ignore", unseen[-1].line)


def _with_unit(key: str, value: Value, program: Program, node: Node, package: str) -> Value:
    """Return the value; a duration that is a plain number is in nanoseconds."""
    definitions = (find_definition(f"{SARAMA} {role}", key, _newest()) for role in _ROLES)
    known = program.known(node, (package,))
    if known is not None and known.kind == "number" and any(one and one.type == "duration" for one in definitions):
        return Value(f"{known.text}ns" if known.value else "0s", value.shown)
    return value
