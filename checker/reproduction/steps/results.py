"""Results that a consumer writes in a transaction with its offsets (semantics 11.3)."""

from __future__ import annotations

from collections.abc import Sequence

from proofka.checker.reproduction.errors import DivergedError
from proofka.checker.reproduction.replay import TIMER_SECONDS, Replay


def write_results(replay: Replay, records: Sequence[tuple[int, int]], *, member: int) -> None:
    """Write the results of (offset, record) pairs and the offset after them in one transaction, and commit.

    ``member``: number of the consumer's program. Nothing happens if results are not written in transactions. Raises
    DivergedError if the transaction fails.
    """
    writer = replay.consuming.results.get(member)
    if writer is None or not records:
        return
    passed = replay.plan.application.get("group_metadata", "passed") == "passed"
    membership = {"membership": replay.consuming.memberships[member]} if passed else {}
    calls = [writer.ask("begin", seconds=TIMER_SECONDS)]
    for _, record in records:
        writer.ask("send", record=record, seconds=TIMER_SECONDS)
    offset = max(offset for offset, _ in records) + 1
    names = {"topic": replay.topic, "group": replay.group}
    calls.append(writer.ask("send_offsets", offset=offset, seconds=TIMER_SECONDS, **names, **membership))
    calls.append(writer.ask("commit", seconds=TIMER_SECONDS))
    error = next((event["error"] for event in calls if event.get("error")), None)
    replay.note("results", f"committed with offset {offset}" if error is None else f"refused: {error}")
    if error is not None:
        raise DivergedError("the consumer commits results and offsets", f"the transaction of results fails: {error}")


def write_late_results(replay: Replay, offset: int, record: int) -> None:
    """Write the result of a record that an evicted member still has. Raises DivergedError if the member is refused."""
    evicted = [number for number in replay.consuming.results if number < replay.consuming.programs]
    write_results(replay, [(offset, record)], member=max(evicted, default=replay.consuming.programs))
