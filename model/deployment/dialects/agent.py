"""Agents: programs that ship logs and metrics, and call Kafka's settings by names of their own.

Those names are a table (``tables/agents.csv``), read top down; what an agent sets where nobody says otherwise is
another one, read from the agents' own sources.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from model.deployment.dialects.accounts import Accounts
from model.deployment.dialects.agent_answers import answers_of
from model.deployment.dialects.component import Component, Role
from model.deployment.dialects.keys import has_key, own_name
from model.deployment.dialects.said import Said
from model.deployment.dialects.units import in_ms
from model.deployment.given import Given
from model.deployment.release import JAVA
from model.deployment.setting import Origin

_TABLES = Path(__file__).with_name("tables")
_TOPIC = re.compile(r"[\w.-]{1,249}")
_GO_DURATION = re.compile(r"([0-9.]+(ns|us|ms|s|m|h))+|0")
_NOTHING = re.compile(r"0[a-z]*")
_UNLESS = "reject unless "
UNSET = "\x00unset"
"""Stands for a value that leaves the library's own."""


@dataclass(frozen=True)
class _Row:
    setting: str
    key: str
    how: str
    reason: str


@dataclass(frozen=True)
class Agent:
    """``name``: in the tables; ``like``: the agent whose names and values it has, if it is not its own.

    ``version``: of the library that it brings along, if that is known. ``lenient``: of a setting that the library does
    not know it says so, and goes on.
    """

    name: str
    role: Role
    library: str
    like: str = ""
    version: str = ""
    lenient: bool = False

    @property
    def title(self) -> str:
        """Its name for a reader."""
        return self.name.removesuffix("-consumer")


@cache
def _rows(agent: str) -> tuple[_Row, ...]:
    with (_TABLES / "agents.csv").open(encoding="utf-8", newline="") as table:
        return tuple(
            _Row(row["setting"], row["key"], row["how"], row["reason"])
            for row in csv.DictReader(table)
            if row["agent"] == agent
        )


@cache
def _defaults(agent: str) -> tuple[tuple[str, str, str], ...]:
    with (_TABLES / "agents_defaults.csv").open(encoding="utf-8", newline="") as table:
        return tuple((row["key"], row["value"], row["who"]) for row in csv.DictReader(table) if row["agent"] == agent)


def component_of(
    agent: Agent,
    name: str,
    said: Iterable[tuple[str, Said]],
    accounts: Accounts,
    file: str,
    line: int,
    around: Mapping[str, str] | None = None,
) -> Component:
    """What an agent's settings, each with its name within the agent's section, make its client.

    ``around``: what else the file says, by names that the table of answers asks for.
    """
    settings: dict[str, Given] = {}
    passed_on: dict[str, Given] = {}
    topics: list[str] = []
    texts: dict[str, str] = {}
    for setting, one in said:
        texts[setting.lower()] = accounts.text(one)
        row = next((row for row in _rows(agent.like or agent.name) if _is_of(row, setting)), None)
        if row is None:
            accounts.ignore(one)
        elif one.null:
            accounts.ignore(one, "says nothing")
        elif row.how == "topic":
            names = [topic.strip(" \"'") for topic in accounts.text(one).split(",")]
            topics += [topic for topic in names if _TOPIC.fullmatch(topic)]
            accounts.ignore(one, "names topics")
        elif not row.key:
            _leave(row, one, accounts)
        elif row.key == "*":
            _pass_on(agent, setting[len(row.setting) - 1 :], one, passed_on, accounts)
        else:
            _take(row, one, settings, accounts)
    # What is passed on to the library as it is comes last, and outranks the agent's own names.
    said_by_any_name = {own_name(agent.library, key) for key in passed_on}
    settings = {key: one for key, one in settings.items() if own_name(agent.library, key) not in said_by_any_name}
    settings |= passed_on
    said_by_any_name |= {own_name(agent.library, key) for key in settings}
    for key, value, who in _defaults(agent.like or agent.name):
        if own_name(agent.library, key) not in said_by_any_name:
            settings[key] = accounts.by_framework(key, value, who)
    client = Given("client", agent.library, Origin("rule", f"{agent.title} uses it", file, line))
    version = Given("version", agent.version, Origin("rule", f"{agent.title} brings it along", file, line))
    return Component(
        agent.role,
        name,
        settings,
        tuple(dict.fromkeys(topics)),
        client=None if agent.library == JAVA else client,
        version=version if agent.version else None,
        application=answers_of(agent.name, texts, around or {}),
    )


def _leave(row: _Row, said: Said, accounts: Accounts) -> None:
    """A setting that is nothing to the library: it does not matter, or it would, and cannot be used."""
    if row.how.startswith(_UNLESS) and accounts.text(said).lower() in row.how.removeprefix(_UNLESS).split("|"):
        accounts.ignore(said, "says what holds anyhow")
    elif row.how.startswith("reject"):
        accounts.reject(said, row.reason)
    else:
        accounts.ignore(said, row.reason)


def _is_of(row: _Row, setting: str) -> bool:
    return fnmatchcase(setting.lower(), row.setting.lower())


def _pass_on(agent: Agent, key: str, said: Said, settings: dict[str, Given], accounts: Accounts) -> None:
    """A setting under the library's own name, which stands behind a prefix."""
    if agent.lenient and not any(has_key(agent.library, role, key) for role in (Role.PRODUCER, Role.CONSUMER)):
        accounts.ignore(said, f"is unknown to {agent.library}; {agent.title} says so, and goes on")
        return
    settings[key] = accounts.take(said, key)


def _take(row: _Row, said: Said, settings: dict[str, Given], accounts: Accounts) -> None:
    value = _converted(accounts.text(said), row.how)
    if value is None:
        accounts.reject(said, f"is no value that the agent takes for {row.key}")
    elif value == UNSET:
        accounts.ignore(said, "says nothing: the library's own value counts")
    else:
        for key in row.key.split("|"):
            settings[key] = accounts.take(said, key, value)


def _converted(text: str, how: str) -> str | None:
    """The value as the library says it; None for none, ``UNSET`` where it leaves the library's own."""
    text = text.strip("\"'")
    if how.startswith("unless 0"):
        return UNSET if _NOTHING.fullmatch(text) else _converted(text, how.removeprefix("unless 0").strip())
    if how == "seconds" and text.isdigit():
        return f"{text}s"
    if how in ("seconds", "go"):
        return text if _GO_DURATION.fullmatch(text) or "${" in text else None
    if how.startswith("negative="):
        return how.partition("=")[2] if text.startswith("-") else text
    if how == "seconds to ms":
        return in_ms(f"{text}s" if text.isdigit() else text)
    if how == "number":
        return _whole(text)
    if "=" in how:
        words = dict(pair.split("=", 1) for pair in how.split("|"))
        return text if "${" in text else words.get(text.lower())
    return text


def _whole(text: str) -> str:
    """A number that YAML may have written as ``1e+06``."""
    try:
        value = float(text)
        return str(int(value)) if value == int(value) and abs(value) < 2**63 else text
    except (ValueError, OverflowError):
        return text
