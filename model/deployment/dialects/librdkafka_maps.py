"""Settings of librdkafka in JSON, YAML, TOML or flat files, as programs pass them to its bindings for Python, Go, .NET
and others.

A file has one map for a client, or one under each of ``producer`` and ``consumer`` with the shared settings above them.
Settings of topics can be in a map of their own (``default.topic.config``, ``topic``). Names are the library's,
including aliases.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from proofka.model.deployment.dialects.accounts import NOT_KAFKAS, Accounts
from proofka.model.deployment.dialects.bindings import of_binding
from proofka.model.deployment.dialects.component import Component, Found, Role
from proofka.model.deployment.dialects.dialect import Dialect
from proofka.model.deployment.dialects.document import PROPERTIES, YAML, Document
from proofka.model.deployment.dialects.formats.toml import said_in_toml
from proofka.model.deployment.dialects.formats.yaml import values_of
from proofka.model.deployment.dialects.keys import LIBRDKAFKA, has_key, own_name, signs
from proofka.model.deployment.dialects.nodes import tree_of
from proofka.model.deployment.dialects.placeholders import Fillings
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.given import Given
from proofka.model.deployment.setting import Origin
from proofka.model.deployment.yaml_tree import Mapping, Node, Scalar

_ROLES = (Role.PRODUCER, Role.CONSUMER)
_WITHIN = ("global", "topic", "default.topic.config", "default_topic_config", "defaulttopicconfig", "topicconfig")
"""Maps of settings that belong to the map around them."""

_ADDRESSES = ("bootstrap.servers", "metadata.broker.list")
_LONGEST = 10_000
_TOPICS = ("topic", "topics", "topic.name")
_TOML = ".toml"
_DEEPEST = 20
_UNREPORTED = "dotnet.producer.enable.delivery.reports"
_STREAMS = "is a setting of Kafka Streams, which librdkafka does not have"


@dataclass
class _Group:
    """The settings in one map, and in its inner maps that belong to no client of their own."""

    path: tuple[str, ...]
    role: Role | None
    above: _Group | None
    said: list[Said] = field(default_factory=list)
    streams: bool = False
    flat: bool = False

    @property
    def is_client(self) -> bool:
        """Tell whether the map has settings of a client."""
        return any(_known(said.path[-1]) for said in self.said)


def _known(key: str) -> bool:
    return any(has_key(LIBRDKAFKA, role, key) for role in _ROLES)


def fits(document: Document) -> bool:
    """Tell whether the document has settings, one of which only librdkafka has; in JSON, the brokers' address is
    enough."""
    if document.suffix == ".json" and not any(one in document.text for one in (*_ADDRESSES, *signs(flat=False))):
        return False
    try:
        groups = _groups(document)
    except DeploymentError:
        return _looks_so(document)
    keys = {name for group in groups if group.is_client for said in group.said for name in said.path}
    flat = document.suffix not in (*YAML, ".json", _TOML)
    return bool(keys & signs(flat=flat)) or (document.suffix == ".json" and bool(keys & {*_ADDRESSES}))


def _looks_so(document: Document) -> bool:
    """Tell whether unparsable YAML has names of librdkafka's settings at the beginning of lines."""
    if document.suffix not in YAML:
        return False
    keys = set(re.findall(r"^[ \t]*([a-z]+(?:\.[a-z]+)+):", document.text, re.MULTILINE))
    return bool(keys & {*_ADDRESSES}) and bool(keys & signs(flat=False))


def read(document: Document, fillings: Fillings, first: int = 0) -> Found:
    """Return the producers and consumers of the maps of a file.

    ``first``: the number of lines before the text, if it is within another file.
    """
    accounts = Accounts(document, fillings, first=first)
    groups = _groups(document)
    notes: list[str] = []
    components: list[Component] = []
    for group in groups:
        group.said = accounts.last_of_each(group.said, "a map")
    inner = {id(other.above) for other in groups if other.above is not None and other.role is not None}
    used: set[int] = set()
    for group in groups:
        if group.streams or id(group) in inner or not (group.is_client or group.role):
            continue
        roles = [group.role] if group.role else _roles(group)
        if not roles:
            notes.append(
                f"{'.'.join(group.path) or 'the file'} has no setting that only a producer or only a consumer has"
            )
        chain = list(_chain(group))
        used.update(id(one) for one in chain if roles)
        for role in roles:
            components.append(_component(role, chain, accounts, document.file, first))
    for group in groups:
        _account(group, accounts, used=id(group) in used)
    return accounts.found("settings of librdkafka", components, notes)


def _chain(group: _Group) -> Iterator[_Group]:
    """Yield a map and the maps around it, whose settings it shares."""
    one: _Group | None = group
    while one is not None:
        yield one
        one = one.above


def _roles(group: _Group) -> list[Role]:
    """Return the roles of a map without a role in its name: those with a setting that the other role does not have."""
    keys = [said.path[-1] for said in group.said]
    has = {role: {key for key in keys if has_key(LIBRDKAFKA, role, key)} for role in _ROLES}
    return [role for role, other in zip(_ROLES, reversed(_ROLES), strict=True) if has[role] - has[other]]


def _stays(said: Said, group: _Group) -> bool:
    """Tell whether a value is a setting, or a name that librdkafka would refuse."""
    key = said.path[-1]
    named = (group.flat or (group.role is not None and len(said.path) == len(group.path) + 1)) and key not in _TOPICS
    return not said.null and not of_binding(key) and (_known(key) or named or "." in key)


