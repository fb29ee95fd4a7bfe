"""Edits that make the changes which prevent a violation; each edit is read again before it is offered."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from proofka.checker.cli.editor.checking import Verdicts
from proofka.checker.cli.editor.reading import Reading
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.setting import Setting
from proofka.properties.verdict import Prevention
from proofka.reports.explained import preventions_of

_VALUE_OF_LINE = re.compile(
    r"^(?P<before>\s*(?:- )?[^\s:=#{][^:=#{]*?\s*[:=]\s*)(?P<value>[^#{}\[\]]*?)(?P<after>\s*(?:#.*)?)$"
)
Reader = Callable[[str, str], Reading]
"""A function that reads the text of a document, by its file name and its text."""

MOST_EDITS = 5
"""The largest number of edits that are offered for one property."""


@dataclass(frozen=True)
class Edit:
    """A change of a text that prevents a violation. ``lines``: the new text of changed lines, by number from 0.

    ``added``: lines that come behind the last one.
    """

    title: str
    property: str
    lines: tuple[tuple[int, str], ...]
    added: tuple[str, ...] = ()

    def applied(self, text: str) -> str:
        """Return the text with the edit."""
        lines = text.splitlines()
        for number, line in self.lines:
            lines[number] = line
        return "\n".join([*lines, *self.added]) + "\n"


def edits(name: str, text: str, read: Reader, verdicts: Verdicts, violated: str) -> Iterator[Edit]:
    """Yield the edits of a document that prevent the violation of a property, cheapest first. ``read`` reads its text.

    A text that is read with the edit has the new values, and no problem that was not there before.
    """
    count, reading = 0, read(name, text)
    for deployment in reading.deployments:
        result = verdicts.known(deployment)
        for verdict in () if result is None else result.verdicts:
            if result is None or verdict.property != violated or not verdict.cut_sets:
                continue
            for one in preventions_of(result, violated, verdict.cut_sets[0]):
                edit = _edit(name, text, read, deployment, one) if one.decided and count < MOST_EDITS else None
                if edit is not None:
                    count += 1
                    yield edit


def _edit(name: str, text: str, read: Reader, deployment: Deployment, prevention: Prevention) -> Edit | None:
    """Return the edit that makes a change; None if no edit of this text is known to make it."""
    lines, reading = text.splitlines(), read(name, text)
    wanted = dict(_assignments(prevention.change))
    changed: dict[int, str] = {}
    added: list[str] = []
    for place, value in wanted.items():
        setting = _setting_at(deployment, prevention, place)
        if setting is not None and setting.origin.file == reading.file and setting.origin.line is not None:
            number = setting.origin.line - 1
            line = _with_value(changed.get(number, lines[number]), setting.key, value)
            if line is None:
                return None
            changed[number] = line
        elif name.endswith(".properties"):
            added.append(f"{place.partition('.')[2]}={value}")
        else:
            return None
    edit = Edit(f"Set {prevention.change}", prevention.property, tuple(sorted(changed.items())), tuple(added))
    return edit if _makes(edit, name, text, read, prevention, wanted) else None


def _assignments(change: str) -> Iterator[tuple[str, str]]:
    """Yield the places and values of a change in words: ``producer.acks=all and topic.min.insync.replicas=2``."""
    for one in change.split(" and "):
        place, _, value = one.partition("=")
        yield place, value


def _setting_at(deployment: Deployment, prevention: Prevention, place: str) -> Setting | None:
    """Return the effective setting that a change sets. Behaviour of the application stands under its client."""
    key = place.partition(".")[2]
    named = [one for one in deployment.settings if f"{one.scope}.{one.key}" == place]
    alike = [one for one in deployment.settings if one.key == key and f"{one.scope}.{key}" in prevention.settings]
    return next(iter((*named, *alike)), None)


def _with_value(line: str, key: str, value: str) -> str | None:
    """Return a line with another value for a key; None if the line has a form that is not known."""
    if found := _VALUE_OF_LINE.match(line):
        return f"{found['before']}{value}{found['after']}"
    inline = re.compile(rf"(?P<before>(?<![\w.]){re.escape(key)}\s*:\s*)[^,}}\s]+")
    return inline.sub(rf"\g<before>{value}", line) if len(inline.findall(line)) == 1 else None


def _makes(edit: Edit, name: str, text: str, read: Reader, prevention: Prevention, wanted: dict[str, str]) -> bool:
    """Tell whether a text with the edit has the wanted values, and no further problem."""
    before, after = read(name, text), read(name, edit.applied(text))
    if len(after.deployments) != len(before.deployments) or len(after.problems) > len(before.problems):
        return False
    effective = {f"{one.scope}.{one.key}": one.value for each in after.deployments for one in each.settings}
    keys = {place.partition(".")[2]: value for place, value in wanted.items()}
    set_now = {name: value for name, value in effective.items() if name in prevention.settings}
    return bool(set_now) and all(keys.get(name.partition(".")[2], value) == value for name, value in set_now.items())
