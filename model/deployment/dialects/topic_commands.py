"""Topics that commands create and change: calls of ``kafka-topics`` and ``kafka-configs``, or KAFKA_CREATE_TOPICS.

No command is run. Kafka's source parses the options of ``kafka-configs`` in ``ConfigCommand.parseConfigsToBeAdded``.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from proofka.model.deployment.dialects.accounts import Accounts
from proofka.model.deployment.dialects.client_names import matters
from proofka.model.deployment.dialects.component import EVERYTHING, Component, Role
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.given import Given

_TOOL = re.compile(r"(?:\S*/)?kafka-(topics|configs)(?:\.sh|\.bat)?\s")
_END = re.compile(r"&&|\|\||[;|&]|(?<!\\)\n")
_COMMENT = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
_SHELL = re.compile(r"\s*(?:\S*/)?(?:ba|da|z)?sh\s+(?:-\w+\s+)*-\w*c\s+[\"']")
_PAIRS = re.compile(r",(?=[^\]]*(?:\[|$))")
_OPTIONS = {"--topic", "--partitions", "--replication-factor", "--config"}
_LONGEST = 20_000
_UNCLEAR = "creates a topic whose name or settings are known only at run time, or is too long"
_UNCLEAR_CHANGE = "changes topics or brokers in a way that is known only at run time, or gives a setting two values"
_TWICE = "gives {} two values: keep one of the two"
_OF_BROKERS = "changes the running brokers, so the value in force is unknown"
_OF_OTHERS = "changes a topic that is not created here, so the value in force is unknown"


@dataclass
class Commands:
    """The effects of a file's commands on topics, in order."""

    accounts: Accounts
    _topics: list[Component] = field(default_factory=list)

    @property
    def components(self) -> tuple[Component, ...]:
        """The created topics, in their state after the last command."""
        return tuple(self._topics)

    def run(self, said: Said) -> None:
        """Follow one text of commands; reject it if a topic in it is unknown."""
        text = self.accounts.text(said)
        if len(text) > _LONGEST:
            self.accounts.reject(said, _UNCLEAR)
            return
        known, told = len(self._topics), False
        for tool, arguments in _calls(_script(text)):
            if tool == "topics" and "--create" in arguments:
                told |= not self._create(arguments, said)
            elif "--alter" in arguments:
                told |= self._alter(tool, arguments, said)
        new = self._topics[known:]
        if told:
            return
        if new and not any(one.settings for one in new):
            self.accounts.ignore(said, "names the topic that it creates")
        elif not new:
            self.accounts.ignore(said, "is the container's command, which sets nothing of Kafka")

    def _create(self, arguments: str, said: Said) -> bool:
        words = _words(arguments)
        component = None if words is None else _created(words, said, self.accounts)
        if component is None:
            self.accounts.reject(said, _UNCLEAR)
            return False
        self._topics.append(component)
        return True

    def _alter(self, tool: str, arguments: str, said: Said) -> bool:
        """Tell whether the call sets something that matters; if so, take or reject it."""
        change = _change(tool, arguments)
        if change is None:
            return False
        at = next((at for at, one in enumerate(self._topics) if change.topic == one.name), None)
        if change.unclear or (at is None and change.matters):
            reason = _OF_BROKERS if change.of_brokers else _OF_OTHERS if change.topic else _UNCLEAR_CHANGE
            self.accounts.reject(said, _UNCLEAR_CHANGE if change.unclear else reason, change.topic or EVERYTHING)
            return True
        if at is None:
            return False
        settings: dict[str, Given] = {
            key: given for key, given in self._topics[at].settings.items() if key not in change.removed
        }
        settings |= {key: self.accounts.take(said, key, value) for key, value in change.added.items()}
        self._topics[at] = replace(self._topics[at], settings=settings)
        return True


@dataclass(frozen=True)
class _Change:
    """A call that changes settings: of a topic, of brokers, or of entities known only at run time."""

    topic: str = ""
    of_brokers: bool = False
    unclear: bool = False
    added: dict[str, str] = field(default_factory=dict)
    removed: tuple[str, ...] = ()

    @property
    def matters(self) -> bool:
        """Tell whether one of the settings can change a delivery."""
        keys = (*self.added, *self.removed)
        scope = Role.BROKER if self.of_brokers else Role.TOPIC
        return any(key == "partitions" or matters(scope, key) for key in keys)


