"""The topics that a Python program creates, with their settings."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from proofka.model.deployment.dialects.accounts import Accounts
from proofka.model.deployment.dialects.component import Role
from proofka.model.deployment.dialects.python_settings import Following
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.dialects.written import Configured, Written, check_number
from proofka.model.deployment.release import JAVA

_TOPICS = frozenset(("kafka", "aiokafka", "confluent_kafka"))
_OF_TOPIC = ("name", "num_partitions", "replication_factor")
_ARGUMENTS: Mapping[str, str] = {
    "topic": "name",
    "name": "name",
    "num_partitions": "partitions",
    "replication_factor": "replication.factor",
}
_CONFIGS = ("topic_configs", "config")


def topics_of(following: Following, accounts: Accounts, file: str) -> Iterator[Configured]:
    """Yield the topics that a program creates (``NewTopic``), with their settings."""
    program, number = following.program, 0
    for node in sorted(
        (one for one in ast.walk(program.tree) if isinstance(one, ast.Call)), key=lambda one: one.lineno
    ):
        full = program.full_name(node.func)
        if full.partition(".")[0] not in _TOPICS or full.rpartition(".")[2] != "NewTopic":
            continue
        number += 1
        check_number(number, file, node.lineno)
        said = {_ARGUMENTS[key]: value for key, value in _arguments(node) if key in _ARGUMENTS}
        name = program.plain(said.pop("name"), 0) if "name" in said else None
        if not isinstance(name, str):
            accounts.reject(Said(("NewTopic",), "", node.lineno), "the name of the topic is not in this file")
            continue
        topic = Configured(name, node.lineno, JAVA, roles={Role.TOPIC})
        topic.written += [Written(key, value.lineno, program.value(value)) for key, value in said.items()]
        for key, value in _arguments(node):
            if key in _CONFIGS:
                topic.written += _configs(following, value)
        yield topic


def _arguments(node: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    yield from zip(_OF_TOPIC, node.args, strict=False)
    yield from ((one.arg, one.value) for one in node.keywords if one.arg is not None)


def _configs(following: Following, node: ast.expr) -> list[Written]:
    if isinstance(node, ast.Constant) and node.value is None:
        return []
    reading = following.settings(JAVA)
    reading.take(node)
    return reading.written
