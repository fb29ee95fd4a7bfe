"""NestJS's transport of KafkaJS: objects with ``transport: Transport.KAFKA``, and Nest's use of them.

Its server and its client each make a consumer and a producer (with ``producerOnlyMode``, the client makes no consumer).
An error of a handler is returned to the requester, or logged, and the record counts as processed (``RpcProxy``,
``ServerKafka.handleEvent``), unless the error is a ``KafkaRetriableException``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from proofka.model.deployment.dialects.component import Role
from proofka.model.deployment.dialects.formats.javascript import Program
from proofka.model.deployment.dialects.formats.syntax import all_of, line_of, named, text_of
from proofka.model.deployment.dialects.js_kafkajs import INSIDE, NO_DELIVERY, of_client, target_of
from proofka.model.deployment.dialects.js_objects import Objects
from proofka.model.deployment.dialects.js_uses import not_followed
from proofka.model.deployment.dialects.keys import KAFKAJS
from proofka.model.deployment.dialects.written import Configured, Value, Written, check_number

if TYPE_CHECKING:
    from tree_sitter import Node

_SECTIONS = {
    "producer": Role.PRODUCER,
    "send": Role.PRODUCER,
    "consumer": Role.CONSUMER,
    "subscribe": Role.CONSUMER,
    "run": Role.CONSUMER,
}
_ONLY_PRODUCES = "producerOnlyMode"


def clients(program: Program) -> Iterator[Configured]:
    """Yield the producer and the consumer of every such object."""
    found = 0
    for node in all_of(program.root, "object"):
        pairs = _pairs(node)
        if not text_of(pairs.get("transport")).endswith("Transport.KAFKA"):
            continue
        found += 1
        check_number(found, program.file, line_of(node))
        options = pairs.get("options")
        inner = Objects(program, Configured("", 0, KAFKAJS), node).object_of(options) if options is not None else None
        yield from _of(program, node, options, inner)


def _of(program: Program, node: Node, options: Node | None, inner: Node | None) -> Iterator[Configured]:
    sections = {} if inner is None else _pairs(inner)
    ends = {role: Configured(f"NestJS {role}", line_of(node), KAFKAJS, roles={role}) for role in _ends(sections)}
    for one in ends.values():
        if options is not None and inner is None:
            reason = "its options are not in this file"
            one.written.append(Written("options", line_of(options), Value(None, ""), rejected=reason))
        if "client" in sections:
            one.written += of_client(program, sections["client"], [sections["client"]])
    for name, value in sections.items():
        owner = ends.get(_SECTIONS[name]) if name in _SECTIONS else None
        if owner is not None:
            Objects(program, owner, node, INSIDE, binding=False).take(value)
        elif name != "client":
            other = next(iter(ends.values()))
            other.written.append(Written(name, line_of(value), Value("", ""), ignored=NO_DELIVERY))
    for name in {target_of(one) for one in (node, inner) if one is not None} - {""}:
        for line, why in not_followed(program, name):
            for one in ends.values():
                one.written.append(Written("options", line, Value(None, ""), only_if=why, rejected=why))
    if Role.CONSUMER in ends:
        ends[Role.CONSUMER].answers["on_processing_error"] = ("skip", line_of(node))
    yield from ends.values()


def _ends(sections: dict[str, Node]) -> tuple[Role, ...]:
    alone = text_of(sections.get(_ONLY_PRODUCES)) == "true"
    return (Role.PRODUCER,) if alone else (Role.PRODUCER, Role.CONSUMER)


def _pairs(node: Node) -> dict[str, Node]:
    """Return the values of an object by their names, as far as the object is written out."""
    found: dict[str, Node] = {}
    for one in named(node):
        key, value = one.child_by_field_name("key"), one.child_by_field_name("value")
        if one.type == "pair" and key is not None and value is not None:
            found[text_of(key).strip("'\"")] = value
        elif one.type == "shorthand_property_identifier":
            found[text_of(one)] = one
    return found
