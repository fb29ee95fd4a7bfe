"""The names of settings in Java programs: texts, constants of Kafka's own classes, and prefixes of Kafka Streams."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from proofka.model.deployment.dialects.formats.java import Program
from proofka.model.deployment.dialects.formats.syntax import named, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_TABLE = Path(__file__).with_name("tables") / "java_constants.csv"
_CONSTANT = re.compile(r"[A-Z][A-Z0-9_]+")
_IMPORT = re.compile(r"^[^\S\n]*import\s+(static\s+)?([\w.]+?)(?:\.(\w+))?(\.\*)?\s*;", re.MULTILINE)
KAFKAS = (
    "ProducerConfig",
    "ConsumerConfig",
    "CommonClientConfigs",
    "AdminClientConfig",
    "StreamsConfig",
    "SslConfigs",
    "SaslConfigs",
    "TopicConfig",
    "SecurityConfig",
    "BrokerSecurityConfigs",
)
SECURITY = ("SslConfigs", "SaslConfigs", "SecurityConfig", "BrokerSecurityConfigs")
_SERIALIZERS = re.compile(r"\w*(?:Serializer|Deserializer|Serde|Serdes|SerDe|SerDes)(?:Config|Configs)?")
_OTHERS = ("io.confluent.", "io.apicurio.", "com.amazonaws.", "software.amazon.", "org.springframework.kafka.support.")
_PREFIXES = {
    "producerPrefix": "producer.",
    "consumerPrefix": "consumer.",
    "mainConsumerPrefix": "main.consumer.",
    "restoreConsumerPrefix": "restore.consumer.",
    "globalConsumerPrefix": "global.consumer.",
    "adminClientPrefix": "admin.",
    "topicPrefix": "topic.",
}
"""Methods of ``StreamsConfig``, and the prefix that each adds to a name."""


@dataclass(frozen=True)
class Key:
    """The name of a setting; None if the file does not contain it. ``owner``: the class of its constant.

    ``foreign``: the setting is for a (de)serializer, not for a client.
    """

    text: str | None
    owner: str = ""
    foreign: bool = False


@cache
def _irregular() -> dict[str, str]:
    with _TABLE.open(encoding="utf-8", newline="") as table:
        return {row["constant"]: row["key"] for row in csv.DictReader(table)}


def key_of(constant: str) -> str:
    """Return the setting of a constant of ``ProducerConfig`` and similar classes.

    >>> key_of("MAX_POLL_INTERVAL_MS_CONFIG"), key_of("SEND_BUFFER_CONFIG")
    ('max.poll.interval.ms', 'send.buffer.bytes')
    """
    return _irregular().get(constant) or constant.removesuffix("_CONFIG").lower().replace("_", ".")


class Keys:
    """The names of settings in one program's expressions."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._packages: dict[str, str] = {}
        self._static: dict[str, str] = {}
        self._open: list[str] = []
        for static, path, last, all_of_it in _IMPORT.findall(text_of(program.root)):
            whole = f"{path}.{last}" if last else path
            if not static:
                self._packages.setdefault(whole.rpartition(".")[2], whole)
            elif all_of_it:
                self._open.append(whole)
            else:
                self._static[last] = path

    def is_foreign(self, kind: str) -> bool:
        """Tell whether a class of this name is imported from elsewhere than Kafka and Spring."""
        whole = self._packages.get(kind, "")
        return bool(whole) and not whole.startswith(("org.apache.", "org.springframework."))

    def of(self, node: Node) -> Key:
        """Return the name that an expression means."""
        value = self._program.value(node)
        if value.known:
            return Key(value.text)
        if node.type == "parenthesized_expression" and named(node):
            return self.of(named(node)[0])
        if node.type == "method_invocation":
            return self._prefixed(node)
        owner, _, constant = text_of(node).rpartition(".")
        if node.type not in ("identifier", "field_access") or _CONSTANT.fullmatch(constant) is None:
            return Key(None)
        if self._program.names.meant(node) is not None:
            return Key(None)
        return self._constant(owner, constant)

    def _constant(self, owner: str, constant: str) -> Key:
        if not owner:
            owner = self._static.get(constant, "")
            opened = [one for one in self._open if one.rpartition(".")[2] in KAFKAS]
            if not owner and (opened or constant.endswith("_CONFIG") or constant in _irregular()):
                owner = opened[0] if len(opened) == 1 and len(self._open) == 1 else "CommonClientConfigs"
        kind = owner.rpartition(".")[2]
        whole = self._packages.get(kind, owner)
        if _SERIALIZERS.fullmatch(kind) is not None or whole.startswith(_OTHERS):
            return Key(key_of(constant), kind, foreign=True)
        if kind in KAFKAS and (whole == kind or whole.startswith("org.apache.kafka.")):
            return Key(key_of(constant), kind)
        return Key(None)

    def _prefixed(self, node: Node) -> Key:
        """Return the name in a call such as ``StreamsConfig.producerPrefix("acks")``."""
        owner = text_of(node.child_by_field_name("object")).rpartition(".")[2]
        name = text_of(node.child_by_field_name("name"))
        arguments = named(node.child_by_field_name("arguments"))
        if name not in _PREFIXES or owner not in ("StreamsConfig", "") or len(arguments) != 1:
            return Key(None)
        inner = self.of(arguments[0])
        return Key(None if inner.text is None else _PREFIXES[name] + inner.text, "StreamsConfig")
