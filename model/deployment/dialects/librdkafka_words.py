"""The distinction between librdkafka's properties in a flat file and those of Java clients, and Python's words in
it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from proofka.model.deployment.clients import aliases
from proofka.model.deployment.dialects.accounts import Accounts
from proofka.model.deployment.dialects.client_names import CLIENTS, LIBRDKAFKA, is_legacy, is_named, is_of
from proofka.model.deployment.dialects.said import Said

TOPIC_SETTINGS = "default.topic.config"
_JAVAS = ("sasl.jaas.config",)
_PYTHONS = frozenset({TOPIC_SETTINGS, "sasl.mechanisms"})
_LONGEST = 10_000


def unquoted(key: str) -> str:
    """Return a key without the quotation marks of a programming language around it."""
    inner = key[1:-1]
    return inner if len(key) > 2 and key[0] == key[-1] and key[0] in "'\"" and key[0] not in inner else key


def told_by(values: Sequence[Said]) -> Said | None:
    """Return the first setting that only librdkafka has, if no setting is there that only Java clients have."""
    if any(said.key.endswith((".serializer", ".deserializer", ".serializer.class", *_JAVAS)) for said in values):
        return None
    return next((said for said in values if _is_only_librdkafkas(said.key)), None) or _told_by_all(values)


def _told_by_all(values: Sequence[Said]) -> Said | None:
    """Return an old Scala client's setting beside one that only newer clients have; only librdkafka has both."""
    if not any(said.key == "enable.idempotence" for said in values):
        return None
    of_java = {said.key for said in values if any(is_of(role, said.key) for role in CLIENTS)}
    if not all(any(is_of(role, key, LIBRDKAFKA) for role in CLIENTS) for key in of_java):
        return None
    old = [said for said in values if any(is_legacy(role, said.key) for role in CLIENTS)]
    return next((said for said in old if (LIBRDKAFKA, said.key) in aliases()), None)


def _is_only_librdkafkas(key: str) -> bool:
    if key in _PYTHONS:
        return True
    if any(is_of(role, key) or is_legacy(role, key) for role in CLIENTS):
        return False
    if key in ("sasl.username", "sasl.password", "ssl.ca.location"):
        return True
    return "." in key and not is_named(key) and any(is_of(role, key, LIBRDKAFKA) for role in CLIENTS)


def with_topic_settings(values: Iterable[Said], accounts: Accounts) -> Iterator[Said]:
    """Yield the values, with each Python dictionary of topic settings replaced by its values."""
    for said in values:
        if said.key != TOPIC_SETTINGS:
            yield said
            continue
        inner = _dictionary(accounts.text(said))
        if inner is None:
            accounts.reject(said, "is no Python dictionary of texts and numbers")
        elif not inner:
            accounts.ignore(said, "has no value")
        for key, value in (inner or {}).items():
            yield Said((key,), value, said.line)


def _dictionary(text: str) -> dict[str, str] | None:
    if len(text) > _LONGEST:
        return None
    try:
        found = ast.literal_eval(text.strip().rstrip(","))
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None
    if not isinstance(found, dict) or not all(isinstance(value, str | int | float) for value in found.values()):
        return None
    return {str(key): str(value).lower() if isinstance(value, bool) else str(value) for key, value in found.items()}
