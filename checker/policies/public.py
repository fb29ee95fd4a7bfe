"""The rules in public use that the table names, with their sources, and the decision on each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from proofka.checker.policies.deciding import check_values, decide
from proofka.checker.policies.exploring import Limits, explore, outcomes
from proofka.checker.policies.members import Audited, Members, read_members
from proofka.checker.policies.policy import Rule
from proofka.checker.policies.reading import LANGUAGES
from proofka.checker.policies.seen import View
from proofka.checker.policies.words import read_words
from proofka.properties.judged_policy import JudgedRules, PublicRule

TABLES = Path(__file__).parent / "tables"
RULES = TABLES / "public_rules.yaml"
MATRICES = TABLES / "public"


def public_rules() -> tuple[PublicRule, ...]:
    """Return every rule of the table, in its order. An error in the table, which is part of the package, raises."""
    return tuple(_rule(key, row) for key, row in _table().items())


def _table() -> Mapping[str, Mapping[str, Any]]:
    from ruamel.yaml import YAML

    table: Mapping[str, Mapping[str, Any]] = YAML(typ="safe", pure=True).load(RULES.read_text(encoding="utf-8"))
    return table


def _rule(key: str, row: Mapping[str, Any]) -> PublicRule:
    (language,) = [name for name in LANGUAGES if name in row]
    return PublicRule(
        key,
        row["says"],
        row["source"],
        row["link"],
        language,
        row[language].strip(),
        row["property"],
        tuple(row["matrices"]),
        row.get("sees", View.EFFECTIVE.value),
        row.get("assumed", ""),
        row.get("given", ""),
    )


def rule_of(public: PublicRule) -> Rule:
    """Return the rule of a row of the table. Raise PolicyError."""
    allows = LANGUAGES[public.language](public.text, public.id, None)
    return Rule(public.id, public.text, allows, public.property)


def matrix_file(name: str) -> Path:
    """Return the file of a matrix of the table."""
    return MATRICES / f"{name}.yaml"


def decide_public(rules: Iterable[PublicRule], limits: Limits, *, keeps: bool = False) -> JudgedRules:
    """Return the decision on each rule over each of its matrices. Equal questions are explored once."""
    rules = tuple(rules)
    names = list(dict.fromkeys(name for rule in rules for name in rule.matrices))
    members: dict[str, Members] = {name: read_members(matrix_file(name)) for name in names}
    questions = {}
    for name in names:
        asked = tuple(dict.fromkeys(rule.property for rule in rules if name in rule.matrices))
        questions[name] = members[name].questions(asked)
    every = [question for of_matrix in questions.values() for question in of_matrix.values()]
    explored = outcomes(every, limits, keeps=keeps)
    audited = {
        name: Audited(members[name], {place: explored.outcomes[one] for place, one in questions[name].items()})
        for name in names
    }
    judged = {}
    for public in rules:
        rule, view = rule_of(public), View(public.sees)
        for name, condition in public.variants():
            among = members[name]
            if condition:
                among = among.meeting(read_words(condition, public.id))
            check_values(rule, among, view, public.id)
            of_these = replace(audited[name], members=among)
            judged[(public.id, name, condition)] = decide(
                rule, public.property, of_these, view, partial(explore, limits=limits)
            )
    systems = {name: explored.systems_of(questions[name].values()) for name in names}
    figures = {name: replace(members[name].told(None), systems=systems[name]) for name in names}
    return JudgedRules(judged, figures)
