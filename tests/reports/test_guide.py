"""The guide has an entry for every word, agrees with the checker, and has current tables."""

from __future__ import annotations

import csv
from collections.abc import Iterator

import pytest

from proofka.model.deployment import read_properties
from proofka.model.deployment.codes import codes
from proofka.model.deployment.defaults import known_keys
from proofka.model.deployment.options import OPTION_KEYS
from proofka.model.deployment.required_properties import KNOWN_PROPERTIES
from proofka.model.faults import Fault
from proofka.properties.verdict import Status
from proofka.reports.guide.entry import table
from proofka.reports.guide.lookup import find, near
from proofka.reports.guide.printing import Contents, EntryReport
from proofka.reports.guide.settings import meaning, names_elsewhere, owners, spans
from proofka.reports.guide.usage import OWN, components, is_read
from scripts.write_guide import TABLES, WRITTEN, text_of
from tests.reports import samples
from tests.reports.test_terminal import matches, sheet
from tests.reports.test_terminal import text_of as printed


def said(word: str, kind: str) -> dict[str, list[str]]:
    """Return the paragraphs of the only entry of this kind, by label."""
    (entry,) = [entry for entry in find(word) if entry.kind == kind]
    found: dict[str, list[str]] = {}
    for label, text in entry.paragraphs:
        found.setdefault(label, []).append(text)
    return found


@pytest.mark.parametrize("name", WRITTEN)
def test_tables_are_those_that_are_written(name: str) -> None:
    """Stale tables: run python scripts/write_guide.py."""
    assert (TABLES / f"{name}.csv").read_text(encoding="utf-8") == text_of(name)


def every_word() -> Iterator[tuple[str, str]]:
    yield from ((name, "property") for name in KNOWN_PROPERTIES)
    yield from ((fault.value, "fault") for fault in Fault)
    yield from ((key, "assumption") for key in OPTION_KEYS)
    yield from ((row["id"], "client rule") for row in table("rules"))
    yield from ((code, "not modelled yet") for code in codes())
    yield from ((row["id"], "claim") for row in table("claims"))
    yield from ((row["term"], "term") for row in table("terms"))
    yield from ((str(status), "exit status") for status in range(6))
    yield from ((key, "setting") for component in components() for key in known_keys(component))
    yield from ((name, "") for name in names_elsewhere())


def test_every_word_has_an_entry_with_text() -> None:
    words = set(every_word())
    assert len(words) > 1000
    for word, kind in words:
        entries = find(word)
        assert entries, word
        assert not kind or kind in {entry.kind for entry in entries}, word
        for entry in entries:
            assert entry.paragraphs, word
            assert all(text.strip() for _, text in entry.paragraphs), word


def test_the_semantics_describe_every_property_and_fault() -> None:
    """Each name stands in a section of docs/semantics.md, and each fault in the table of 1.1."""
    sections = {row["word"]: row["sections"] for row in csv.DictReader(text_of("sections").splitlines())}
    assert set(KNOWN_PROPERTIES) <= sections.keys()
    assert not [fault.value for fault in Fault if "1.1 Faults" not in sections.get(fault.value, "").split("; ")]


def test_a_setting_that_is_read_has_a_meaning_and_another_a_reason() -> None:
    for key, of in owners().items():
        paragraphs = said(key, "setting")
        read = [component for component in of if is_read(component, key)]
        assert bool(read) == ("means" in paragraphs), key
        assert (len(read) < len(of)) == ("not read" in paragraphs), key
        for component in read:
            assert meaning(component, key)


@pytest.mark.parametrize("kafka", ["0.11", "2.4", "3.3", "3.9", "4.0", "4.1"])
def test_effective_settings_are_read(kafka: str) -> None:
    """Every setting of a deployment's files that ``proofka show`` lists has a meaning in the guide."""
    deployment = read_properties(kafka=kafka, assume={"replicas": "3"})
    shown = [(one.scope, one.key) for one in deployment.settings if one.scope in OWN and one.key in owners()]
    assert len(shown) > 20
    for scope, key in shown:
        assert is_read(scope, key), (scope, key)
        assert meaning(scope, key)


def test_no_meaning_is_left_over() -> None:
    for row in table("settings"):
        for of in row["of"].split("|"):
            assert of in owners().get(row["key"], ()), row
            assert is_read(of, row["key"]), row


