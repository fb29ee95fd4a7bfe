"""Agents: programs that ship logs and metrics, with their own names for Kafka's settings.

A table (``tables/agents.csv``), read from the top, contains these names. Another table contains the agents' own
defaults, from their sources.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from proofka.model.deployment.dialects.accounts import Accounts
from proofka.model.deployment.dialects.agent_answers import answers_of
from proofka.model.deployment.dialects.component import Component, Role
from proofka.model.deployment.dialects.keys import has_key, own_name
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.dialects.units import in_ms
from proofka.model.deployment.given import Given
from proofka.model.deployment.hiding import shown_value
from proofka.model.deployment.release import JAVA
from proofka.model.deployment.setting import Origin

_TABLES = Path(__file__).with_name("tables")
_TOPIC = re.compile(r"[\w.-]{1,249}")
_GO_DURATION = re.compile(r"([0-9.]+(ns|us|ms|s|m|h))+|0")
_NOTHING = re.compile(r"0[a-z]*")
_UNLESS = "reject unless "
UNSET = "\x00unset"
"""The mark of a value that keeps the library's own default."""


@dataclass(frozen=True)
class _Row:
    setting: str
    key: str
    how: str
    reason: str


@dataclass(frozen=True)
class Agent:
    """One agent. ``name``: its name in the tables. ``like``: the agent whose names and values it shares, if any.

    ``version``: the version of its bundled library, if known. ``lenient``: the agent warns about a setting that the
    library does not know, and continues.
    """

    name: str
    role: Role
    library: str
    like: str = ""
    version: str = ""
    lenient: bool = False

    @property
    def title(self) -> str:
        """The agent's name in messages."""
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
    """Return the client that an agent's settings configure. ``said``: each setting with its name within the agent's
    section.

    ``around``: the other values of the file, by the names that the table of answers uses.
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
            accounts.ignore(one, "has no value")
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
    # Settings that are passed on to the library unchanged come last, and outrank the agent's own names.
    said_by_any_name = {own_name(agent.library, key) for key in passed_on}
    settings = {key: one for key, one in settings.items() if own_name(agent.library, key) not in said_by_any_name}
    settings |= passed_on
    said_by_any_name |= {own_name(agent.library, key) for key in settings}
    for key, value, who in _defaults(agent.like or agent.name):
        if own_name(agent.library, key) not in said_by_any_name:
            settings[key] = accounts.by_framework(key, value, who)
    client = Given("client", agent.library, Origin("rule", f"{agent.title} uses it", file, line))
    version = Given("version", agent.version, Origin("rule", f"{agent.title} contains it", file, line))
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
    """Ignore or reject a setting that the library does not have: rejected if it matters."""
    if row.how.startswith(_UNLESS) and accounts.text(said).lower() in row.how.removeprefix(_UNLESS).split("|"):
        accounts.ignore(said, "has the value that the agent always uses")
    elif row.how.startswith("reject"):
        accounts.reject(said, row.reason)
    else:
        accounts.ignore(said, row.reason)


def _is_of(row: _Row, setting: str) -> bool:
    return fnmatchcase(setting.lower(), row.setting.lower())


def _pass_on(agent: Agent, key: str, said: Said, settings: dict[str, Given], accounts: Accounts) -> None:
    """Take a setting under the library's own name, which follows a prefix."""
    if agent.lenient and not any(has_key(agent.library, role, key) for role in (Role.PRODUCER, Role.CONSUMER)):
        accounts.ignore(said, f"is unknown to {agent.library}; {agent.title} warns and continues")
        return
    settings[key] = accounts.take(said, key)


def _take(row: _Row, said: Said, settings: dict[str, Given], accounts: Accounts) -> None:
    value = _converted(accounts.text(said), row.how)
    if value is None:
        given = shown_value(row.key, accounts.text(said).strip())
        accounts.reject(said, f"{given} is no value of {row.key}; write {_valid(row.how)}")
    elif value == UNSET:
        accounts.ignore(said, "has no effect: the library's own default counts")
    else:
        for key in row.key.split("|"):
            settings[key] = accounts.take(said, key, value)


def _converted(text: str, how: str) -> str | None:
    """Return the value in the library's form; None for an invalid value, ``UNSET`` if the library's default remains."""
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


def _valid(how: str) -> str:
    """Return the values that a conversion takes."""
    how = how.removeprefix("unless 0").strip()
    if "=" in how:
        return " or ".join(pair.partition("=")[0] for pair in how.split("|"))
    return "a duration with its unit, as in 500ms or 5s"


def _whole(text: str) -> str:
    """Return a whole number, which YAML can contain as ``1e+06``."""
    try:
        value = float(text)
        return str(int(value)) if value == int(value) and abs(value) < 2**63 else text
    except (ValueError, OverflowError):
        return text
