"""Outcomes of claims: a table on the terminal, and pages with the trace or the evidence of each claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from proofka.model.deployment.record_reader import path_of
from proofka.model.input.whole_file import write_whole
from proofka.properties.claims.claim import About, Answer, Decision, History, Outcome, SettingClaim
from proofka.properties.claims.objections import excluded
from proofka.properties.verdict import Status
from proofka.reports import wording
from proofka.reports.markdown import code, escaped
from proofka.reports.story import Story, tellings
from proofka.reports.terminal import console

STYLE: Mapping[Outcome, str] = {
    Outcome.CONFIRMED: "green",
    Outcome.REFUTED: "red",
    Outcome.CONDITIONAL: "yellow",
    Outcome.SETTING: "dim",
    Outcome.UNDECIDED: "dim",
}

TITLES: Mapping[str, str] = {
    "claims": "What the literature claims",
    "findings": "Where the safer setting is not the safer one",
    "incidents": "What happened somewhere",
}
"""Titles of the pages, by the name of the table of claims."""

WIDTH = 100
"""Width of the traces in the pages, in characters."""

BOUNDS_ARE_PART = (
    "A pass holds for the faults and within the sizes that its page names, and says nothing beyond them. A trace "
    "confirms a claim that something can happen, and refutes a claim that something cannot happen."
)


def print_claims(out: Console, decisions: Sequence[Decision]) -> None:
    """Print every claim with its outcome and the reason."""
    table = Table(box=None, pad_edge=False, show_edge=False)
    for heading in ("claim", "outcome", "what it says, and what was found"):
        table.add_column(heading, overflow="fold", no_wrap=heading == "claim")
    for decision in decisions:
        says = Text(wording.plain(decision.claim.says))
        says.append(f"\n{why(decision)}", style="dim")
        table.add_row(decision.claim.id, Text(decision.outcome, style=STYLE[decision.outcome]), says)
    out.print(table)
    out.print()
    out.print(Text(counts(decisions)))


def counts(decisions: Sequence[Decision]) -> str:
    """Return the number of claims by outcome: ``131 claims: 37 confirmed, ...``."""
    found = Counter(decision.outcome for decision in decisions)
    parts = ", ".join(f"{found[outcome]} {outcome}" for outcome in Outcome if found[outcome])
    return f"{wording.counted(len(decisions), 'claim')}: {parts}"


def why(decision: Decision) -> str:
    """Return the reason for the outcome in one line."""
    claim = decision.claim
    if claim.setting is not None:
        return _of_setting(claim.setting, decision.history)
    if not decision.answers:
        return f"no model decides it: {claim.missing}"
    if decision.objections:
        return "; ".join(decision.objections)
    if decision.outcome is Outcome.CONDITIONAL:
        right = "; ".join(answer.case.condition for answer in decision.when_true)
        wrong = "; ".join(f"{answer.case.condition} ({found(answer)})" for answer in decision.when_false)
        return f"Right: {right}. Wrong: {wrong}"
    return "; ".join(dict.fromkeys(found(answer) for answer in decision.answers))


def found(answer: Answer) -> str:
    """Return a verdict: ``no-acked-loss is violated by {kill}``, ``no-acked-loss holds (any 2 faults: kill)``."""
    verdict = answer.verdict
    if verdict.status is Status.VIOLATED:
        return f"{verdict.property} is violated by {wording.fault_set(verdict.cut_sets[0])}"
    kinds = wording.fault_kinds(verdict.coverage) if verdict.coverage.complete_to else ""
    return f"{verdict.property} {wording.status(verdict)} ({wording.bounds(verdict)}{kinds and ': '}{kinds})"


def _of_setting(claimed: SettingClaim, history: Sequence[History]) -> str:
    if claimed.about is About.FOLLOWS:
        return f"beside {claimed.key}={claimed.value}: {', '.join(str(one.value) for one in history)}"
    if claimed.about is About.EXISTENCE:
        return f"{claimed.key} is a setting of the {claimed.scope} {', '.join(map(_span, history))}"
    if claimed.about is About.CHOICES:
        return f"{claimed.key} can be {_through_time(history)}"
    others = f"; {_through_time(history)}" if len(history) > 1 else ""
    return f"{claimed.key}={claimed.value} {_when(history, claimed.value)}{others}"


def _when(history: Sequence[History], value: str | None) -> str:
    spans = [one for one in history if one.value == value]
    if not spans:
        return "was never a default"
    return "was the default " + ", ".join(_span(one) for one in spans)


def _span(one: History) -> str:
    return f"from {one.since} on" if one.until is None else f"before {one.until}"


def _through_time(history: Sequence[History]) -> str:
    return ", ".join(f"{one.value} {_span(one)}" for one in history)


def write_claims(folder: Path, decisions: Sequence[Decision]) -> list[Path]:
    """Write a page of all claims, one of findings, one of incidents, as far as they are asked for; return their paths.

    What was asked of the checker has a page of its own besides.
    """
    written = []
    for name in TITLES:
        of_this = [decision for decision in decisions if decision.claim.kind == name]
        if of_this:
            written.append(folder / f"{name}.md")
            _write(folder, name, of_this)
    return written


def _write(folder: Path, name: str, decisions: Sequence[Decision]) -> None:
    pages = folder / name
    pages.mkdir(parents=True, exist_ok=True)
    for decision in decisions:
        if decision.answers:
            text = "\n".join(_page(decision)).rstrip() + "\n"
            write_whole(pages / f"{decision.claim.id}.md", text)
    write_whole(folder / f"{name}.md", "\n".join(_index(name, decisions)) + "\n")


def _index(name: str, decisions: Sequence[Decision]) -> Iterator[str]:
    all_of_them = "" if name == "claims" else f" {name}"
    yield f"# {TITLES[name]}"
    yield ""
    yield (
        f"Written by `proofka claims{all_of_them} --out docs`; nothing in it was written by hand, and deleting it "
        "loses nothing."
    )
    yield ""
    yield BOUNDS_ARE_PART
    yield ""
    yield counts(decisions) + "."
    yield ""
    yield "| | claim | outcome | found |"
    yield "|---|---|---|---|"
    for decision in decisions:
        key = decision.claim.id
        link = f"[{key}]({name}/{key}.md)" if decision.answers else key
        yield f"| {link} | {escaped(decision.claim.says)} | **{decision.outcome}** | {escaped(why(decision))} |"


def _page(decision: Decision) -> Iterator[str]:
    claim = decision.claim
    yield f"# {claim.id}: {decision.outcome}"
    yield ""
    yield f"> {escaped(claim.says)}"
    yield ""
    yield escaped(why(decision)) + "."
    for number, answer in enumerate(decision.answers, start=1):
        yield ""
        yield from _case(number, answer)
    yield ""
    yield f"Again: `proofka claims {claim.id}`"


def _case(number: int, answer: Answer) -> Iterator[str]:
    case, verdict = answer.case, answer.verdict
    condition = f": {escaped(case.condition)}" if case.condition else ""
    yield f"## Case {number}{condition}"
    yield ""
    says = "holds" if case.holds else "can be violated"
    agrees = "as the claim says" if answer.agrees else "not what the claim says" if answer.is_decided else "undecided"
    yield f"The claim comes to: {code(case.property)} {says}. Found, {agrees}: {escaped(found(answer))}."
    yield ""
    yield "```yaml"
    yield from _as_yaml(answer)
    yield "```"
    yield ""
    if verdict.status is not Status.VIOLATED:
        reached = "reached" if verdict.witness_reached else "not reached"
        yield f"Explored: {wording.number(verdict.states)} states; {wording.sizes(verdict.coverage)}."
        yield f"Witness, {reached}: {escaped(verdict.witness)}. Id: {code(verdict.id)}."
        for lemma in verdict.lemmas[:1]:
            yield f"The verdict depends on durations: {escaped(lemma.inequality)} (ms)."
    if verdict.status is Status.HOLDS:
        for reason, kinds in excluded(case).items():
            yield f"Not asked with {', '.join(kinds)}: {escaped(reason)}."
    for note in verdict.notes:
        yield f"Note: {escaped(note)}."
    for telling in tellings([verdict], all_traces=False):
        text = StringIO()
        out = console(text)
        out.width = WIDTH
        out.print(Story(telling))
        yield "```text"
        yield from (line.rstrip() for line in text.getvalue().rstrip().splitlines())
        yield "```"


def _as_yaml(answer: Answer) -> Iterator[str]:
    """Yield the deployment as lines of a file for ``proofka check``."""
    sections: dict[str, list[str]] = {}
    for key, value in answer.case.asked.items():
        if value is None:
            continue  # the case drops a value of the deployment that it starts from
        section, *rest = path_of(key)
        text = _value(value)
        sections.setdefault(section, []).append(f"{'.'.join(rest)}: {text}" if rest else text)
    for section, entries in sections.items():
        alone = section == "kafka"
        yield f"{section}: {entries[0]}" if alone else f"{section}: {{{', '.join(entries)}}}"
    yield f"require: [{answer.case.property}]"


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_value(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) and value.replace(".", "").isdigit() else str(value)