def _change(tool: str, arguments: str) -> _Change | None:
    """Return the changes of a call with ``--alter``; None if it changes no topics or brokers."""
    words = _words(arguments)
    if words is None:
        return _Change(unclear=True)
    options = list(_with_values(words))
    of = dict(options)
    brokers = bool(of.keys() & {"--broker", "--broker-defaults", "--broker-logger"})
    topic = of.get("--topic", "")
    kinds = {value.rstrip("s") for option, value in options if option == "--entity-type"}
    if tool == "configs" and not topic and not brokers:
        if kinds and not kinds & {"topic", "broker"} and not any("$" in kind for kind in kinds):
            return None
        brokers = kinds == {"broker"}
        topic = of.get("--entity-name", "") if kinds == {"topic"} else ""
    added: dict[str, str] = {}
    removed: list[str] = []
    twice = False
    for option, value in options:
        if option in ("--add-config", "--config"):
            for key, text in _pairs(value):
                twice |= added.get(key.strip(), text.strip().strip("[]")) != text.strip().strip("[]")
                added[key.strip()] = text.strip().strip("[]")
        elif option == "--delete-config":
            removed += [key.strip() for key in value.split(",")]
        elif option == "--partitions" and tool == "topics":
            added["partitions"] = value
    change = _Change(topic, brokers, False, added, tuple(removed))
    told_later = any(_is_filled_later(text) for text in (*added, *removed, topic, *kinds))
    values_later = any(_is_filled_later(text) for text in added.values())
    if twice and change.matters:
        return replace(change, unclear=True)
    if "--add-config-file" in of or any(_is_filled_later(key) for key in (*added, *removed)):
        return replace(change, topic="", unclear=True)
    if (told_later or values_later) and change.matters:
        return replace(change, topic="" if told_later else topic, unclear=True)
    return None if _is_filled_later(topic) else change


def _is_filled_later(text: str) -> bool:
    return "$" in text or "`" in text


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for one in _PAIRS.split(text):
        key, _, value = one.partition("=")
        if key.strip():
            yield key, value


def topics_listed(said: Said, accounts: Accounts) -> tuple[Component, ...]:
    """Return the topics of ``KAFKA_CREATE_TOPICS``: ``name:partitions:replicas:cleanup.policy``, separated by
    commas."""
    found: list[Component] = []
    for one in re.split(r"[,\n]", accounts.text(said)):
        parts = [part.strip() for part in one.split(":")]
        if parts == [""]:
            continue
        if len(parts) not in (3, 4) or not all(part.isdecimal() for part in parts[1:3]):
            accounts.reject(said, "is no list of NAME:PARTITIONS:REPLICAS")
            return ()
        settings = {
            "partitions": accounts.take(said, "partitions", parts[1]),
            "replication.factor": accounts.take(said, "replication.factor", parts[2]),
        }
        if len(parts) == 4 and parts[3]:
            settings["cleanup.policy"] = accounts.take(said, "cleanup.policy", parts[3])
        found.append(Component(Role.TOPIC, parts[0], settings))
    if not found:
        accounts.ignore(said, "has no value")
    return tuple(found)


def calls_in(script: str) -> Iterator[Said]:
    """Yield each call of the tools in a script, with its line. Comments do not count."""
    text = _COMMENT.sub(lambda found: "#" * len(found[0]), script)
    calls = list(_TOOL.finditer(text))
    line, at = 1, 0
    ends = [*(one.start() for one in calls[1:]), len(text)]
    for call, following in zip(calls, ends, strict=False):
        line, at = line + text.count("\n", at, call.start()), call.start()
        end = _END.search(text, call.end(), following)
        name = f"kafka-{call[1]}"
        yield Said((name,), text[call.start() : following if end is None else end.start()], line)


def _script(text: str) -> str:
    """Return the script in ``bash -c "..."``, without its quotation marks; any other command unchanged."""
    if _SHELL.match(text) is None:
        return text
    try:
        words = shlex.split(text)
    except ValueError:
        return text
    at = next((at for at, word in enumerate(words) if word.startswith("-") and word.endswith("c")), len(words))
    return words[at + 1] if at + 1 < len(words) else text


def _calls(text: str) -> Iterator[tuple[str, str]]:
    """Yield each call of a tool: its name, and its arguments."""
    calls = list(_TOOL.finditer(text))
    for call, following in zip(calls, [*(one.start() for one in calls[1:]), len(text)], strict=False):
        end = _END.search(text, call.end(), following)
        yield call[1], text[call.end() : following if end is None else end.start()]


def _words(arguments: str) -> list[str] | None:
    """Return the words of a call, without a quotation mark that ends the script around it; None if they cannot be
    parsed."""
    text = arguments.replace("\\\n", " ").rstrip()
    for one in (text, text[:-1] if text.endswith(('"', "'")) else text):
        try:
            return shlex.split(one)
        except ValueError:
            continue
    return None


def _created(words: list[str], said: Said, accounts: Accounts) -> Component | None:
    name = ""
    settings: dict[str, Given] = {}
    for option, value in _with_values(words):
        if option not in _OPTIONS:
            continue
        if _is_filled_later(value):
            return None
        if option == "--topic":
            name = value
        elif option == "--config":
            key, _, text = value.partition("=")
            if key in settings and settings[key].value != text:
                accounts.reject(said, _TWICE.format(key))
            settings[key] = accounts.take(said, key, text)
        else:
            key = option.removeprefix("--").replace("replication-factor", "replication.factor")
            settings[key] = accounts.take(said, key, value)
    return Component(Role.TOPIC, name, settings) if name else None


def _with_values(words: list[str]) -> Iterator[tuple[str, str]]:
    """Yield options with their values, which follow ``=`` or a space."""
    for at, word in enumerate(words):
        option, equals, value = word.partition("=")
        if option.startswith("--"):
            yield option, value if equals else (words[at + 1] if at + 1 < len(words) else "")
