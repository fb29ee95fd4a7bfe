"""Agents with settings in blocks: Logstash's kafka plug-ins (Java's clients) and rsyslog's omkafka and imkafka."""

from __future__ import annotations

import re

from proofka.model.deployment.dialects.accounts import NOT_KAFKAS, Accounts
from proofka.model.deployment.dialects.component import Component, Found, Role
from proofka.model.deployment.dialects.dialect import Dialect
from proofka.model.deployment.dialects.document import Document
from proofka.model.deployment.dialects.formats.blocks import Block, blocks_of
from proofka.model.deployment.dialects.keys import LIBRDKAFKA, has_key
from proofka.model.deployment.dialects.placeholders import Fillings
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.given import Given
from proofka.model.deployment.release import JAVA
from proofka.model.deployment.setting import Origin

_LOGSTASH = re.compile(r"^[^\S\n]*(input|output)\s*\{", re.MULTILINE)
_PLUGIN = re.compile(r"\bkafka\s*\{[^{}]*=>")
_RSYSLOG = re.compile(r"\b(action|input)\s*\([^)]{0,500}?\btype\s*=\s*\"(omkafka|imkafka)\"", re.IGNORECASE)
_ROLES = {"output": Role.PRODUCER, "input": Role.CONSUMER}
_TOPICS = ("topic_id", "topics", "topic")
_PLAIN = "does not change which deliveries are possible"
_LOGSTASHS = "Logstash's plug-in"
_DEFAULTS = {
    Role.PRODUCER: {"acks": "1", "request.timeout.ms": "40000"},
    Role.CONSUMER: {"request.timeout.ms": "40000", "session.timeout.ms": "10000", "group.id": "logstash"},
}
"""The defaults of its plug-ins that differ from those of Kafka's clients (logstash-integration-kafka 12)."""

_AGAIN = "limits the retries of the plug-in, which then drops the record: not modelled; remove it, or set it to 0"
_LISTS = ("confparam", "topicconfparam")


def fits(document: Document) -> bool:
    """Tell whether the document has a block for Kafka of Logstash or rsyslog."""
    if document.suffix not in (".conf", ".cfg", ".config", ""):
        return False
    logstash = _LOGSTASH.search(document.text) is not None and _PLUGIN.search(document.text) is not None
    return logstash or _RSYSLOG.search(document.text) is not None


def read(document: Document, fillings: Fillings) -> Found:
    """Return the clients of the blocks for Kafka."""
    accounts = Accounts(document, fillings)
    components: list[Component] = []
    rsyslog = _RSYSLOG.search(document.text) is not None
    for block in blocks_of(document.text, document.file):
        kind = {name.lower(): texts[-1].lower() for name, texts, _ in block.values if texts}.get("type", "")
        if rsyslog and kind in ("omkafka", "imkafka"):
            components.append(
                _rsyslog(block, Role.PRODUCER if kind == "omkafka" else Role.CONSUMER, accounts, document)
            )
        elif not rsyslog and block.names[-1] == "kafka" and block.names[0] in _ROLES:
            components.append(_logstash(block, _ROLES[block.names[0]], accounts))
        else:
            for name, _, line in block.values:
                accounts.ignore(Said((*block.names, name), "", line), NOT_KAFKAS)
    notes = () if rsyslog else ("interpreted as in Logstash's kafka plug-ins from 6.0 on",)
    return accounts.found(f"settings of an agent ({'rsyslog' if rsyslog else 'logstash'})", components, notes)


def _logstash(block: Block, role: Role, accounts: Accounts) -> Component:
    """Return the client of a Logstash block. Names have underscores for dots. The output retries forever; the input
    hands records to a queue in memory."""
    settings: dict[str, Given] = {}
    topics: list[str] = []
    answers: dict[str, Given] = {}
    for name, texts, line in block.values:
        said, key = Said((name,), ",".join(texts), line), name.replace("_", ".")
        if name in _TOPICS:
            topics += [text for text in texts if "%{" not in text and "${" not in text]
            accounts.ignore(said, "names topics")
        elif has_key(JAVA, role, key) and not key.startswith(("ssl.", "sasl.", "jaas", "kerberos")):
            settings[key] = accounts.take(said, key)
            if key == "retries" and accounts.text(said) != "0":
                accounts.reject(said, _AGAIN)
        else:
            accounts.ignore(said, _PLAIN)
    for key, value in _DEFAULTS[role].items():
        settings.setdefault(key, accounts.by_framework(key, value, _LOGSTASHS))
    if role is Role.CONSUMER:
        answers["processing"] = accounts.by_framework("processing", "handed-off", _LOGSTASHS)
    elif "retries" not in settings:
        answers["on_send_error"] = accounts.by_framework("on_send_error", "resend", _LOGSTASHS)
    return Component(role, "logstash: kafka", settings, tuple(dict.fromkeys(topics)), application=answers)


def _rsyslog(block: Block, role: Role, accounts: Accounts, document: Document) -> Component:
    """Return the client of an rsyslog block. Settings of librdkafka are texts of the form ``name=value`` in a list."""
    settings: dict[str, Given] = {}
    topics: list[str] = []
    again = "drop"
    for name, texts, line in block.values:
        said, low = Said((name,), ",".join(texts), line), name.lower()
        if low in _LISTS:
            for text in texts:
                key, equals, value = text.partition("=")
                one = Said((key.strip(),), value.strip(), line)
                if equals:
                    settings[key.strip()] = accounts.take(one, key.strip())
                else:
                    accounts.reject(Said((name,), "", line), "does not have the form name=value")
        elif low == "broker":
            settings["bootstrap.servers"] = accounts.take(said, "bootstrap.servers")
        elif low == "consumergroup":
            settings["group.id"] = accounts.take(said, "group.id")
        elif low == "topic":
            topics += texts
            accounts.ignore(said, "names topics")
        else:
            again = "resend" if low == "resubmitonfailure" and said.value.lower() == "on" else again
            accounts.ignore(said, "determines the reaction to a failure" if low == "resubmitonfailure" else _PLAIN)
    answers = {"on_send_error": Given("on_send_error", again, Origin("rule", "rsyslog's omkafka"))}
    client = Given("client", LIBRDKAFKA, Origin("rule", "rsyslog uses it", document.file, block.line))
    sends = role is Role.PRODUCER
    return Component(role, "rsyslog", settings, tuple(topics), client=client, application=answers if sends else {})


DIALECT = Dialect("settings of an agent", fits, read)
