"""The clients' files of a live check: copies without secrets, and what a group's coordinator says besides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from proofka.checker.cluster.configuration import properties_text
from proofka.checker.live.errors import WrongChoice
from proofka.checker.live.facts import Group
from proofka.model.deployment.describe.folder import Role
from proofka.model.deployment.given import Given, GivenClient
from proofka.model.deployment.hiding import is_secret, printable, without_secrets
from proofka.model.deployment.properties_reader import count_lines, settings_in
from proofka.model.deployment.setting import Origin
from proofka.model.deployment.source import decode_properties, read_bytes

GROUP_ID = "group.id"
PROTOCOL = "group.protocol"
LEFT_OUT = "# left out: a secret, or a comment"
EMPTY = "Empty"
"""The state of a group without members, which can change its protocol."""


@dataclass(frozen=True)
class ClientFile:
    """A client's settings. ``name``: its file in a snapshot; ``origin``: the user's file, or None without one.

    ``text`` has the lines of the user's file, without secrets. ``added``: settings that the cluster tells of the
    group, with the option that named the group.
    """

    name: str
    role: Role
    origin: str | None
    text: str
    added: Mapping[str, str]
    option: str = ""

    @property
    def whole(self) -> str:
        """The text of the file in a snapshot."""
        lines = properties_text(self.added)
        if not lines:
            return self.text
        return f"{self.text.rstrip()}\n# {self.option}\n{lines}".lstrip("\n")

    def client(self) -> GivenClient:
        """Return the settings, each with its place: the user's file, or the option. Raises DeploymentError."""
        settings = {} if self.origin is None else settings_in(self.text, self.origin)
        origin = Origin("option", self.option)
        return GivenClient(
            settings | {key: Given(key, value, origin) for key, value in self.added.items()}, present=True
        )


def client_file(role: Role, path: Path) -> ClientFile:
    """Return a user's file without its secrets. Raises DeploymentError."""
    text = decode_properties(read_bytes(path))
    settings_in(text, str(path))
    return ClientFile(f"{role}.properties", role, str(path), "".join(_without_secrets(text)), {})


def _without_secrets(text: str) -> Iterator[str]:
    """Yield the elements of a property file. Secrets and comments become lines that say so, as many as there were."""
    from javaproperties import KeyValue, Whitespace, parse

    for element in parse(text):
        is_plain = isinstance(element, KeyValue) and _is_plain(element.key, element.value)
        if is_plain or isinstance(element, Whitespace):
            yield element.source
        else:
            yield f"{LEFT_OUT}\n" * max(1, count_lines(element.source))


def _is_plain(key: str, value: str) -> bool:
    return not is_secret(key) and without_secrets(value) == value


def group_named(file: ClientFile | None) -> str | None:
    """Return the group that a consumer's file names, if the brokers assign its partitions, so that it can have
    settings of its own."""
    if file is None or file.origin is None:
        return None
    settings = settings_in(file.text, file.origin)
    group, protocol = settings.get(GROUP_ID), settings.get(PROTOCOL)
    if group is None or protocol is None or protocol.value.strip().lower() != "consumer":
        return None
    return group.value.strip() or None


def of_group(group: Group, file: ClientFile | None, name: str) -> ClientFile:
    """Return the file of a consumer in a group that the user names: the user's, or one with what the cluster tells.

    Raises WrongChoice if the file contradicts the cluster.
    """
    option = f"--group {printable(group.name)}"
    if not group.name.isprintable() or group.name != group.name.strip():
        raise WrongChoice(f"{option}: has characters that no property file shows; check the group by its files instead")
    told = {GROUP_ID: group.name} | ({PROTOCOL: group.protocol} if group.protocol != "classic" else {})
    if file is None or file.origin is None:
        return ClientFile(name, "consumer", None, "", told, option)
    settings = settings_in(file.text, file.origin)
    own = settings.get(GROUP_ID)
    if own is not None and own.value.strip() != group.name:
        raise WrongChoice(f"{option}: {file.origin}:{own.origin.line} names another group; leave one of them out")
    protocol = settings[PROTOCOL].value.strip().lower() if PROTOCOL in settings else "classic"
    if protocol != group.protocol and group.state != EMPTY:
        raise WrongChoice(
            f"{option}: the group speaks the protocol {group.protocol}, but {file.origin} has {PROTOCOL}={protocol}"
            f"{'' if PROTOCOL in settings else ' by default'}; correct the file"
        )
    added = {} if own is not None else {GROUP_ID: group.name}
    return ClientFile(name, "consumer", file.origin, file.text, added, option)