@pytest.mark.parametrize(
    ("word", "kind", "label", "text"),
    [
        ("acks", "setting", "default", "1 before 3.0; all from 3.0 on (producer)"),
        ("acks", "setting", "rule P08", "uses acks=all"),
        ("ACKS", "setting", "of", "producer"),
        ("min.insync.replicas", "setting", "semantics", "3.2 acks"),
        ("min.insync.replicas", "setting", "bears on", "no-acked-loss"),
        ("ssl.protocol", "setting", "not read", "security does not change delivery"),
        ("security.protocol", "setting", "of", "librdkafka producer, librdkafka consumer, producer, consumer"),
        ("full-buffer", "fault", "bears on", "no-acked-loss"),
        ("mixed-fetches", "fault", "violates", "by {disk-loss, leader-move, mixed-fetches, slow-follower}"),
        ("mixed-fetches", "fault", "violates", "--faults 4 explores the set"),
        ("lost-transaction-state", "fault", "violates", "no-hanging-transaction by {lost-transaction-state}"),
        ("witness", "term", "", "a pass is evidence only if some run reaches it"),
        ("bounds", "term", "", "records, log, sends"),
        ("fault sets", "term", "", "A multiset of faults"),
        ("ISR", "term", "", "in-sync replicas"),
        ("high watermark", "term", "", "up to which consumers read"),
        ("at-least-once", "term", "", "required by default: no-acked-loss and no-skip"),
        ("resend", "term", "", "A retry is an attempt of the client"),
        ("layer", "term", "", "reached with k faults"),
        ("enable.auto.offset.store", "setting", "default", "true"),
        ("Producer.Retry.Max", "setting", "elsewhere", "max_retries"),
        ("spring.kafka.producer.acks", "name of other programs", "Spring (spring.kafka...)", "sets acks"),
        ("required_acks", "name of other programs", "log and metrics agents, beats", "sets Producer.RequiredAcks"),
        ("commit.interval.ms", "name of other programs", "rule S04", "does not start"),
        ("no-acked-loss", "property", "says", "acknowledged"),
        ("no-acked-loss", "property", "required", "by default;"),
        ("atomicity", "property", "required", "where the producer uses transactions"),
        ("power-loss", "fault", "is", "not forced to disk"),
        ("shutdown", "fault", "happens", "only if the fault is named"),
        ("full-buffer", "fault", "defects", "also atomicity (KAFKA-9279), no-acked-loss (KAFKA-9279), in releases"),
        ("kill", "fault", "happens", "if no kind of fault is named"),
        ("processing", "assumption", "values", "poll-thread, handed-off"),
        ("network", "assumption", "default", "0..100ms"),
        ("bounds.log", "assumption", "values", "1 to 5; with transactions 1 to 8"),
        ("L13", "client rule", "if", "message.timeout.ms is above transaction.timeout.ms"),
        ("p08", "client rule", "settings", "acks"),
        ("N27", "not modelled yet", "what", "uses transactions"),
        ("n27", "not modelled yet", "why", "librdkafka only"),
        ("N05", "not modelled yet", "instead", "remote.storage.enable"),
        ("C010", "claim", "", "[only under a condition] A cluster"),
        ("C029", "claim", "", "[refuted]"),
        ("I001", "claim", "", "[it happened]"),
    ],
)
def test_entries_have_their_paragraphs(word: str, kind: str, label: str, text: str) -> None:
    assert any(text in one for one in said(word, kind)[label])


def test_a_claim_never_stands_without_its_outcome() -> None:
    for row in table("claims"):
        assert row["outcome"]
    for texts in (texts for label, texts in said("acks", "setting").items() if label.startswith("claim ")):
        assert all(text.startswith("[") for text in texts)


def test_exit_statuses_are_those_of_the_commands() -> None:
    from proofka import __main__
    from proofka.checker import refused_memory
    from proofka.checker.cli import endings
    from proofka.checker.live import errors

    named = {**vars(endings), **vars(refused_memory), **vars(__main__)}
    numbers = {name.removeprefix("EXIT_"): value for name, value in named.items() if name.startswith("EXIT_")}
    of_live = {"NO_ANSWER": errors.NoAnswer, "NOT_ADMITTED": errors.NotAdmitted, "NO_RIGHTS": errors.NoRights}
    numbers |= {name: error.status for name, error in of_live.items()}
    told = {row["name"].upper().replace("-", "_"): int(row["status"]) for row in table("statuses")}
    assert told == numbers


def test_defaults_through_the_releases() -> None:
    assert spans([("0.10", None, "5")]) == "5"
    assert spans([("0.10", "3.0", "1"), ("3.0", "4.0", ""), ("4.0", None, None)]) == (
        '1 before 3.0; "" from 3.0 to before 4.0; none from 4.0 on'
    )
    assert spans([("0.10", None, None)]) == ""


@pytest.mark.parametrize(
    ("word", "meant"),
    [("min.insync.replica", "min.insync.replicas"), ("no-ack-loss", "no-acked-loss"), ("kil", "kill"), ("P8", "P08")],
)
def test_the_nearest_words(word: str, meant: str) -> None:
    assert not find(word)
    assert meant in near(word)


@pytest.mark.parametrize("word", ["", "  ", "x" * 100_000, samples.HOSTILE, "--", "\x00"])
def test_words_that_are_none(word: str) -> None:
    assert find(word) == []
    assert len(near(word)) <= 5


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize("word", ["acks", "L13", "power-loss", "no-skip"])
def test_golden(word: str, width: int) -> None:
    out = sheet(width)
    for entry in find(word):
        out.print(EntryReport(entry))
    text = printed(out)
    assert max(map(len, text.splitlines())) <= width
    if width == 80:
        matches(f"help-{word}.txt", text)


@pytest.mark.parametrize("width", [60, 80])
def test_golden_contents(width: int) -> None:
    out = sheet(width)
    out.print(Contents({"check": "Check a deployment.", "help": "Explain."}))
    text = printed(out)
    assert max(map(len, text.splitlines())) <= width
    matches(f"help-{width}.txt", text)


@pytest.mark.parametrize("word", ["holds", "in time", "violated", "vacuous", "unknown"])
def test_verdicts_are_words(word: str) -> None:
    assert said(word, "verdict")
    assert "size" in " ".join(said("unknown", "verdict")[""])  # a bound that was reached
    assert "size" in " ".join(said("undecided", "exit status")[""])


def test_every_status_has_an_entry() -> None:
    assert {status.value for status in Status} <= {row["verdict"] for row in table("verdicts")}


def test_nothing_is_said_twice_of_a_name_that_others_use_too() -> None:
    setting, elsewhere = find("acks")
    assert not set(setting.paragraphs) & set(elsewhere.paragraphs)


@pytest.mark.parametrize("word", ["nonsense", "qwertz", "kafka"])
def test_unknown_words_have_no_suggestion(word: str) -> None:
    assert not {"sends", "bounds.sends"} & set(near(word))


def test_a_pattern_of_kafka_says_nothing_about_a_name_of_spring() -> None:
    assert find("listener.security.protocol.map")
    assert not find("spring.kafka.listener.ack-mode")
