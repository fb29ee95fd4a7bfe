"""The page of the decisions on rules in public use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from proofka.properties.judged_policy import (
    JudgedMatrix,
    JudgedRules,
    Judgement,
    Needed,
    PublicRule,
    Sufficient,
    Witness,
)
from proofka.reports import wording
from proofka.reports.markdown import code, escaped
from proofka.reports.policies import answers, chosen, notes, witness_of

HEAD = """# Rules in public use, decided

Written by `python scripts/write_policies.py`; nothing in it was written by hand. [policies.md](../policies.md) says
what the answers mean, and decides a policy of yours.

Each rule stands here in our own words and as our own expression. Its source states the rule, or sells it; a link can
age. A rule is decided for the property that its source promises, over every deployment of a matrix
(`checker/policies/tables/public/`), for the faults of the matrix alone. *Sufficient* says that the checker found the
property in every deployment which the rule allows, within these faults; it is no statement about other faults, other
releases or other settings. A rule that is *not sufficient* comes with a deployment that the rule allows and a run of
this deployment that violates the property.

A rule about topics sees no client, and no rule about topics alone keeps a producer from `acks=0`. Such rules are
decided a second time for the deployments with `acks == all`."""


def page(rules: Sequence[PublicRule], judged: JudgedRules) -> str:
    """Return the page in Markdown."""
    return "\n".join(_lines(rules, judged)).rstrip() + "\n"


def _lines(rules: Sequence[PublicRule], judged: JudgedRules) -> Iterator[str]:
    yield HEAD
    yield ""
    yield counted(rules, judged)
    yield ""
    yield "## Matrices"
    yield ""
    for name, matrix in judged.matrices.items():
        yield from _matrix(name, matrix)
    yield ""
    yield "## Overview"
    yield ""
    yield "| rule | says | property | answers |"
    yield "|---|---|---|---|"
    for rule in rules:
        decided = _of(rule, judged).items()
        found = "; ".join(f"{_label(*place)}: **{one.sufficient}**, {one.needed}" for place, one in decided)
        yield f"| [{rule.id}](#{rule.id.lower()}) | {escaped(rule.says)} | {code(rule.property)} | {found} |"
    for rule in rules:
        yield ""
        yield from _rule(rule, judged)


def counted(rules: Sequence[PublicRule], judged: JudgedRules) -> str:
    """Return the number of rules by answer: a rule counts as not sufficient if some matrix shows it."""
    found = Counter(_worst(one.sufficient for one in _of(rule, judged).values()) for rule in rules)
    order = (Sufficient.YES, Sufficient.NO, Sufficient.UNKNOWN, Sufficient.ALLOWS_NONE)
    parts = ", ".join(f"{found[one]} {one}" for one in order if found[one])
    return f"{len(rules)} rules: {parts}. A rule counts with its weakest answer."


def _worst(answers_: Iterator[Sufficient]) -> Sufficient:
    order = (Sufficient.NO, Sufficient.UNKNOWN, Sufficient.ALLOWS_NONE, Sufficient.YES)
    return min(answers_, key=order.index)


def _of(rule: PublicRule, judged: JudgedRules) -> Mapping[tuple[str, str], Judgement]:
    return {place: judged.judgements[(rule.id, *place)] for place in rule.variants()}


def _label(matrix: str, given: str) -> str:
    return f"{matrix}, given {code(given)}" if given else matrix


def _matrix(name: str, matrix: JudgedMatrix) -> Iterator[str]:
    yield (
        f"- **{name}**: {matrix.deployments} deployments, {matrix.systems} distinct systems; {escaped(matrix.budget)}."
    )
    for key, values in matrix.settings.items():
        shown = ", ".join("not set" if value is None else value for value in values)
        yield f"  - {code(key)}: {escaped(shown)}"


def _rule(rule: PublicRule, judged: JudgedRules) -> Iterator[str]:
    yield f"## {rule.id}"
    yield ""
    yield f"> {escaped(rule.says)}"
    yield ""
    yield f"Source: [{escaped(rule.source)}]({rule.link}). Decided for {code(rule.property)}."
    if rule.assumed:
        yield f"Left out of the expression: {escaped(rule.assumed)}."
    if rule.sees == "written":
        yield "The rule sees written values alone."
    yield ""
    yield f"```{rule.language if rule.language in ('cel', 'rego') else 'text'}"
    yield f"{rule.language}: {rule.text}" if rule.language in ("allow", "deny") else rule.text
    yield "```"
    for place, judgement in _of(rule, judged).items():
        yield ""
        yield f"### {rule.id} over {_label(*place)}"
        yield ""
        for answer, line in answers(judgement):
            yield f"- **{answer}**{escaped(line.removeprefix(str(answer)))}"
            witness = witness_of(judgement, answer)
            if witness is not None:
                yield from _witness(witness, answer)
        for note in notes(judgement):
            yield f"- Note: {escaped(note)}."


def _witness(witness: Witness, answer: Sufficient | Needed) -> Iterator[str]:
    yield ""
    yield f"  {code(chosen(witness))}"
    if isinstance(answer, Sufficient):
        every = ", ".join(wording.fault_set(one) for one in witness.cut_sets)
        yield ""
        yield f"  Smallest fault sets: {escaped(every)}. The shortest run with {wording.fault_set(witness.faults)}:"
        yield ""
        yield "  ```text"
        for number, step in enumerate(witness.steps, start=1):
            yield f"  {number:2} {step}"
        yield f"  {witness.failure}"
        yield "  ```"
    yield ""
