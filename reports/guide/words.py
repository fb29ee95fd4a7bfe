"""Entries that are not settings: properties, faults, assumptions and their values, bounds, client rules, codes of
refusals, verdicts, exit statuses, claims, terms, reductions, marks in tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from proofka.model.deployment.assumptions import ASSUMPTIONS
from proofka.model.deployment.bounds import RANGES, RANGES_WITH_TRANSACTIONS
from proofka.model.deployment.codes import codes
from proofka.model.deployment.durations import ENVIRONMENT
from proofka.model.deployment.options import OPTION_KEYS
from proofka.model.deployment.profiles import AT_LEAST_ONCE, PROFILES, in_profile, promised
from proofka.model.faults import COVERED_BY, DESCRIPTION, OF_SOME_RELEASES, ONCE, ONLY_BY_NAME, Fault
from proofka.reports.guide.entry import Entries, Entry, row_of, some, table
from proofka.reports.guide.other_names import names_of_property
from proofka.reports.guide.related import claim_in_words, named_in, related
from proofka.reports.guide.settings import owners

PROPERTY, FAULT, ASSUMPTION, RULE, CLAIM = "property", "fault", "assumption", "client rule", "claim"
VALUE, BOUND, TERM, REDUCTION, MARK = "value of an assumption", "bound", "term", "reduction", "mark in a table"
VERDICT, STATUS, REFUSAL = "verdict", "exit status", "not modelled yet"

_WHERE = {
    "idempotence": "a setting enables idempotence",
    "transactions": "the producer uses transactions",
    "one-in-flight": "a setting allows one request in flight",
}

_OTHERS = {
    "replicas": "number of replicas, in place of the number in the topic's files (1 to 5)",
    "elr": "eligible leader replicas (KIP-966): on or off, in place of the release's default",
    "faults": "number of faults in total (any: every number); faults.KIND: number of faults of one kind",
    "faults.total": "number of faults in total (any: every number)",
}


def properties() -> Mapping[str, Entry]:
    """Return every property, by name."""
    return Entries(PROPERTY, (row["name"] for row in table("properties")), _property)


def _property(name: str) -> Iterator[tuple[str, str]]:
    row = row_of("properties", "name", name)
    yield "says", row["statement"]
    yield "guarantee", row["guarantee"]
    yield "witness", f"{row['witness']} (a pass that does not reach this is vacuous)"
    yield "family", row["family"]
    yield "required", required(name)
    yield from names_of_property(name)
    yield from related(name, ())


def required(name: str) -> str:
    """Return the conditions under which a property is required: default, settings, profiles."""
    profiles = [profile for profile in PROFILES if name in in_profile(profile)]
    if not profiles:
        return f"only with --require {name}"
    where = [words for intention, words in _WHERE.items() if name in promised([intention])]
    when = ["by default"] if AT_LEAST_ONCE in profiles else [f"where {' or '.join(where)}"] if where else []
    return "; ".join([*when, f"by --profile {', '.join(profiles)}"])


def faults() -> Mapping[str, Entry]:
    """Return every kind of fault, by name."""
    return Entries(FAULT, (fault.value for fault in Fault), _fault)


def _fault(name: str) -> Iterator[tuple[str, str]]:
    fault = Fault(name)
    yield "is", DESCRIPTION[fault]
    if fault in ONLY_BY_NAME:
        yield "happens", f"only if the fault is named: --assume faults.{fault}=1"
    elif fault in OF_SOME_RELEASES:
        where = "with brokers of the releases that it has an effect on"
        yield "happens", f"{where}, if no kind of fault is named, or if this kind is named (--assume faults.{fault}=1)"
    else:
        yield "happens", f"if no kind of fault is named, or if this kind is named (--assume faults.{fault}=1)"
    if fault in ONCE:
        yield "how often", "at most once in a run"
    if fault in COVERED_BY:
        yield "covered by", f"{COVERED_BY[fault]}, whose runs include all runs of this fault, if both can happen"
    for row in table("violations"):
        if row["fault"] == name:
            yield "violates", _violation(row)
    yield from related(fault.value, ())


def _violation(row: Mapping[str, str]) -> str:
    """Return a fault set that violates properties, and the option by which a check explores this set."""
    others = row["others"].split()
    kinds = sorted([row["fault"], *others])
    said = f"{', '.join(row['properties'].split())} by {{{', '.join(kinds)}}}, {row['where']}"
    return f"{said}; alone this fault violates nothing; --faults {len(kinds)} explores the set" if others else said


def assumptions() -> Mapping[str, Entry]:
    """Return every key of ``--assume``."""
    return Entries(ASSUMPTION, OPTION_KEYS, _assumption)


def _assumption(key: str) -> Iterator[tuple[str, str]]:
    group, _, name = key.partition(".")
    if key in ASSUMPTIONS:
        yield "is", ASSUMPTIONS[key].sentence
        yield "values", ", ".join(ASSUMPTIONS[key].values)
        yield "default", ASSUMPTIONS[key].default
    elif key in ENVIRONMENT:
        yield "is", ENVIRONMENT[key].sentence
        yield "values", "a duration or a range of them, as in 20s, 0..300ms or 1min..unbounded"
        yield "default", ENVIRONMENT[key].default
    elif key in _OTHERS:
        yield "is", _OTHERS[key]
    elif group == "faults":
        yield "is", f"largest number of faults of this kind (any: every number): {DESCRIPTION[Fault(name)]}"
    elif group == "bounds":
        yield "is", {row["bound"]: row["meaning"] for row in table("bounds")}[name]
        plain, more = RANGES[name], RANGES_WITH_TRANSACTIONS[name]
        further = "" if plain == more else f"; with transactions {more.start} to {more.stop - 1}"
        yield "values", f"{plain.start} to {plain.stop - 1}{further}"
    said = f"--assume {key}=VALUE"
    yield "said by", said
    yield from related(name or key, ())


def values() -> Mapping[str, Entry]:
    """Return every value of an assumption about the application that is a word."""
    words = (value for one in ASSUMPTIONS.values() for value in one.values if not value.isdigit())
    return Entries(VALUE, words, _value)


def _value(name: str) -> Iterator[tuple[str, str]]:
    for key, one in ASSUMPTIONS.items():
        if name in one.values:
            yield "said by", f"--assume {key}={name}" + (" (the default)" if one.default == name else "")
            yield key, one.sentence
            yield "values", ", ".join(one.values)


def bounds() -> Mapping[str, Entry]:
    """Return every bound, by the name that a table of verdicts prints."""
    return Entries(BOUND, RANGES, lambda name: _assumption(f"bounds.{name}"))


def rules() -> Mapping[str, Entry]:
    """Return every applied rule of a client or broker, by id."""
    return Entries(RULE, (row["id"] for row in table("rules")), _rule)


def _rule(name: str) -> Iterator[tuple[str, str]]:
    row = row_of("rules", "id", name)
    yield "of", row["of"]
    yield "releases", row["releases"]
    yield "if", row["condition"].replace("`", "")
    yield "effect", row["does"].replace("`", "")
    yield from some("settings", ", ".join(sorted(named_in(row) & owners().keys())))


def refusals() -> Mapping[str, Entry]:
    """Return every reason for the refusal "not modelled yet", by code."""
    return Entries(REFUSAL, codes(), _refusal)


def _refusal(name: str) -> Iterator[tuple[str, str]]:
    code = codes()[name]
    yield "of", code.of
    yield "what", code.what
    yield "why", code.why
    yield "instead", code.instead


def claims() -> Mapping[str, Entry]:
    """Return every claim, finding and incident, by id."""
    return Entries(CLAIM, (row["id"] for row in table("claims")), _claim)


def _claim(name: str) -> Iterator[tuple[str, str]]:
    row = row_of("claims", "id", name)
    yield "", claim_in_words(row)
    yield from some("asks", ", ".join(row["properties"].split()))
    yield "again", f"proofka claims {row['id']} decides it"


def terms() -> Mapping[str, Entry]:
    """Return every term of docs/glossary.md."""
    return Entries(TERM, (row["term"] for row in table("terms")), _term)


def _term(name: str) -> Iterator[tuple[str, str]]:
    yield "", row_of("terms", "term", name)["meaning"]


def verdicts() -> Mapping[str, Entry]:
    """Return every verdict, by its word in tables of verdicts."""
    return Entries(VERDICT, (row["verdict"] for row in table("verdicts")), _verdict)


def _verdict(name: str) -> Iterator[tuple[str, str]]:
    yield "", row_of("verdicts", "verdict", name)["meaning"]


def statuses() -> Mapping[str, Entry]:
    """Return every exit status, by number and by name."""
    return Entries(STATUS, (row[column] for column in ("status", "name") for row in table("statuses")), _status)


def _status(said: str) -> Iterator[tuple[str, str]]:
    row = row_of("statuses", "status" if said.isdigit() else "name", said)
    yield "", row["meaning"]
    yield ("called", row["name"]) if said.isdigit() else ("number", row["status"])


def reductions() -> Mapping[str, Entry]:
    """Return every reduction that ``--with`` and ``--without`` name."""
    return Entries(REDUCTION, (row["reduction"] for row in table("reductions")), _reduction)


def _reduction(name: str) -> Iterator[tuple[str, str]]:
    row = row_of("reductions", "reduction", name)
    yield "is", f"{row['meaning']} A reduction saves states and changes no verdict (docs/reductions.md)."
    yield "default", row["default"]


def marks() -> Mapping[str, Entry]:
    """Return every mark in a table of verdicts or a trace."""
    return Entries(MARK, (row["mark"] for row in table("marks")), _mark)


def _mark(name: str) -> Iterator[tuple[str, str]]:
    yield "", row_of("marks", "mark", name)["meaning"]
