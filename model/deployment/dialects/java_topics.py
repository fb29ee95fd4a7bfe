"""The topics that a Java program creates: ``new NewTopic(...)``, and Spring's ``TopicBuilder``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from proofka.model.deployment.dialects.component import Role
from proofka.model.deployment.dialects.formats.java import Program, shape_of
from proofka.model.deployment.dialects.formats.syntax import all_of, line_of, named, text_of
from proofka.model.deployment.dialects.java_maps import Content, Maps
from proofka.model.deployment.dialects.java_uses import kind_of
from proofka.model.deployment.dialects.written import Configured, Value, Written, check_number
from proofka.model.deployment.release import JAVA

if TYPE_CHECKING:
    from tree_sitter import Node

NO_NAME = "the name of the topic is not in this file"
_NEW, _BUILDER = "NewTopic", "TopicBuilder"
_NUMBERS: Mapping[str, str] = {"partitions": "partitions", "replicas": "replication.factor"}
_POLICY = "cleanup.policy"
_CONSTANTS: Mapping[str, str] = {"CLEANUP_POLICY_COMPACT": "compact", "CLEANUP_POLICY_DELETE": "delete"}
"""Values of ``TopicConfig``, by the names of their constants."""


def topics_of(program: Program, maps: Maps) -> Iterator[tuple[Configured, Content]]:
    """Yield each topic with the content of the maps from which it gets its settings.

    A topic whose name is not in the file has an empty name.
    """
    made = [one for one in all_of(program.root, "object_creation_expression") if kind_of(one) == _NEW]
    calls = [one for one in all_of(program.root, "method_invocation") if _is_builder(one)]
    wanted = [one for one in (*made, *calls) if named(one.child_by_field_name("arguments"))]
    for number, node in enumerate(wanted, start=1):
        check_number(number, program.file, line_of(node))
        yield _topic(node, program, maps)


def _is_builder(call: Node) -> bool:
    receiver = text_of(call.child_by_field_name("object")).rpartition(".")[2]
    return receiver == _BUILDER and text_of(call.child_by_field_name("name")) == "name"


def _topic(node: Node, program: Program, maps: Maps) -> tuple[Configured, Content]:
    first, *numbers = named(node.child_by_field_name("arguments"))
    topic = Configured(program.value(first).text or "", line_of(node), JAVA, roles={Role.TOPIC})
    for key, number in zip(_NUMBERS.values(), numbers, strict=False):
        topic.written += _number(key, number, program)
    content: Content = ()
    for call in _calls_on(node):
        name, given = text_of(call.child_by_field_name("name")), named(call.child_by_field_name("arguments"))
        if name in _NUMBERS and len(given) == 1:
            topic.written += _number(_NUMBERS[name], given[0], program)
        elif name == "config" and len(given) == 2:
            topic.written.append(_setting(call, given[0], given[1], program, maps))
        elif name == "configs" and len(given) == 1:
            content += maps.content(given[0])
        elif name == "compact" and not given:
            topic.written.append(Written(_POLICY, line_of(call), Value("compact", shape_of(call))))
    topic.written += [_with_constant(one.written) for one in content]
    return topic, content


def _calls_on(node: Node) -> Iterator[Node]:
    """Yield the calls that follow in one chain: ``a.b().c()`` has two after ``a``."""
    call = node.parent
    while call is not None and call.type == "method_invocation" and call.child_by_field_name("object") == node:
        yield call
        node, call = call, call.parent


def _number(key: str, node: Node, program: Program) -> list[Written]:
    """Return the number of partitions or replicas; nothing for ``Optional.empty()``, which leaves both to brokers."""
    text = text_of(node)
    if text.endswith("Optional.empty()"):
        return []
    inner = named(node.child_by_field_name("arguments")) if text.startswith("Optional.of(") else []
    return [Written(key, line_of(node), program.value(inner[0] if inner else node))]


def _setting(call: Node, key: Node, value: Node, program: Program, maps: Maps) -> Written:
    name = maps.keys.of(key).text
    if name is None:
        why = f"the name of a setting is not in this file: {shape_of(key)[:80]}"
        return Written("config", line_of(call), Value(None, shape_of(value)), rejected=why)
    return _with_constant(Written(name, line_of(call), program.value(value)))


def _with_constant(written: Written) -> Written:
    """Return a setting with the value of a constant of ``TopicConfig``."""
    constant = _CONSTANTS.get(written.value.shown.rpartition(".")[2])
    if written.value.text is not None or constant is None:
        return written
    value = Value(constant, written.value.shown)
    return Written(written.key, written.line, value, written.only_if, written.ignored, written.rejected)
