"""Kafka's old Scala clients, which ended with Kafka 2.0: their settings by today's names, and their behaviour."""

from __future__ import annotations

from collections.abc import Mapping

from proofka.model.deployment.dialects.accounts import Accounts
from proofka.model.deployment.dialects.client_names import is_legacy, legacy
from proofka.model.deployment.dialects.component import Role
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.given import Given

NO_SUCCESSOR = "is a setting of Kafka's old Scala clients without an equivalent today"
KIND = "producer.type"
_KINDS = ("sync", "async")
SCALA = "Kafka's old Scala clients"

_OF_TODAY = {
    Role.PRODUCER: frozenset({"bootstrap.servers", "key.serializer", "value.serializer", "enable.idempotence"}),
    Role.CONSUMER: frozenset({"bootstrap.servers", "key.deserializer", "value.deserializer", "enable.auto.commit"}),
}
_TELLING = {
    Role.PRODUCER: frozenset({"metadata.broker.list", "broker.list", "zk.connect"}),
    Role.CONSUMER: frozenset({"zookeeper.connect", "zk.connect"}),
}
_DEFAULTS = {
    # ProducerConfig.scala and ConsumerConfig.scala; one request at a time, and no sequence numbers.
    Role.PRODUCER: {
        "acks": "0",
        "retries": "3",
        "request.timeout.ms": "10000",
        "max.in.flight.requests.per.connection": "1",
        "enable.idempotence": "false",
    },
    Role.CONSUMER: {"enable.auto.commit": "true", "auto.commit.interval.ms": "60000", "auto.offset.reset": "latest"},
}


def without_successor(role: Role, key: str) -> bool:
    """Tell whether an old setting has no equivalent in today's clients."""
    return is_legacy(role, key) and not legacy()[(role, key)].instead


def leave_out(key: str, said: Said, accounts: Accounts) -> None:
    """Account for an old setting without an equivalent; ``producer.type`` is the application's behaviour."""
    if key != KIND:
        accounts.ignore(said, NO_SUCCESSOR)
    elif accounts.text(said).lower() not in _KINDS:
        accounts.reject(said, "must be sync or async")


def of_today(
    role: Role, settings: Mapping[str, Given], accounts: Accounts
) -> tuple[dict[str, Given], dict[str, Given], list[str]]:
    """Return a client's settings by today's names, the application's behaviour in its old settings, and notes."""
    old = [key for key in settings if is_legacy(role, key)]
    if not old:
        return {key: _value_of_today(role, given) for key, given in settings.items()}, {}, []
    named: dict[str, Given] = {}
    notes = [f"{', '.join(sorted(old))}: settings of {SCALA}, interpreted by their meaning; a Java client ignores them"]
    for key, given in settings.items():
        instead = legacy()[(role, key)].instead if key in old else key
        if key in old and instead in settings:
            notes.append(f"{key} is the same setting as {instead}, which counts")
        elif instead:
            named[instead] = _value_of_today(role, Given(instead, given.value, given.origin), key)
    application: dict[str, Given] = {}
    # An address alone shows nothing: any client can read it.
    scala = bool(_TELLING[role] & set(settings)) and len(old) > 1 and not _OF_TODAY[role] & set(settings)
    if scala:
        notes.append(f"interpreted as one of {SCALA}: missing values are their defaults")
        for key, value in _DEFAULTS[role].items():
            named.setdefault(key, accounts.by_framework(key, value, f"default of {SCALA}"))
    if role is Role.PRODUCER:
        application = _sends(settings.get(KIND), scala, accounts)
    elif scala and named["enable.auto.commit"].value.strip().lower() == "true":
        # Its iterator moves the position with each record that it hands over, and a timer commits the position.
        application["commit"] = accounts.by_framework("commit", "delivered", SCALA)
    return named, application, notes


def _sends(kind: Given | None, scala: bool, accounts: Accounts) -> dict[str, Given]:
    if kind is None:
        return {"sends": accounts.by_framework("sends", "sync", f"default of {SCALA}")} if scala else {}
    said = kind.value.strip().lower()
    if said not in _KINDS:
        return {}
    answers = {"sends": Given("sends", said, kind.origin)}
    if said == "async" and scala:
        # Its sending thread logs failed sends and reports them to nobody.
        answers["on_send_error"] = Given("on_send_error", "ignore", kind.origin)
    return answers


def _value_of_today(role: Role, given: Given, key: str | None = None) -> Given:
    row = legacy().get((role, given.key if key is None else key))
    value = given.value.strip()
    return given if row is None or value not in row.values else Given(given.key, row.values[value], given.origin)
