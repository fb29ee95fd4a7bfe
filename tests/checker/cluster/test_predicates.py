"""Predicates find the frame of one record, offset, or ISR among others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from checker.cluster import predicates
from checker.cluster.bodies import Topic, alter_partition_request
from checker.cluster.frames import Frame
from checker.cluster.gate import Matching
from tests.checker.cluster.bytes_of_clients import RELEASES, TOPIC_IDS, captured


def topic(release: str, name: str) -> Topic:
    """Return one of the topics of the captured frames."""
    return Topic(name, TOPIC_IDS[release, name])


def every(release: str) -> dict[str, Frame]:
    """Return a frame of each kind that predicates look at, and of another kind."""
    kinds = {
        "produce": ("java-p", "Produce request"),
        "answer": ("java-p", "Produce response"),
        "fetch": ("java-c", "Fetch request"),
        "records": ("java-c", "Fetch response"),
        "empty": ("broker-2-fetcher-0", "Fetch response"),
        "isr": ("1", "AlterPartition request"),
        "commit": ("java-c", "OffsetCommit request"),
        "other": ("java-p", "EndTxn request"),
    }
    frames = {name: captured(release, *kind) for name, kind in kinds.items()}
    frames["answer"] = replace(frames["answer"], request=frames["produce"])
    return frames


def found(release: str, matching: Matching) -> list[str]:
    """Return the names of the frames that a predicate finds."""
    return [name for name, frame in every(release).items() if matching(frame)]


@pytest.mark.parametrize("release", RELEASES)
def test_each_predicate_finds_only_its_frame(release: str) -> None:
    u, t = topic(release, "u"), topic(release, "t")
    assert found(release, predicates.produces(b"record-0")) == ["produce"]
    assert found(release, predicates.produces(b"record-9")) == []
    assert found(release, predicates.answers(b"record-0")) == ["answer"]
    assert found(release, predicates.answers(b"record-9")) == []
    assert found(release, predicates.fetches(u, 0, 0)) == ["fetch"]
    assert found(release, predicates.fetches(u, 0, 1)) == []
    assert found(release, predicates.fetches(u, 1, 0)) == []
    assert found(release, predicates.fetches(t, 0, 0)) == []
    assert found(release, predicates.carries_records(u, 0)) == ["records"]
    assert found(release, predicates.carries_records(t, 0)) == []
    assert found(release, predicates.commits(u, 0, 6)) == ["commit"]
    assert found(release, predicates.commits(u, 0, 5)) == []


@pytest.mark.parametrize("release", RELEASES)
def test_an_isr_is_found_in_any_order(release: str) -> None:
    (partition,) = alter_partition_request(every(release)["isr"]).partitions
    altered = Topic("any", str(partition.place.topic_id))
    assert found(release, predicates.asks_for_isr(altered, partition.place.partition, (2, 1))) == ["isr"]
    assert found(release, predicates.asks_for_isr(altered, partition.place.partition, (1,))) == []
    assert found(release, predicates.asks_for_isr(topic(release, "u"), partition.place.partition, (2, 1))) == []
