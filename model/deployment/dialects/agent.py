"""Agents: programs that ship logs and metrics, and call Kafka's settings by names of their own.

Those names are a table (``tables/agents.csv``), read top down; what an agent sets where nobody says otherwise is
another one.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from model.deployment.dialects.accounts import Accounts
from model.deployment.dialects.component import Component, Role
from model.deployment.dialects.keys import own_name
from model.deployment.dialects.said import Said
from model.deployment.dialects.units import in_ms
from model.deployment.given import Given
from model.deployment.release import JAVA
from model.deployment.setting import Origin

_TABLES = Path(__file__).with_name("tables")
_TOPIC = re.compile(r"[\w.-]{1,249}")
_GO_DURATION = re.compile(r"([0-9.]+(ns|us|ms|s|m|h))+|0")


@dataclass(frozen=True)
class _Row:
    setting: str
    key: str
    how: str
    reason: str


@dataclass(frozen=True)
class Agent:
    """``name``: in the tables. ``answers``: what it does by itself, as it is documented."""

    name: str
    role: Role
    library: str
    answers: Mapping[str, str] = field(default_factory=dict)


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
    agent: Agent, name: str, said: Iterable[tuple[str, Said]], accounts: Accounts, file: str, line: int
) -> Component:
    """What an agent's settings, each with its name within the agent's section, make its client."""
    settings: dict[str, Given] = {}
    topics: list[str] = []
    for setting, one in said:
        row = next((row for row in _rows(agent.name) if fnmatchcase(setting.lower(), row.setting.lower())), None)
        if row is None:
            accounts.ignore(one)
        elif one.null:
            accounts.ignore(one, "says nothing")
        elif row.how == "topic":
            topics += [topic.strip() for topic in accounts.text(one).split(",") if _TOPIC.fullmatch(topic.strip())]
            accounts.ignore(one, "names topics")
        elif not row.key:
            (accounts.reject if row.how == "reject" else accounts.ignore)(one, row.reason)
        else:
            _take(row, setting, one, settings, accounts)
    said_by_any_name = {own_name(agent.library, key) for key in settings}
    for key, value, who in _defaults(agent.name):
        if own_name(agent.library, key) not in said_by_any_name:
            settings[key] = accounts.by_framework(key, value, who)
    client = Given("client", agent.library, Origin("rule", f"{agent.name.partition('-')[0]} uses it", file, line))
    answers = {key: Given(key, value, Origin("rule", agent.name)) for key, value in agent.answers.items()}
    return Component(
        agent.role,
        name,
        settings,
        tuple(dict.fromkeys(topics)),
        client=None if agent.library == JAVA else client,
        application=answers,
    )


def _take(row: _Row, setting: str, said: Said, settings: dict[str, Given], accounts: Accounts) -> None:
    value = _converted(accounts.text(said), row.how)
    if value is None:
        accounts.reject(said, f"is no value that the agent takes for {row.key}")
        return
    keys = row.key.split("|")
    if row.key == "*":
        # What follows the prefix is the library's own name.
        keys = [setting[len(row.setting) - 1 :]]
    for key in keys:
        settings[key] = accounts.take(said, key, value)


def _converted(text: str, how: str) -> str | None:
    """The value as the library says it; None for none."""
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
