"""Write the generated tables of ``proofka help``. Run this script if a test reports stale tables.

Properties come from the catalogue, claims from the tables of claims, rules from docs/client-rules.md, terms from
docs/glossary.md, and the sections about each word from docs/semantics.md. ``proofka help`` cannot read these sources
itself: they are not installed, or are too slow to read.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from proofka.model.deployment import KNOWN_PROPERTIES, read_properties  # noqa: E402
from proofka.model.deployment.options import OPTION_KEYS  # noqa: E402
from proofka.model.faults import Fault  # noqa: E402
from proofka.properties.claims import all_claims as claims  # noqa: E402
from proofka.reports.guide.settings import owners  # noqa: E402

HAPPENED = "it happened"
"""The outcome of an incident in the table."""

TABLES = ROOT / "reports" / "guide" / "tables"
_CODE = re.compile(r"`([A-Za-z_][\w.-]*)(?![\w./-])[^`]*`")
"""A name in code, and no path of a file: `log/replica.py` is not about the bound `log`."""

_OUTCOME = re.compile(r"\| \[?(?P<id>[CF]\d+)\b.*? \*\*(?P<outcome>[a-z ]+)\*\* \|")
_HEADING = re.compile(r"#{1,4} (.*)")
_TERM = re.compile(r"\| (?!term \|)(?P<term>\w[^|]*?) \| (?P<meaning>.+?) \| .*\|")
_RULE = re.compile(r"\| rule (?P<id>\w+) \| (?P<releases>.*?) \| (?P<condition>.*?) \| (?P<does>.*?) \|$")


def properties() -> Iterator[Sequence[str]]:
    """name, family, statement, guarantee, witness"""
    from proofka.model.deployment.transactional import Transactional
    from proofka.model.pipeline import declared
    from proofka.properties.catalogue import properties_of

    some = read_properties(kafka="4.0", assume={"replicas": "3"})
    transactional = Transactional(2, verified=True, epoch_each=True, first_is_zero=False, read_committed=True)
    every = replace(some, require=KNOWN_PROPERTIES, producer=replace(some.producer, transactional=transactional))
    for one in properties_of(declared(every)):
        yield one.name, one.family, one.statement, one.guarantee, one.witness_words


def claimed() -> Iterator[Sequence[str]]:
    """id, says, outcome, words, properties"""
    files = [path for path in sorted(claims.TABLES.glob("*.yaml")) if path.name != claims.PIPELINES]
    entries = {key: entry for file in (*files, claims.INCIDENTS, claims.FINDINGS) for key, entry in _read(file).items()}
    outcomes = dict(_outcomes())
    for key in sorted(entries, key=lambda one: ("CFI".index(one[0]), one)):
        entry = entries[key]
        asked = dict.fromkeys(case.get("fails") or case.get("holds") for case in entry.get("cases", ()))
        words = dict.fromkeys((*asked, *_words(entry)))
        yield key, " ".join(entry["says"].split()), outcomes.get(key, HAPPENED), " ".join(words), " ".join(asked)


def _outcomes() -> Iterator[tuple[str, str]]:
    """Yield the outcome of each claim and finding, from the pages that ``proofka claims`` wrote."""
    for page in ("claims.md", "findings.md"):
        for line in (ROOT / "docs" / page).read_text(encoding="utf-8").splitlines():
            if row := _OUTCOME.match(line):
                yield row["id"], row["outcome"]


def _read(file: Path) -> dict[str, Any]:
    from ruamel.yaml import YAML

    found: dict[str, Any] = YAML(typ="safe").load(file.read_text(encoding="utf-8"))
    return found


def _words(entry: Mapping[str, Any]) -> Iterator[str]:
    """Yield the settings, assumptions and faults of a claim, without their components."""
    for case in entry.get("cases", ()):
        for key, value in case.get("with", {}).items():
            if key == "faults":
                yield from value
            elif key == "topic.replicas":
                yield "replication.factor"
            else:
                yield key.partition(".")[2] or key
    for about in ("default", "choices", "exists", "follows"):
        if about in entry:
            yield entry[about]["key"]
            yield from entry[about].get("keys", ())


def rules() -> Iterator[Sequence[str]]:
    """id, of, releases, condition, does"""
    heading = ""
    for line in (ROOT / "docs" / "client-rules.md").read_text(encoding="utf-8").splitlines():
        if found := _HEADING.fullmatch(line):
            heading = found[1]
        if rule := _RULE.fullmatch(line):
            condition, does = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", rule[part]) for part in ("condition", "does"))
            yield rule["id"], heading, rule["releases"], condition, does


def sections() -> Iterator[Sequence[str]]:
    """word, sections"""
    known = {*owners(), *OPTION_KEYS, *KNOWN_PROPERTIES, *(fault.value for fault in Fault)}
    known |= {key.partition(".")[2] for key in OPTION_KEYS if key.startswith("bounds.")}
    found: dict[str, dict[str, None]] = {}
    heading = ""
    for line in (ROOT / "docs" / "semantics.md").read_text(encoding="utf-8").splitlines():
        if title := _HEADING.fullmatch(line):
            heading = re.sub(r"^(\d[\d.]*?)\.? ", r"\1 ", title[1].replace("`", ""))
        for word in _CODE.findall(line):
            name = word.rstrip(".")
            if name in known:
                found.setdefault(name, {})[heading] = None
    for word in sorted(found):
        yield word, "; ".join(found[word])


def terms() -> Iterator[Sequence[str]]:
    """term, meaning"""
    for line in (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").splitlines():
        if row := _TERM.fullmatch(line):
            yield row["term"], re.sub(r"[`*]", "", row["meaning"])


WRITTEN = {"properties": properties, "claims": claimed, "rules": rules, "sections": sections, "terms": terms}
"""The function that yields the rows of each table; its docstring names the columns."""


def text_of(name: str) -> str:
    """Return the text of a table."""
    made = WRITTEN[name]
    return _csv((made.__doc__ or "").split(", "), made())


def _csv(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


if __name__ == "__main__":
    for table in WRITTEN:
        (TABLES / f"{table}.csv").write_text(text_of(table), encoding="utf-8")
