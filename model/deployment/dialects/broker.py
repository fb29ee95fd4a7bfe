"""``server.properties`` of brokers, with ZooKeeper or KRaft, also as a template of a deployment tool."""

from __future__ import annotations

import re
from difflib import get_close_matches

from proofka.model.deployment.defaults import is_known, known_keys
from proofka.model.deployment.dialects.accounts import NOT_KAFKAS, Accounts
from proofka.model.deployment.dialects.client_names import CLIENTS, SECRET, is_legacy, is_named, is_of, matters
from proofka.model.deployment.dialects.component import Component, Found, Role
from proofka.model.deployment.dialects.dialect import Dialect, of_what_parses
from proofka.model.deployment.dialects.document import PROPERTIES, Document
from proofka.model.deployment.dialects.java_properties import read_properties
from proofka.model.deployment.dialects.placeholders import Fillings
from proofka.model.deployment.given import Given
from proofka.model.deployment.hiding import is_secret
from proofka.model.deployment.known_keys import NEAR
from proofka.model.deployment.reasons import names_key
from proofka.model.deployment.values import has_placeholder

NAME = "Kafka broker's properties"
VERSION = "inter.broker.protocol.version"
TELLING = frozenset(
    {
        "broker.id",
        "node.id",
        "process.roles",
        "log.dirs",
        "log.dir",
        "zookeeper.connect",
        "advertised.listeners",
        "controller.quorum.voters",
        "controller.quorum.bootstrap.servers",
        "offsets.topic.replication.factor",
        "transaction.state.log.replication.factor",
        "num.network.threads",
        "default.replication.factor",
        "unclean.leader.election.enable",
        "log.retention.hours",
    }
)
"""Keys of a broker's file. Two are needed, because a client's file can contain one by mistake."""

_OTHERS = frozenset({"clusters", "plugin.path", "offset.storage.topic", "offset.storage.file.filename"})
_CONTROLLER = "this node is only a controller, which stores no records of topics"
_FILE = re.compile(r"(kafka[-_.]?)?(server|broker)s?([-_.]?[0-9]+)?\.[a-z0-9]+")
"""File names that mean a broker's file, even with few settings."""
_UNFILLED = re.compile(r"\{[A-Za-z_][\w.]*\}|<[^<>]+>")


@of_what_parses
def fits(document: Document) -> bool:
    """Tell whether the document is a broker's: by two of a broker's own keys, or by its name, with more broker keys
    than client keys."""
    if document.suffix not in PROPERTIES:
        return False
    keys = {said.key for said in document.properties}
    brokers = sum(is_known("broker", key) for key in keys)
    clients = sum(any(is_of(role, key) for role in CLIENTS) and not is_known("broker", key) for key in keys)
    is_told = len(keys & TELLING) >= 2 or (_FILE.fullmatch(document.name) is not None and brokers > 0)
    return is_told and brokers > clients and not keys & _OTHERS


def read(document: Document, fillings: Fillings) -> Found:
    """Return the brokers of a cluster, as one of them is configured."""
    accounts = Accounts(document, fillings, separators=(":-", ":"))
    settings: dict[str, Given] = {}
    notes: list[str] = []
    for said in read_properties(document, accounts, lambda key: matters("broker", key), "Java"):
        key, text = said.key, accounts.text(said)
        if is_secret(key):
            accounts.ignore(said, SECRET)
        elif not (is_known("broker", key) or names_key("broker", key)):
            if _may_be_misspelt(key):
                settings[key] = accounts.take(said, key)
            else:
                accounts.ignore(said, _reason(key))
        elif not text and matters("broker", key):
            accounts.reject(said, "has no value; set one, or remove the key")
        elif has_placeholder(text) or _UNFILLED.search(text):
            (accounts.reject if matters("broker", key) else accounts.ignore)(said, "has a placeholder without a value")
        else:
            settings[key] = accounts.take(said, key)
            if key == VERSION:
                notes.append(f"{VERSION} is {text}: the brokers are of this release or a later one")
    roles = {role.strip() for role in settings["process.roles"].value.split(",")} if "process.roles" in settings else ()
    if roles and "broker" not in roles:
        notes.append(_CONTROLLER)
    return accounts.found(NAME, [Component(Role.BROKER, "brokers", settings)], notes)


def _may_be_misspelt(key: str) -> bool:
    """Tell whether an unknown key resembles a broker's setting, so that the check names that setting.

    A plugin's setting does not count as misspelt: its similarity must exceed that of other components' names.
    """
    return _reason(key) == NOT_KAFKAS and bool(get_close_matches(key, known_keys("broker"), n=1, cutoff=NEAR))


def _reason(key: str) -> str:
    for role in CLIENTS:
        if is_of(role, key) or is_legacy(role, key):
            return f"a {role}'s setting: brokers do not read it"
    if is_known("topic", key):
        return "a topic's setting: brokers do not read it"
    return "a client's setting: brokers do not read it" if is_named(key) else NOT_KAFKAS


DIALECT = Dialect(NAME, fits, read)
