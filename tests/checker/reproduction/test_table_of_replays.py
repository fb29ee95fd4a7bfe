"""The tables of docs/conformance.md about replays."""

from __future__ import annotations

from scripts.write_conformance import gaps


def rows(*replayed: tuple[str, str, int]) -> list[dict[str, str]]:
    """Return rows with these deployments, releases and numbers of traces."""
    return [{"example": name, "kafka": kafka, "number": str(number)} for name, kafka, number in replayed]


def test_a_trace_below_the_last_replayed_one_without_a_replay_is_named() -> None:
    found = rows(("acks-1", "4.0.2", 1), ("acks-1", "4.0.2", 4), ("acks-1", "3.9.2", 1), ("sarama", "4.0.2", 2))
    assert gaps(found)[2:] == ["| acks-1 | 4.0.2 | 2 | 2, 3 |", "| sarama | 4.0.2 | 1 | 1 |"]
