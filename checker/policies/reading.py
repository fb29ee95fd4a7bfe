"""The reader of policy files: policies of Proofka and of other products in YAML, and files in CEL and Rego."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from proofka.checker.policies.cel import read_cel
from proofka.checker.policies.errors import PolicyError, PolicyFileError
from proofka.checker.policies.expression import TRUE, Expression, Not
from proofka.checker.policies.manifests import kind_of, read_manifest
from proofka.checker.policies.policy import Given, Policy, Rule
from proofka.checker.policies.rego import read_rego
from proofka.checker.policies.seen import View
from proofka.checker.policies.words import read_words
from proofka.model.deployment import yaml_tree
from proofka.model.deployment.hiding import printable
from proofka.model.deployment.known_properties import known_properties
from proofka.model.deployment.source import decode_utf8, read_bytes
from proofka.model.deployment.yaml_reader import read_tree

KEYS = ("policy", "property", "matrix", "given", "sees", "rules")
"""The keys of a policy."""

LANGUAGES: Mapping[str, Callable[[str, str, int], Expression]] = {
    "allow": read_words,
    "deny": lambda text, file, line: Not(read_words(text, file, line)),
    "cel": read_cel,
    "rego": read_rego,
}
"""The keys with which a rule gives its condition, with the reader of each."""

OF_A_RULE = ("name", "says", "property", *LANGUAGES)
"""The keys of a rule."""

ENDINGS = {".cel": "cel", ".rego": "rego"}
"""The languages of files that hold one rule alone."""

_YAML = (".yaml", ".yml")


def read_policy(path: Path) -> Policy:
    """Read a policy file.

    Raise DeploymentError or PolicyError for a file that cannot be read at all. An error about one rule is a problem of
    the policy, whose other rules stay.
    """
    if path.suffix in ENDINGS:
        return _single(path, ENDINGS[path.suffix])
    if path.suffix not in _YAML:
        raise PolicyFileError("is no policy: a policy is a file .yaml, .cel or .rego", file=str(path))
    root = read_tree(path)
    kind = kind_of(root)
    return _Reader(path).policy(root) if kind is None else read_manifest(root, kind, str(path), path.stem)


def _single(path: Path, language: str) -> Policy:
    text = decode_utf8(read_bytes(path), path)
    rules, problems = [], []
    try:
        rules.append(Rule(path.stem, " ".join(text.split()), LANGUAGES[language](text, str(path), 1)))
    except PolicyError as error:
        problems.append(error)
    return Policy(path.stem, str(path), tuple(rules), problems=tuple(problems))


class _Reader:
    """A reader that collects the errors of rules and continues."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._problems: list[PolicyError] = []

    def policy(self, root: yaml_tree.Node) -> Policy:
        entries = self._entries(root, f"is no policy; a policy has the keys {', '.join(KEYS)}")
        found = {entry.key: entry for entry in entries}
        for entry in entries:
            if entry.key not in KEYS:
                raise self._error(_unknown("key", entry.key, KEYS), entry.line)
        if "rules" not in found:
            raise self._error("has no rules; add rules: with a dash before each rule", root.line)
        rules = found["rules"]
        if not isinstance(rules.node, yaml_tree.Sequence) or not rules.node.items:
            raise self._error("rules: must be a list with a dash before each rule", rules.line)
        name = self._text(found["policy"]) if "policy" in found else self._path.stem
        matrix = self._path.parent / self._text(found["matrix"]) if "matrix" in found else None
        view = View.EFFECTIVE
        if "sees" in found:
            said = self._text(found["sees"])
            if said not in tuple(View):
                raise self._error(_unknown("value of sees", said, tuple(View)), found["sees"].line)
            view = View(said)
        prop = self._property(found["property"]) if "property" in found else None
        given = self._given(found["given"]) if "given" in found else None
        read = tuple(rule for node in rules.node.items if (rule := self._rule_or_problem(node)) is not None)
        self._check_names(read)
        return Policy(name, str(self._path), read, prop, matrix, view, given, tuple(self._problems))

    def _given(self, entry: yaml_tree.Entry) -> Given:
        text = self._text(entry)
        return Given(" ".join(text.split()), read_words(text, str(self._path), entry.node.line))

    def _rule_or_problem(self, node: yaml_tree.Node) -> Rule | None:
        try:
            return self._rule(node)
        except PolicyError as error:
            self._problems.append(error)
            return None

    def _rule(self, node: yaml_tree.Node) -> Rule:
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
        rule = Rule(
            self._text(entries["name"]) if "name" in entries else "",
            "",
            TRUE,
            self._property(entries["property"]) if "property" in entries else None,
            line=node.line,
        )
        return self._read(language, condition, rule)

    def _read(self, language: str, condition: yaml_tree.Scalar, rule: Rule) -> Rule:
        """Return the rule with its condition. Raise PolicyError with the line in the file."""
        line = condition.line + ("\n" in condition.text.strip())
        allows = LANGUAGES[language](condition.text, str(self._path), line)
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
    return f"unknown {noun} {printable(text)}; {advice}"
