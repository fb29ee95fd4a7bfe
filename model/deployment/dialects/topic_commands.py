"""Topics that a container creates when it starts: ``kafka-topics --create`` in its command, or KAFKA_CREATE_TOPICS."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from model.deployment.dialects.accounts import Accounts
from model.deployment.dialects.component import Component, Role
from model.deployment.dialects.said import Said
from model.deployment.given import Given

_TOOL = re.compile(r"(?:\S*/)?kafka-topics(?:\.sh|\.bat)?\s")
_END = re.compile(r"&&|\|\||[;|&]|(?<!\\)\n")
_COMMENT = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
_OPTIONS = {"--topic", "--partitions", "--replication-factor", "--config"}
_LONGEST = 20_000


def topics_created(said: Said, accounts: Accounts) -> tuple[Component, ...]:
    """The topics that a command creates; the command itself is not run. Rejected where one cannot be told."""
    found: list[Component] = []
    text = accounts.text(said)
    unclear = len(text) > _LONGEST
    for command in _commands("" if unclear else text):
        component = _created(command, said, accounts)
        unclear |= component is None
        found += [component] if component is not None else []
    if unclear:
        accounts.reject(said, "creates a topic whose name or settings are told only when it runs, or is too long")
    elif found and not any(one.settings for one in found):
        accounts.ignore(said, "names the topic that it creates")
    elif not found:
        accounts.ignore(said, "is run when the container starts, and sets nothing of Kafka's")
    return tuple(found)


def topics_listed(said: Said, accounts: Accounts) -> tuple[Component, ...]:
    """The topics of ``KAFKA_CREATE_TOPICS``: ``name:partitions:replicas:cleanup.policy``, with commas between them."""
    found: list[Component] = []
    for one in re.split(r"[,\n]", accounts.text(said)):
        parts = [part.strip() for part in one.split(":")]
        if parts == [""]:
            continue
        if len(parts) not in (3, 4) or not all(part.isdecimal() for part in parts[1:3]):
            accounts.reject(said, "is no list of name:partitions:replicas")
            return ()
        settings = {
            "partitions": accounts.take(said, "partitions", parts[1]),
            "replication.factor": accounts.take(said, "replication.factor", parts[2]),
        }
        if len(parts) == 4 and parts[3]:
            settings["cleanup.policy"] = accounts.take(said, "cleanup.policy", parts[3])
        found.append(Component(Role.TOPIC, parts[0], settings))
    if not found:
        accounts.ignore(said, "says nothing")
    return tuple(found)


def calls_in(script: str) -> Iterator[Said]:
    """Each call of the tool in a script, with its line. Comments are none."""
    text = _COMMENT.sub(lambda found: "#" * len(found[0]), script)
    calls = list(_TOOL.finditer(text))
    line, at = 1, 0
    ends = [*(one.start() for one in calls[1:]), len(text)]
    for call, following in zip(calls, ends, strict=False):
        line, at = line + text.count("\n", at, call.start()), call.start()
        end = _END.search(text, call.end(), following)
        yield Said(("kafka-topics",), text[call.start() : following if end is None else end.start()], line)


def _commands(text: str) -> Iterator[str]:
    """The arguments of each call of the tool."""
    for call in _TOOL.finditer(text):
        rest = text[call.end() :]
        end = _END.search(rest)
        arguments = rest if end is None else rest[: end.start()]
        if "--create" in arguments:
            yield arguments


def _created(command: str, said: Said, accounts: Accounts) -> Component | None:
    try:
        words = shlex.split(command.replace("\\\n", " "))
    except ValueError:
        return None
    name = ""
    settings: dict[str, Given] = {}
    for option, value in _options(words):
        if "$" in value or "`" in value:
            return None
        if option == "--topic":
            name = value
        elif option == "--config":
            key, _, text = value.partition("=")
            settings[key] = accounts.take(said, key, text)
        else:
            key = option.removeprefix("--").replace("replication-factor", "replication.factor")
            settings[key] = accounts.take(said, key, value)
    return Component(Role.TOPIC, name, settings) if name else None


def _options(words: list[str]) -> Iterator[tuple[str, str]]:
    """The options that say something of a topic, with ``=`` or a blank before their value."""
    for at, word in enumerate(words):
        option, equals, value = word.partition("=")
        if option in _OPTIONS:
            yield option, value if equals else (words[at + 1] if at + 1 < len(words) else "")
