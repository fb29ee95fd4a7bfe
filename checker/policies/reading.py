"""The reader of policy files: policies of Proofka and of other products in YAML, and files in CEL and Rego."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TypeVar

from proofka.checker.policies.cel import read_cel
from proofka.checker.policies.errors import PolicyError, PolicyFileError
from proofka.checker.policies.expression import TRUE, Expression, Not
from proofka.checker.policies.manifests import kind_of, read_manifest
from proofka.checker.policies.places import Place, in_yaml
from proofka.checker.policies.policy import Given, Policy, Rule
from proofka.checker.policies.rego import read_rego
from proofka.checker.policies.seen import View
from proofka.checker.policies.valid_values import check_values_exist
from proofka.checker.policies.words import read_words
from proofka.model.deployment import yaml_tree
from proofka.model.deployment.hiding import printable
from proofka.model.deployment.known_properties import known_properties
from proofka.model.deployment.source import decode_utf8, read_bytes

KEYS = ("policy", "property", "matrix", "given", "sees", "rules")
"""The keys of a policy."""

LANGUAGES: Mapping[str, Callable[[str, str, Place | None], Expression]] = {
    "allow": read_words,
    "deny": lambda text, file, place: Not(read_words(text, file, place)),
    "cel": read_cel,
    "rego": read_rego,
}
"""The keys with which a rule gives its condition, with the reader of each."""

OF_A_RULE = ("name", "says", "property", *LANGUAGES)
"""The keys of a rule."""

ENDINGS = {".cel": "cel", ".rego": "rego"}
"""The languages of files that hold one rule alone."""

_YAML = (".yaml", ".yml")

Found = TypeVar("Found")


def read_policy(path: Path) -> Policy:
    """Read a policy file.

    Raise DeploymentError or PolicyError for a file whose rules cannot be decided at all; the error has all others
    of the file beside it. An error about one rule is a problem of the policy, whose other rules stay.
    """
    if path.suffix in ENDINGS:
        return _single(path, ENDINGS[path.suffix])
    if path.suffix not in _YAML:
        raise PolicyFileError("is no policy: a policy is a file .yaml, .cel or .rego", file=str(path))
    source = decode_utf8(read_bytes(path), path)
    root = yaml_tree.parse_yaml(source, str(path))
    kind = kind_of(root)
    if kind is not None:
        return read_manifest(root, kind, str(path), path.stem, source)
    return _Reader(path, source).policy(root)


def _single(path: Path, language: str) -> Policy:
    text = decode_utf8(read_bytes(path), path)
    rules, problems = [], []
    try:
        allows = LANGUAGES[language](text, str(path), None)
        check_values_exist(allows, str(path))
        rules.append(Rule(path.stem, " ".join(text.split()), allows))
    except PolicyError as error:
        problems.append(error)
    return Policy(path.stem, str(path), tuple(rules), problems=tuple(problems), can_name_property=False)


class _Reader:
    """A reader that collects the errors of rules and continues."""

    def __init__(self, path: Path, source: str) -> None:
        self._path = path
        self._source = source
        self._of_all: list[PolicyError] = []
        self._problems: list[PolicyError] = []

    def policy(self, root: yaml_tree.Node) -> Policy:
        entries = self._entries(root, f"is no policy; a policy has the keys {', '.join(KEYS)}")
        found = {entry.key: entry for entry in entries}
        self._of_all += [
            self._error(_unknown("key", entry.key, KEYS), entry.line) for entry in entries if entry.key not in KEYS
        ]
        if "rules" not in found:
            raise self._error("has no rules; add rules: with a dash before each rule", root.line)
        rules = found["rules"]
        if not isinstance(rules.node, yaml_tree.Sequence) or not rules.node.items:
            raise self._error("rules: must be a list with a dash before each rule", rules.line)
        name = self._of_head(found, "policy", self._text) or self._path.stem
        said = self._of_head(found, "matrix", self._text)
        matrix = None if said is None else self._path.parent / said
        view = self._of_head(found, "sees", self._view) or View.EFFECTIVE
        prop = self._of_head(found, "property", self._property)
        given = self._of_head(found, "given", self._given)
        read = tuple(rule for node in rules.node.items if (rule := self._rule_or_problem(node)) is not None)
        if not self._of_all:
            self._check_names(read)
            return Policy(name, str(self._path), read, prop, matrix, view, given, tuple(self._problems))
        first, *others = self._of_all
        first.further = (*others, *self._problems)
        raise first

    def _of_head(
        self, found: Mapping[str, yaml_tree.Entry], key: str, read: Callable[[yaml_tree.Entry], Found]
    ) -> Found | None:
        """Return the value of a key of the policy; None if it is not given, or wrong, which is noted."""
        try:
            return read(found[key]) if key in found else None
        except PolicyError as error:
            self._of_all.append(error)
            return None

    def _view(self, entry: yaml_tree.Entry) -> View:
        said = self._text(entry)
        if said not in tuple(View):
            raise self._error(_unknown("value of sees", said, tuple(View)), entry.line)
        return View(said)

    def _given(self, entry: yaml_tree.Entry) -> Given:
        text = self._text(entry)
        assert isinstance(entry.node, yaml_tree.Scalar), "a text is a single value"
        condition = read_words(entry.node.text, str(self._path), in_yaml(entry.node, self._source))
        check_values_exist(condition, str(self._path))
        return Given(" ".join(text.split()), condition)

    def _rule_or_problem(self, node: yaml_tree.Node) -> Rule | None:
        try:
            return self._rule(node)
        except PolicyError as error:
            self._problems.append(error)
            return None

    def _rule(self, node: yaml_tree.Node) -> Rule | None:
        """Return a rule; None if its errors are noted. Raise PolicyError."""
        if isinstance(node, yaml_tree.Scalar):
            return self._read("allow", node, Rule("", "", TRUE, line=node.line))
        entries = {entry.key: entry for entry in self._entries(node, "a rule is a condition, or has keys")}
        for key, entry in entries.items():
            if key not in OF_A_RULE:
                raise self._error(_unknown("key of a rule", key, OF_A_RULE), entry.line)
        languages = [key for key in LANGUAGES if key in entries]
        if len(languages) != 1:
            what = f"a rule has exactly one of the keys {', '.join(LANGUAGES)}"
            raise self._error(what, node.line)
        (language,) = languages
        condition = entries[language].node
        if not isinstance(condition, yaml_tree.Scalar) or not condition.text.strip():
            raise self._error(f"{language}: must be a condition", entries[language].line)
        name = self._text(entries["name"]) if "name" in entries else ""
        try:
            prop = self._property(entries["property"]) if "property" in entries else None
        except PolicyError as error:
            self._problems.append(error)  # the condition can have an error of its own
            self._read(language, condition, Rule(name, "", TRUE, line=node.line))
            return None
        return self._read(language, condition, Rule(name, "", TRUE, prop, line=node.line))

    def _read(self, language: str, condition: yaml_tree.Scalar, rule: Rule) -> Rule:
        """Return the rule with its condition. Raise PolicyError with the line in the file."""
        place = in_yaml(condition, self._source)
        allows = LANGUAGES[language](condition.text, str(self._path), place)
        check_values_exist(allows, str(self._path))
        text = " ".join(condition.text.split())
        shown = f"not ({text})" if language == "deny" else text
        return replace(rule, name=rule.name or shown, text=shown, allows=allows)

    def _check_names(self, rules: tuple[Rule, ...]) -> None:
        seen: set[str] = set()
        for rule in rules:
            if rule.name in seen:
                raise self._error(f"two rules have the name {printable(rule.name)}; name each rule once", rule.line)
            seen.add(rule.name)

    def _property(self, entry: yaml_tree.Entry) -> str:
        said = self._text(entry)
        if said not in known_properties():
            raise self._error(_unknown("property", said, tuple(known_properties())), entry.line)
        return said

    def _text(self, entry: yaml_tree.Entry) -> str:
        if not isinstance(entry.node, yaml_tree.Scalar) or entry.node.null or not entry.node.text.strip():
            raise self._error(f"{entry.key}: must be a single value", entry.line)
        return entry.node.text.strip()

    def _entries(self, node: yaml_tree.Node, otherwise: str) -> tuple[yaml_tree.Entry, ...]:
        if not isinstance(node, yaml_tree.Mapping):
            raise self._error(otherwise, node.line)
        return node.entries

    def _error(self, message: str, line: int) -> PolicyFileError:
        return PolicyFileError(message, file=str(self._path), line=line)


def _unknown(noun: str, text: str, known: tuple[str, ...]) -> str:
    """Return the sentence for a text that is none of the known ones, with the nearest, or with all of them."""
    near = get_close_matches(text, known, n=1, cutoff=0.6)
    advice = f"did you mean {near[0]}?" if near else f"choose from {', '.join(known)}"
    return f"unknown {noun} '{printable(text)}'; {advice}"
