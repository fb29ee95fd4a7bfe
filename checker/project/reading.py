"""The reader of a project file, which checks each key and value against the table of keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from pathlib import Path, PurePosixPath

from proofka.checker.project.errors import ProjectError
from proofka.checker.project.keys import Key, Kind, choices_of, keys_of, needed_of
from proofka.checker.project.project import Entry, Project
from proofka.checker.project.rate_values import problem_of, problem_together, rates_of
from proofka.model.deployment import yaml_tree
from proofka.model.deployment.budget import ANY
from proofka.model.deployment.durations import ENVIRONMENT, read_range
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.explored import most_of
from proofka.model.deployment.given import Given
from proofka.model.deployment.hiding import printable, shown_key
from proofka.model.deployment.setting import Origin
from proofka.model.deployment.yaml_reader import read_tree
from proofka.model.faults import ONCE, Fault
from proofka.properties.accepted import Acceptance
from proofka.properties.rates import Rates

TOTAL = "total"
ALIAS = "aliases (*)"
"""The text of the error about a value that begins with an asterisk."""
_MOST_TOTAL = 20
RATES = ("rate", "cause")
"""The choices of keys whose values are rates."""


@dataclass(frozen=True)
class Said:
    """A single value with its line."""

    text: str
    line: int


Value = Said | tuple["Value", ...] | Mapping[str, "Value"]
Section = Mapping[str, Value]


def read_project(file: Path) -> Project:
    """Read a project file. Raise ProjectError for the first error, with the others attached."""
    return _project(_section(_tree(file), file, ""), file)


def rates_in(file: Path) -> Rates | None:
    """Return the rates of a file of rates, which has the keys of ``rates:``, or of a project file; None without rates.

    Raise ProjectError as :func:`read_project`.
    """
    tree = _tree(file)
    if isinstance(tree, yaml_tree.Mapping) and any(entry.key == "pipelines" for entry in tree.entries):
        return read_project(file).rates
    return _rates(_section(tree, file, "rates"), file)


def _tree(file: Path) -> yaml_tree.Node:
    try:
        return read_tree(file)
    except DeploymentError as error:
        quoted = "; put a pattern that begins with * into quotes" if ALIAS in error.message else ""
        raise ProjectError("W01", f"{error.message}{quoted}", file=str(file), line=error.line, key=error.key) from None


def _section(tree: yaml_tree.Node, file: Path, path: str) -> Section:
    reader = _Reader(str(file))
    section = reader.section(tree, path, tree.line)
    if reader.problems:
        first, *others = reader.problems
        first.others = tuple(others)
        raise first
    return section


class _Reader:
    """A reader that collects errors and continues."""

    def __init__(self, file: str) -> None:
        self._file = file
        self.problems: list[ProjectError] = []
        self._budgets: frozenset[str] = frozenset()

    def section(self, node: yaml_tree.Node, path: str, line: int) -> Section:
        """Return the values of a section; those with errors are left out."""
        if not isinstance(node, yaml_tree.Mapping):
            what = f"must hold keys: {', '.join(keys_of(path))}"
            self._wrong("W04" if path else "W01", what, node.line, path)
            return {}
        known = keys_of(path)
        if not path:
            self._budgets = frozenset(_names_in(node, "budgets"))
        found: dict[str, Value] = {}
        for entry in node.entries:
            key = known.get(entry.key)
            if key is None:
                self._wrong("W02", _unknown("key", entry.key, known), entry.line, _within(path, entry.key))
                continue
            value = self._value(key, entry.node, entry.line)
            if value is not None:
                found[key.name] = value
        given = {entry.key for entry in node.entries}
        for key in known.values():
            if key.needed and key.name not in given:
                self._wrong("W03", f"is missing; {_lower(key.what)}", line, _within(path, key.name))
        return found

    def _value(self, key: Key, node: yaml_tree.Node, line: int) -> Value | None:
        match key.kind:
            case Kind.SECTIONS:
                return self._sections(key, node, line)
            case Kind.SECTION:
                return self.section(node, key.path, line)
            case Kind.NAMED:
                return self._named(key, node)
            case Kind.VALUES:
                return self._values(key, node, key.path)
            case Kind.PATTERNS | Kind.CHOICES:
                return self._list(key, node)
            case _:
                return self._single(key, node)

    def _sections(self, key: Key, node: yaml_tree.Node, line: int) -> Value | None:
        if not isinstance(node, yaml_tree.Sequence) or not node.items:
            self._wrong("W04", "must be a list with a dash before each entry", line, key.path)
            return None
        first = next(iter(keys_of(key.path).values()))
        is_short = sum(one.needed for one in keys_of(key.path).values()) == 1
        found: list[Value] = []
        for item in node.items:
            if isinstance(item, yaml_tree.Scalar) and is_short:
                value = self._single(first, item)
                found += [] if value is None else [{first.name: value}]
            else:
                found.append(self.section(item, key.path, item.line))
        return tuple(found)

    def _named(self, key: Key, node: yaml_tree.Node) -> Value | None:
        if not isinstance(node, yaml_tree.Mapping):
            self._wrong("W04", "must hold names, each with keys below the name", node.line, key.path)
            return None
        of_each, names = keys_of(key.path)["*"], choices_of(key)
        found: dict[str, Value] = {}
        for entry in node.entries:
            path = f"{key.path}.{entry.key}"
            if names and entry.key not in names:
                self._wrong("W02", _unknown("key", entry.key, names), entry.line, path)
                continue
            values = self._values(of_each, entry.node, path)
            if values is not None:
                found[entry.key] = values
                self._check_together(of_each, values, entry, path)
        return found

    def _check_together(self, key: Key, values: Mapping[str, Value], entry: yaml_tree.Entry, path: str) -> None:
        """Check the values below a name that the user chose. ``entry``: the name with what stands below it."""
        given = {one.key for one in entry.node.entries} if isinstance(entry.node, yaml_tree.Mapping) else set()
        lacking = [name for name in needed_of(key) if name not in given]
        if lacking == [TOTAL]:
            what = "names no total; add the largest number of faults altogether, as in total: 2"
            self._wrong("W03", what, entry.line, path)
        elif lacking:
            self._wrong("W03", f"lacks {', '.join(lacking)}; docs/risk.md has an example", entry.line, path)
        elif key.choices in RATES and set(needed_of(key)) <= values.keys():
            texts = {name: one.text for name, one in values.items() if isinstance(one, Said)}
            if problem := problem_together(key.choices, entry.key, texts):
                self._wrong("W06", problem, entry.line, path)

    def _values(self, key: Key, node: yaml_tree.Node, path: str) -> Mapping[str, Value] | None:
        if not isinstance(node, yaml_tree.Mapping):
            self._wrong("W04", "must hold keys with a value each", node.line, path)
            return None
        known = choices_of(key)
        found: dict[str, Value] = {}
        for entry in node.entries:
            place = f"{path}.{entry.key}"
            if entry.key not in known:
                self._wrong("W02", _unknown("key", entry.key, known), entry.line, place)
            elif not isinstance(entry.node, yaml_tree.Scalar) or entry.node.null:
                self._wrong("W04", "must have a single value", entry.line, place)
            elif problem := _problem_of(key, entry.key, entry.node.text, known[entry.key]):
                code = "W05" if known[entry.key] else "W06"
                self._wrong(code, problem, entry.node.line, place)
            else:
                found[entry.key] = Said(entry.node.text.strip(), entry.line)
        return found

    def _list(self, key: Key, node: yaml_tree.Node) -> Value | None:
        if not isinstance(node, yaml_tree.Sequence) or not node.items:
            self._wrong("W04", "must be a list with a dash before each value", node.line, key.path)
            return None
        found: list[Value] = []
        for item in node.items:
            value = self._single(key, item)
            if value is not None and any(isinstance(one, Said) and one.text == value.text for one in found):
                self._wrong("W04", f"lists {printable(value.text)} twice; keep one", item.line, key.path)
            elif value is not None:
                found.append(value)
        return tuple(found)

    def _single(self, key: Key, node: yaml_tree.Node) -> Said | None:
        if not isinstance(node, yaml_tree.Scalar) or node.null:
            self._wrong("W04", "must be a single value", node.line, key.path)
            return None
        said = Said(node.text.strip(), node.line)
        if wrong := self._problem(key, said.text):
            self._wrong(*wrong, node.line, key.path)
            return None
        return said

    def _problem(self, key: Key, text: str) -> tuple[str, str] | None:
        """Return the code and the sentence for a wrong value."""
        known = choices_of(key)
        if known and text not in known:
            return "W05", _unknown("value", text, known)
        if not text:
            return "W06", "is empty; write a value, or remove the key"
        if key.kind is Kind.BUDGET and text not in self._budgets:
            return "W07", _unknown("budget", text, dict.fromkeys(sorted(self._budgets))) + "; budgets: defines budgets"
        if key.kind is Kind.DATE and date_of(text) is None:
            return "W06", "must be a day, as in 2027-01-31"
        if key.kind in (Kind.PATTERN, Kind.PATTERNS) and _leads_out(text):
            return "W09", "leads out of the folder of this file; move this file up, or name a path below its folder"
        return None

    def _wrong(self, code: str, message: str, line: int, key: str) -> None:
        shown = ".".join(map(shown_key, key.split("."))) if key else None
        self.problems.append(ProjectError(code, message, file=self._file, line=line, key=shown))


def date_of(text: str) -> date | None:
    """Return a day written as in 2027-01-31; None for other texts."""
    try:
        found = date.fromisoformat(text)
    except ValueError:
        return None
    return found if found.isoformat() == text else None


def _project(section: Section, file: Path) -> Project:
    budgets = _mapping(section, "budgets")
    entries = tuple(_entry(one, section, budgets) for one in _sections(section, "pipelines"))
    return Project(
        file,
        entries,
        _texts(section, "exclude"),
        tuple(_acceptance(one, str(file)) for one in _sections(section, "accepted")),
        _rates(_mapping(section, "rates"), file) if "rates" in section else None,
    )


def _rates(section: Section, file: Path) -> Rates:
    faults, causes = _mapping(section, "faults"), _mapping(section, "causes")
    return rates_of(
        {kind: _values(faults, kind) for kind in faults}, {name: _values(causes, name) for name in causes}, str(file)
    )


def _entry(own: Section, whole: Section, budgets: Section) -> Entry:
    """Return an entry, with what the whole file says where the entry says nothing."""
    required = own if "profile" in own or "require" in own else whole
    budget = _text(own, "budget") or _text(whole, "budget")
    assume = {**_values(whole, "assume"), **_values(own, "assume")}
    path = own["path"]
    assert isinstance(path, Said)
    return Entry(
        path.text,
        path.line,
        _text(own, "kafka") or _text(whole, "kafka"),
        _text(required, "profile"),
        _texts(required, "require"),
        tuple(f"{key}={value}" for key, value in assume.items()),
        _values(budgets, budget) if budget is not None else {},
    )


def _acceptance(one: Section, file: str) -> Acceptance:
    name, until = one["property"], one["until"]
    assert isinstance(name, Said)
    assert isinstance(until, Said)
    day = date.fromisoformat(until.text)
    return Acceptance(name.text, day, _text(one, "reason") or "", file, name.line, _texts(one, "pipelines"))


def _sections(section: Section, key: str) -> Iterator[Section]:
    value = section.get(key, ())
    yield from (one for one in value if isinstance(one, Mapping)) if isinstance(value, tuple) else ()


def _mapping(section: Section, key: str) -> Section:
    value = section.get(key, {})
    return value if isinstance(value, Mapping) else {}


def _values(section: Section, key: str) -> dict[str, str]:
    return {name: one.text for name, one in _mapping(section, key).items() if isinstance(one, Said)}


def _text(section: Section, key: str) -> str | None:
    value = section.get(key)
    return value.text if isinstance(value, Said) else None


def _texts(section: Section, key: str) -> tuple[str, ...]:
    value = section.get(key, ())
    return tuple(one.text for one in value if isinstance(one, Said)) if isinstance(value, tuple) else ()


def _names_in(node: yaml_tree.Mapping, key: str) -> Iterator[str]:
    for entry in node.entries:
        if entry.key == key and isinstance(entry.node, yaml_tree.Mapping):
            yield from (one.key for one in entry.node.entries)


def _problem_of(key: Key, name: str, text: str, values: tuple[str, ...]) -> str | None:
    """Return the sentence for a wrong value of an assumption or of a fault."""
    if values and text.strip() not in values:
        return _unknown("value", text, dict.fromkeys(values))
    if key.choices == "faults":
        return _problem_of_faults(name, text.strip())
    if key.choices in RATES:
        return problem_of(name, text.strip())
    if name in ENVIRONMENT:
        try:
            read_range(Given(name, text, Origin("file")))
        except DeploymentError as error:
            return error.message
    return None


def _problem_of_faults(name: str, text: str) -> str | None:
    most = _MOST_TOTAL if name == TOTAL else most_of(Fault(name))
    is_once = name != TOTAL and Fault(name) in ONCE
    if text.isascii() and text.isdigit() and len(text) <= 6 and int(text) <= most:
        return None
    if text == ANY and not is_once:
        return None

    return f"must be a whole number from 0 to {most}{'' if is_once else ', or any'}"


def _unknown(noun: str, text: str, known: Mapping[str, object]) -> str:
    """Return the sentence for a text that is none of the known ones, with the nearest, or with all of them."""
    near = get_close_matches(text, known, n=1, cutoff=0.6)
    if near:
        return f"unknown {noun} {printable(text)}; did you mean {near[0]}?"
    return f"unknown {noun} {printable(text)}; choose from {', '.join(known)}" if known else f"unknown {noun} {text}"


def _leads_out(pattern: str) -> bool:
    path = PurePosixPath(pattern)
    return path.is_absolute() or ".." in path.parts


def _within(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:].rstrip(".")
