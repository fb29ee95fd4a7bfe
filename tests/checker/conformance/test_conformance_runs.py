"""The tables of random runs in docs/conformance.md."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from proofka.checker.conformance.events import to_json
from scripts import conformance_runs, write_conformance
from scripts.conformance_runs import Row, by_action, by_deployment, by_mutation, read, rejections, replaced, unexercised
from tests.checker.conformance.test_coverage import sent, wrong


def row(**changes: str) -> Row:
    """Return the row of an accepted recording."""
    return {
        "deployment": "acks-1-java-39",
        "kafka": "3.9.2",
        "client": "java 3.9",
        "seed": "7",
        "producer": "2",
        "outcome": "accepted",
        "event": "",
        "examined": "yes",
        "needs": "append fetch",
        "mutated": "yes",
        "rejected_by": "nothing-replicated",
        **changes,
    }


REJECTED = row(
    seed="8",
    outcome="rejected",
    event="5 of 9: answered(record=0, broker=1, error=0)",
    examined="no",
    needs="",
    mutated="no",
)
OTHER = row(deployment="acks-all-librdkafka-41", kafka="4.1.2", client="librdkafka 2.16", needs="append")


def test_recordings_are_counted_by_settings_release_and_client() -> None:
    undecided = row(seed="9", outcome="undecided: bound")
    assert by_deployment([row(), row(seed="6"), REJECTED, undecided, OTHER])[2:] == [
        "| acks-1 | 3.9.2 | java 3.9 | 4 | 2 | 1 | 1 |",
        "| acks-all | 4.1.2 | librdkafka 2.16 | 1 | 1 |  |  |",
        "| all recordings |  |  | 5 | 3 | 1 | 1 |",
    ]


def test_an_action_has_its_recordings_by_release_and_client_and_its_rejections() -> None:
    lines = by_action([row(), row(needs="acknowledge"), row(needs="acknowledge"), REJECTED, OTHER])
    assert lines[0] == "| action | Kafka 3.9, java | Kafka 4.1, librdkafka | all | rejected | pass rate |"
    assert lines[2:] == [
        "| `acknowledge` | 2 |  | 2 | 1 | 66.7 % |",
        "| `append` | 1 | 1 | 2 |  | 100.0 % |",
        "| `fetch` | 1 |  | 1 |  | 100.0 % |",
    ]


def test_an_action_that_no_recording_needs_has_its_reason() -> None:
    actions = [{"action": name, "reason": reason} for name, reason in (("append", ""), ("time_out", "a"), ("halt", ""))]
    assert unexercised([row()], actions)[2:] == ["| `time_out` | a |", "| `halt` | not known |"]


def test_rejections_stand_with_their_cause() -> None:
    cause = {**REJECTED, "whose": "the lab", "cause": "a mistake"}
    other = row(seed="10", outcome="rejected", event="1 of 9: log(broker=1, entries=[])")
    assert rejections([row(), REJECTED, other], [cause])[2:] == [
        "| acks-1-java-39 8/2 | answered | the lab | a mistake |",
        "| acks-1-java-39 10/2 | log | not known |  |",
    ]


def test_a_mutation_that_no_recording_rejects_is_named() -> None:
    lines = {line.split(":")[0]: line for line in by_mutation([row(), REJECTED, OTHER])}
    assert lines["| nothing-replicated"].endswith("| 1 | 1 | 2 | 2 |")
    assert lines["| no-truncation"].endswith("|  |  | **none** | 2 |")
    assert "| unclean-election" not in lines


def test_recordings_become_rows_and_a_newer_check_replaces_the_older(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conformance_runs, "RUNS", tmp_path / "runs.csv")
    monkeypatch.setattr(conformance_runs, "ACTIONS", tmp_path / "actions.csv")
    (tmp_path / "recorded").mkdir()
    for number, recording in enumerate((sent(), wrong()), 1):
        about = {**recording.about, "producer": number}
        text = to_json(replace(recording, about=about))
        (tmp_path / "recorded" / f"{number}.json").write_text(text, encoding="utf-8")
    for _ in range(2):
        conformance_runs.add([tmp_path / "recorded"])
        rows = read(tmp_path / "runs.csv")
        assert [found["outcome"] for found in rows] == ["accepted", "rejected"]
        assert set(rows[0]["needs"].split()) == {"send", "transmit", "append", "acknowledge", "fetch"}
        assert rows[1]["event"].partition(": ")[2].startswith("answered(record=0")
    assert {"append", "truncate"} <= {found["action"] for found in read(tmp_path / "actions.csv")}


def test_a_table_of_a_page_is_replaced_and_the_rest_stays() -> None:
    text = "a\n<!-- table: x -->\n\nold\n\n<!-- end of table: x -->\nb\n"
    assert replaced(text, {"x": ["new"]}) == text.replace("old", "new")
    assert replaced(replaced(text, {"x": ["new"]}), {"x": ["old"]}) == text


def test_a_table_without_its_place_is_an_error() -> None:
    with pytest.raises(ValueError, match="table: x"):
        replaced("a page", {"x": ["new"]})


def test_the_page_has_the_tables_of_the_rows() -> None:
    text = write_conformance.PAGE.read_text(encoding="utf-8")
    assert write_conformance.page(text) == text
