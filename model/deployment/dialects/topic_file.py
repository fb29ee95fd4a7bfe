"""``topic.properties``: the settings of one topic, in a flat file that can omit the topic's name.

Kafka refuses to create a topic with an unknown setting (``InvalidConfigurationException``), so an unknown key is
rejected. A file without a name describes the topic of the clients beside it (:mod:`model.deployment.dialects.pairing`).
"""

from __future__ import annotations

import re
from difflib import get_close_matches

from proofka.model.deployment.defaults import is_known, known_keys
from proofka.model.deployment.dialects.accounts import Accounts
from proofka.model.deployment.dialects.client_names import CLIENTS, SECRET, is_of, matters
from proofka.model.deployment.dialects.component import Component, Found, Role
from proofka.model.deployment.dialects.dialect import Dialect, of_what_parses
from proofka.model.deployment.dialects.document import PROPERTIES, Document
from proofka.model.deployment.dialects.java_properties import read_properties
from proofka.model.deployment.dialects.placeholders import Fillings
from proofka.model.deployment.given import Given
from proofka.model.deployment.hiding import is_secret
from proofka.model.deployment.reasons import names_key
from proofka.model.deployment.values import has_placeholder

NAME = "Kafka topic's properties"
NAMES = frozenset({"topic", "topic.name", "name"})
"""Keys that name the file's topic."""

_FILE = re.compile(r"(.*[-_.])?topic([-_.].*)?\.[a-z0-9]+")


@of_what_parses
def fits(document: Document) -> bool:
    """Tell whether the document is named after a topic and has a topic's setting, and no more settings of clients."""
    if document.suffix not in PROPERTIES or _FILE.fullmatch(document.name) is None:
        return False
    keys = {said.key for said in document.properties}
    topics = sum(is_known("topic", key) for key in keys)
    clients = sum(any(is_of(role, key) for role in CLIENTS) and not is_known("topic", key) for key in keys)
    return topics > 0 and topics >= clients


def read(document: Document, fillings: Fillings) -> Found:
    """Return the settings of the topic, and its name if the file gives one."""
    accounts = Accounts(document, fillings, separators=(":-", ":"))
    settings: dict[str, Given] = {}
    named: Given | None = None
    for said in read_properties(document, accounts, lambda key: matters("topic", key), "Java"):
        key, text = said.key, accounts.text(said)
        if is_secret(key):
            accounts.ignore(said, SECRET)
        elif key in NAMES and not has_placeholder(text):
            if named is not None and named.value != text:
                accounts.reject(said, f"names another topic than line {named.origin.line}")
            named = accounts.take(said, key, text)
        elif not (is_known("topic", key) or names_key("topic", key)):
            accounts.reject(said, _unknown(key))
        elif not text and matters("topic", key):
            accounts.reject(said, "has no value; set one, or remove the key")
        elif has_placeholder(text):
            (accounts.reject if matters("topic", key) else accounts.ignore)(said, "has a placeholder without a value")
        else:
            settings[key] = accounts.take(said, key)
    name = "" if named is None else named.value
    return accounts.found(NAME, [Component(Role.TOPIC, name, settings)])


def _unknown(key: str) -> str:
    near = get_close_matches(key, known_keys("topic"), n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"is no setting of a topic, so Kafka refuses to create the topic{hint}"


DIALECT = Dialect(NAME, fits, read)
