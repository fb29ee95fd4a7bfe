"""Spring Kafka in Java programs: the commits of its listener containers, and changes of its factories' settings.

``KafkaMessageListenerContainer.ListenerConsumer.determineAutoCommit`` disables auto-commit. The modes are those of
``ContainerProperties.AckMode``; BATCH is the default. A factory's map is outranked in ``DefaultKafkaProducerFactory``
and ``DefaultKafkaConsumerFactory`` (``updateConfigs``, ``removeConfig``), ``KafkaTemplate`` (a constructor with
overrides), ``ContainerProperties`` (``setKafkaConsumerProperties``) and ``@KafkaListener`` (``properties``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from proofka.model.deployment.dialects.component import Role
from proofka.model.deployment.dialects.formats.java import Program
from proofka.model.deployment.dialects.formats.syntax import all_of, line_of, named, text_of
from proofka.model.deployment.dialects.java_uses import kind_of
from proofka.model.deployment.dialects.keys import has_key, matters
from proofka.model.deployment.dialects.spring_container import BY_HAND, DECIDES, FRAMEWORK, MODES
from proofka.model.deployment.dialects.written import Configured
from proofka.model.deployment.release import JAVA

if TYPE_CHECKING:
    from tree_sitter import Node

_CONTAINERS = ("ConcurrentKafkaListenerContainerFactory", "KafkaMessageListenerContainer", "ConcurrentMessageListener")
_FACTORIES = ("ProducerFactory", "ConsumerFactory", "ContainerProperties")
_OUTRANKS = "changes the settings of a factory after its creation, which cannot be followed"
_TOUCHING = {
    "updateConfigs": _OUTRANKS,
    "removeConfig": _OUTRANKS,
    "copyWithConfigurationOverride": _OUTRANKS,
    "setKafkaConsumerProperties": "outranks the settings of the consumer, which cannot be followed",
    "setTransactionIdPrefix": "makes producers transactional, which is not read from programs",
}
AUTO_COMMIT = "enable.auto.commit"


def of_container(configured: Configured, program: Program) -> list[str]:
    """Add a listener container's effect on a consumer of Spring's factory, if the file has one; return notes about
    it."""
    if not any(name in text_of(program.root) for name in _CONTAINERS):
        return []
    configured.rules[Role.CONSUMER] = {AUTO_COMMIT: ("false", f"{FRAMEWORK}'s container")}
    said = [one for one in configured.written if one.key == AUTO_COMMIT and not one.ignored]
    if not all(one.value.text == "false" and not one.only_if for one in said[-1:]):
        return []
    modes = list(_modes(program))
    by_hand = [mode for mode, _ in modes if mode in BY_HAND]
    if by_hand:
        return [DECIDES.format("ack-mode", by_hand[0].upper())]
    if modes and all(mode in MODES for mode, _ in modes):
        configured.answers["commit"] = ("after", modes[0][1])
    elif not modes:
        configured.by_framework["commit"] = ("after", FRAMEWORK)
    return []


def touched(program: Program) -> Iterator[tuple[int, str, str]]:
    """Yield changes of clients' settings besides the maps that make them: line, name and reason."""
    for mode, line in _modes(program):
        if mode not in MODES:
            yield line, "setAckMode", "sets the time of containers' commits in a way that cannot be followed"
    of_spring = any(name in text_of(program.root) for name in _FACTORIES)
    for call in all_of(program.root, "method_invocation") if of_spring else ():
        name, given = text_of(call.child_by_field_name("name")), named(call.child_by_field_name("arguments"))
        if name in _TOUCHING and given:
            yield line_of(call), name, _TOUCHING[name]
        elif name == "createConsumer" and len(given) > 3 and given[-1].type != "null_literal":
            yield line_of(call), name, "outranks the settings of the consumer, which cannot be followed"
    for made in all_of(program.root, "object_creation_expression"):
        given = named(made.child_by_field_name("arguments"))
        if kind_of(made) == "KafkaTemplate" and len(given) > 1 and given[-1].type not in ("true", "false"):
            yield line_of(made), "KafkaTemplate", "can outrank settings of the producer, which cannot be followed"
    for mark in all_of(program.root, "annotation"):
        if text_of(mark.child_by_field_name("name")).rpartition(".")[2] == "KafkaListener":
            yield from _listener(mark)


def _listener(mark: Node) -> Iterator[tuple[int, str, str]]:
    for pair in all_of(mark, "element_value_pair"):
        key = text_of(pair.child_by_field_name("key"))
        texts = [text_of(one).strip('"') for one in all_of(pair, "string_literal")]
        names = [text.replace(":", "=").partition("=")[0].strip() for text in texts]
        plain = bool(names) and all(
            has_key(JAVA, Role.CONSUMER, name) and not matters(JAVA, Role.CONSUMER, name) for name in names
        )
        if key == "ackMode" or (key == "properties" and not plain):
            yield (
                line_of(pair),
                f"KafkaListener.{key}",
                "outranks the settings of the consumer, which cannot be followed",
            )


def _modes(program: Program) -> Iterator[tuple[str, int]]:
    """Yield each mode in the file, in Spring's form, with its line."""
    for call in all_of(program.root, "method_invocation"):
        if text_of(call.child_by_field_name("name")) == "setAckMode":
            given = text_of(next(iter(named(call.child_by_field_name("arguments"))), None))
            yield given.rpartition(".")[2].replace("_", "").lower(), line_of(call)
