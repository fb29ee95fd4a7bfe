"""The fate of each value of the found files: used, ignored or rejected, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from proofka.model.deployment.dialects.component import Component, Found, Left, Role
from proofka.model.deployment.dialects.finding import Findings
from proofka.model.deployment.dialects.judging import Judged, judge
from proofka.model.deployment.dialects.pairing import Pipeline, Placed
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.given import Given, library_of
from proofka.model.deployment.hiding import shown_value
from proofka.model.deployment.must_know import must_know
from proofka.model.deployment.reasons import find_reason
from proofka.model.deployment.setting import Origin, Setting

CLIENT = "client"
"""The setting of a deployment that names a client's library. Its place can be that of the value that implies the
library."""


class Fate(StrEnum):
    """The possible fates of a value."""

    USED = "used"
    IGNORED = "ignored"
    REJECTED = "rejected"


@dataclass(frozen=True)
class Entry:
    """One value of a file: its line, its name there, and its fate, in words."""

    line: int
    name: str
    fate: Fate
    what: str


@dataclass(frozen=True)
class Account:
    """The values of one file, in the order of its lines."""

    found: Found
    entries: tuple[Entry, ...]

    def count(self, fate: Fate) -> int:
        """Return the number of values with this fate."""
        return sum(entry.fate is fate for entry in self.entries)


def accounts_of(findings: Findings, judged: Sequence[Judged], kafka: str | None = None) -> tuple[Account, ...]:
    """Return the account of each file. ``judged``: the pipelines. ``kafka``: the release if no file gives it.

    A value can be in a component of another file, with which its own file is read.
    """
    entries: dict[str, dict[tuple[int, str], Entry]] = {}
    for found in findings.found:
        for component in found.components:
            in_pipelines = [one for one in judged if _has(one.pipeline, component)]
            for one in in_pipelines or (judge(_alone(component, found.file), kafka),):
                for file, entry in _of_component(component, one):
                    of_file = entries.setdefault(file or found.file, {})
                    known = of_file.get((entry.line, entry.name))
                    if known is None or _weight(entry) > _weight(known):
                        of_file[entry.line, entry.name] = entry
    for found in findings.found:
        for fate, ones in ((Fate.IGNORED, found.ignored), (Fate.REJECTED, found.rejected)):
            for left in ones:
                entry = _of_left(left, fate)
                of_file = entries.setdefault(left.given.origin.file or found.file, {})
                of_file.setdefault((entry.line, entry.name), entry)
    return tuple(_account(found, entries.get(found.file, {})) for found in findings.found)


def _account(found: Found, entries: Mapping[tuple[int, str], Entry]) -> Account:
    return Account(found, tuple(sorted(entries.values(), key=lambda entry: (entry.line, entry.name))))


def _weight(entry: Entry) -> int:
    """Return the weight of an entry: of a value that several components share, the most informative fate is
    reported."""
    return (Fate.IGNORED, Fate.USED, Fate.REJECTED).index(entry.fate)


def _has(pipeline: Pipeline, component: Component) -> bool:
    members = (pipeline.topic, pipeline.brokers, pipeline.producer, pipeline.consumer)
    return any(one is not None and one.component is component for one in members)


def _alone(component: Component, file: str) -> Pipeline:
    placed = Placed(component, file)
    members = {
        Role.TOPIC: "topic",
        Role.BROKER: "brokers",
        Role.PRODUCER: "producer",
        Role.CONSUMER: "consumer",
    }
    rest = dict.fromkeys(members.values())
    return Pipeline(component.name, **{**rest, members[component.role]: placed})


def _of_left(left: Left, fate: Fate) -> Entry:
    return Entry(left.given.origin.line or 0, left.given.key, fate, left.reason)


def _of_component(component: Component, judged: Judged) -> Iterator[tuple[str | None, Entry]]:
    """Yield the fate of each value of a component, with the value's file."""
    for given in component.settings.values():
        if given.origin.kind == "file":
            yield given.origin.file, _of_setting(component, given, judged)
    others = (component.client, component.version, component.kafka, component.brokers)
    for given in (*component.application.values(), *(one for one in others if one is not None)):
        if given.origin.kind == "file":
            what = f"{component.name or component.role}: {given.key}={given.value}"
            problem = next((one for one in judged.problems if _is_about(one, given)), None)
            fate, said = (Fate.USED, what) if problem is None else (Fate.REJECTED, problem.message)
            yield given.origin.file, Entry(_line(given), _name(given), fate, said)


def _of_setting(component: Component, given: Given, judged: Judged) -> Entry:
    line, name = _line(given), _name(given)
    said = f"{component.name or component.role}: {given.key}={shown_value(given.key, given.value.strip())}"
    problem = next((one for one in judged.problems if _is_about(one, given)), None)
    if problem is not None:
        return Entry(line, name, Fate.REJECTED, problem.message)
    if judged.rest is None:
        # The error belongs to no value, or to another: this value is not to blame.
        reason = find_reason(component.role, given.key) or find_reason(component.role, given.key.replace("_", "."))
        if reason is not None and given.key not in must_know(component.role, library_of(component.client)):
            return Entry(line, name, Fate.IGNORED, reason)
        return Entry(line, name, Fate.USED, f"{said} (its pipeline cannot be built)")
    # A line can contain several values, and a setting can have another name than the value that it came from.
    here = sorted(
        (one for one in judged.rest.settings if _is_at(one.origin, given.origin) and one.key != CLIENT),
        key=_is_other(given),
    )
    if not here or here[0].key != given.key:
        for ignored in judged.rest.ignored:
            if ignored.key == given.key and _is_at(ignored.origin, given.origin):
                return Entry(line, name, Fate.IGNORED, ignored.reason)
    for setting in here[:1]:
        changed = "" if setting.origin.kind == "file" else f" ({setting.key}={setting.value}: {setting.origin.detail})"
        return Entry(line, name, Fate.USED, said + changed)
    return Entry(line, name, Fate.IGNORED, "another value takes precedence, or no property depends on it")


def _is_other(given: Given) -> Callable[[Setting], bool]:
    return lambda setting: setting.key != given.key


def _is_about(problem: DeploymentError, given: Given) -> bool:
    here = (problem.file, problem.line) == (given.origin.file, given.origin.line) and problem.line is not None
    return here and problem.key in (None, given.key)


def _is_at(one: Origin, other: Origin) -> bool:
    return (one.file, one.line) == (other.file, other.line) and one.line is not None


def _line(given: Given) -> int:
    return given.origin.line or 0


def _name(given: Given) -> str:
    return given.origin.detail or given.key


def rejected(accounts: Iterable[Account]) -> tuple[Entry, ...]:
    """Return all rejected values of all files."""
    return tuple(entry for account in accounts for entry in account.entries if entry.fate is Fate.REJECTED)