def _component(role: Role, chain: list[_Group], accounts: Accounts, file: str, first: int) -> Component:
    settings: dict[str, Given] = {}
    answers: dict[str, Given] = {}
    topics: list[str] = []
    for group in chain:
        taken = {own_name(LIBRDKAFKA, key) for key in settings}
        for said in group.said:
            key = said.path[-1]
            if _stays(said, group) and own_name(LIBRDKAFKA, key) not in taken:
                settings.setdefault(key, accounts.take(said, key))
            elif key in _TOPICS and said.value:
                topics += [name.strip() for name in accounts.text(said).split(",")]
            elif key == _UNREPORTED and role is Role.PRODUCER and accounts.text(said).lower() == "false":
                answers["on_send_error"] = accounts.take(said, "on_send_error", "ignore")
    line = min((said.line for said in chain[0].said), default=1) + first
    client = Given("client", LIBRDKAFKA, Origin("rule", "its settings are librdkafka's", file, line))
    name = ".".join(chain[0].path) or role.value
    return Component(role, name, settings, tuple(dict.fromkeys(topics)), client=client, application=answers)


def _account(group: _Group, accounts: Accounts, *, used: bool) -> None:
    """Account for the values of a map that are in no component."""
    for said in group.said:
        key = said.path[-1]
        if group.streams:
            accounts.reject(said, _STREAMS)
        elif said.null:
            accounts.ignore(said, "has no value")
        elif used and key in _TOPICS:
            accounts.ignore(said, "names topics")
        elif of_binding(key):
            accounts.ignore(said, of_binding(key))
        elif used and _stays(said, group):
            continue
        else:
            accounts.ignore(said, "belongs to no producer or consumer" if _known(key) else NOT_KAFKAS)


def _groups(document: Document) -> list[_Group]:
    """Return the maps of a file that have values of their own. Raises DeploymentError."""
    groups: list[_Group] = []
    if document.suffix == ".json":
        _walk(document.json, (), None, groups)
    elif document.suffix in YAML:
        for node in document.yaml:
            if not _is_kubernetes(node):
                _walk(node, (), None, groups)
    elif document.suffix == _TOML:
        _walk(tree_of([_collapsed(said) for said in said_in_toml(document.text, document.file)]), (), None, groups)
    elif document.suffix in PROPERTIES or not document.suffix:
        groups.append(
            _Group((), None, None, [one for said in document.properties for one in _unfolded(said)], flat=True)
        )
    return groups


def _collapsed(said: Said) -> Said:
    """Return a value with the parts of its setting's name as one: in TOML, a dot without quotation marks separates
    names."""
    if len(said.path) > _DEEPEST:
        return replace(said, path=(said.key,))
    for start in range(len(said.path)):
        name = ".".join(said.path[start:])
        if _known(name):
            return replace(said, path=(*said.path[:start], name))
    return said


def _unfolded(said: Said) -> Iterator[Said]:
    """Yield a line of a flat file; settings of topics can be a dictionary in Python's form."""
    name = said.path[-1].strip("'\"")
    if name.lower() not in _WITHIN or not said.value.lstrip().startswith("{") or len(said.value) > _LONGEST:
        yield said
        return
    try:
        inside = literal_eval(said.value.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        inside = {}
    if not inside:
        yield said
    for key, value in inside.items() if isinstance(inside, dict) else ():
        yield Said((name, str(key)), str(value), said.line)


def _is_kubernetes(node: Node) -> bool:
    return isinstance(node, Mapping) and {"apiVersion", "kind"} <= {entry.key for entry in node.entries}


def _walk(node: Node, path: tuple[str, ...], above: _Group | None, groups: list[_Group]) -> None:
    if isinstance(node, Scalar):
        groups.append(_Group(path, None, None, list(values_of(node, path))))
        return
    if not isinstance(node, Mapping):
        for number, item in enumerate(node.items):
            _walk(item, (*path, f"[{number}]"), above, groups)
        if not node.items:
            groups.append(_Group(path, None, None, list(values_of(node, path))))
        return
    role = _role(path[-1]) if path and not (above and above.role) else None
    group = _Group(path, role or (above.role if above and _within(path) else None), above)
    if above is not None and _within(path):
        group = above
    else:
        group.streams = bool(path and "streams" in path[-1].lower()) or bool(above and above.streams)
        groups.append(group)
    if not node.entries:
        group.said += values_of(node, path)
    for entry in node.entries:
        below = (*path, entry.key)
        if isinstance(entry.node, Scalar) or (_known(entry.key) and not _within(below)):
            group.said += _as_one(entry.node, below)
        else:
            _walk(entry.node, below, group, groups)


def _as_one(node: Node, path: tuple[str, ...]) -> Iterator[Said]:
    """Yield the value of a setting; a list becomes one text with commas."""
    if isinstance(node, Scalar):
        yield from values_of(node, path)
    else:
        texts = [said.value for said in values_of(node)]
        yield Said(path, ",".join(texts), node.line, not texts)


def _within(path: tuple[str, ...]) -> bool:
    return path[-1].lower() in _WITHIN


def _role(name: str) -> Role | None:
    found = [role for role in _ROLES if role.value in name.lower()]
    return found[0] if len(found) == 1 else None


DIALECT = Dialect("settings of librdkafka", fits, read)
