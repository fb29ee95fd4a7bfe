"""The notes of a short answer: assumed values, misspelt names, and settings without effect."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from proofka.checker.source import Source
from proofka.model.deployment.broker_rules import REFUSES_WRITES
from proofka.model.deployment.choices import Acks
from proofka.model.deployment.known_keys import GOES_ON, NOT_OF_THIS_RELEASE
from proofka.model.deployment.leaving_out import AS_READ, PASSED_OVER
from proofka.model.deployment.listed import ONE_COPY_OF_OFFSETS
from proofka.model.deployment.release import NEWEST, Release
from proofka.reports.first_notes import first_notes, first_notes_of_several, reasons
from proofka.reports.note_kinds import noted
from tests.checker.asking import deployment_of
from tests.deployments import changed
from tests.reports import samples


def test_answer_says_if_every_write_is_refused() -> None:
    """The answer has this reason beside any other notes; with fewer acks writes are not refused, and it is a note."""
    note = f"min.insync.replicas=4 exceeds the number of replicas, 3: refused {REFUSES_WRITES}"
    others = tuple(f"{name}: unknown, {GOES_ON}" for name in ("a", "b", "c", "d"))
    one = changed(samples.DEPLOYMENT, replicas=3, min_insync_replicas=4, notes=(*others, note), acks=Acks.ALL)
    assert reasons(one) == [note]
    assert note not in first_notes(one)
    fewer = changed(one, acks=Acks.LEADER)
    assert reasons(fewer) == []
    assert first_notes(fewer)[0] == note


def test_an_assumed_release_and_number_of_replicas_are_told_first(tmp_path: Path) -> None:
    """Files named by options have the brokers' default, and files of a folder three replicas: both answers say so.

    A folder without a release has the newest release, and its answer says so.
    """
    topic, producer = tmp_path / "topic.properties", tmp_path / "producer.properties"
    producer.write_text("bootstrap.servers=a:9092\nacks=all\n")
    for written, alone in (
        ("retention.ms=-1\n", ""),
        ("replication.factor=-1\n", "replication.factor=-1, and default."),
    ):
        topic.write_text(written)
        told = first_notes(Source(None, "4.0", str(topic), producer=producer).read())
        said = "replication.factor is in no file: 1, the default of Kafka 4.0, is assumed (--assume replicas=N)"
        assert told == [alone + said]
    topic.write_text("retention.ms=-1\n")
    in_folder = Source(tmp_path, "4.0").read()
    assert first_notes(in_folder) == ["replication.factor is in no file: 3 is assumed (--assume replicas=N)"]
    assert first_notes(Source(tmp_path, "4.0", assume=("replicas=3",)).read()) == []
    (of_release,) = first_notes(Source(tmp_path, assume=("replicas=3",)).read())
    newest = f"Kafka {Release(*NEWEST)} is assumed (--kafka V names another release)"
    assert of_release == f"the release of the brokers is in no file: {newest}"
    assert first_notes(Source(None, "4.0", str(topic), producer=producer, assume=("replicas=3",)).read()) == []


def test_misspelt_names_come_before_names_without_a_similar_one() -> None:
    unlike = tuple(f"{name}: unknown, {GOES_ON}" for name in ("a", "b", "c"))
    near = f"ack: unknown, {GOES_ON}; did you mean acks?"
    told = first_notes(replace(samples.DEPLOYMENT, notes=(*unlike, near)))
    assert told == [near, *unlike[:2], "1 more note: --details"]


def test_all_misspelt_names_are_told() -> None:
    near = tuple(f"{name} (p:1): unknown, {GOES_ON}; did you mean {name}s?" for name in "abcde")
    unlike = f"x (p:2): unknown, {GOES_ON}"
    told = first_notes(replace(samples.DEPLOYMENT, notes=(*near, unlike)))
    others = "also unknown, with the names that are probably meant: b (bs), c (cs), d (ds), e (es)"
    assert told == [near[0], others, "1 more note: --details"]


def test_min_insync_replicas_beside_an_acknowledgement_by_the_leader_is_told(tmp_path: Path) -> None:
    (tmp_path / "producer.properties").write_text("bootstrap.servers=a:9092\nacks=1\n")
    (tmp_path / "server.properties").write_text("min.insync.replicas=2\ndefault.replication.factor=3\nnode.id=1\n")
    (told,) = first_notes(Source(tmp_path, "4.0").read())
    assert told.startswith("min.insync.replicas=2 has no effect on this producer's writes")


def test_several_pipelines_share_a_note_or_name_the_first_with_the_note() -> None:
    near = f"ack: unknown, {GOES_ON}; did you mean acks?"
    assumed = "replication.factor is in no file: 3 is assumed (--assume replicas=N)"
    one = replace(samples.DEPLOYMENT, name="one", notes=(assumed, near))
    two = replace(samples.DEPLOYMENT, name="two", notes=(assumed, f"file, {AS_READ}: a note of its reader"))
    assert first_notes_of_several([one, two]) == [assumed, f"one: {near}"]
    three = replace(one, name="three")
    assert first_notes_of_several([one, two, three]) == [assumed, f"one and 1 other pipeline: {near}"]


def test_notes_stand_under_the_heading_of_their_kind() -> None:
    notes = {
        "replication.factor is in no file: 3 is assumed": "assumed by Proofka, because no file states it",
        f"a.yaml, {AS_READ}: a failed record is skipped": "assumed by Proofka, because no file states it",
        f"ack: unknown, {GOES_ON}; did you mean acks?": "probably misspelt, so without effect",
        f"{PASSED_OVER}: a.yaml:3: acks: must be all": "rejected, and left out",
        "Java producer 4.3 silently disables idempotence (rule P12)": "changed silently by clients or brokers",
    }
    assert {note: heading for heading, those in noted(notes) for note in those} == notes


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('kafka: "4.0"\nconsumer: {version: "3.5", group.protocol: consumer}', NOT_OF_THIS_RELEASE),
        ('kafka: "4.0"\nconsumer: {version: "3.7", group.protocol: classic}', None),
        ('kafka: "2.0"\nconsumer: {enable.metrics.push: true}', None),
        ('kafka: "4.0"\nbroker: {offsets.topic.replication.factor: 1}', ONE_COPY_OF_OFFSETS),
        ('kafka: "4.0"\nbroker: {offsets.topic.replication.factor: 3}', None),
        (
            'kafka: "4.0"\nbroker: {offsets.topic.replication.factor: 1}\nassume: {faults: {lost-offsets: 1}}',
            None,
        ),
    ],
)
def test_settings_without_their_expected_effect_are_told(tmp_path: Path, text: str, told: str | None) -> None:
    one = deployment_of(f"{text}\ntopic: {{replicas: 3}}\n", tmp_path)
    found = [
        words for words in (NOT_OF_THIS_RELEASE, ONE_COPY_OF_OFFSETS) for note in first_notes(one) if words in note
    ]
    assert found == ([] if told is None else [told])
