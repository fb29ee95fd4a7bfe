"""Coverage by runs, and the command that checks recorded runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from typer.testing import CliRunner

from proofka.checker.cli import app
from proofka.checker.cli.conform import summary
from proofka.checker.conformance.coverage import Coverage, checked, checked_together, in_words
from proofka.checker.conformance.events import Event, Recording, to_json
from proofka.checker.conformance.recording import events_of
from proofka.checker.conformance.tracker import Answer
from tests.checker.conformance.small_models import three_brokers
from tests.checker.conformance.test_recording import SENT
from tests.checker.conformance.walks import Walker, shown

ABOUT = {"seed": 3, "client": "java 4.0", "kafka": "4.0.1"}


def sent() -> Recording:
    """Return a run that sends one record."""
    return Recording(three_brokers("acks-1").pipeline.deployment, events_of(SENT), ABOUT)


def wrong() -> Recording:
    """Return the run with an acknowledgement that no request explains."""
    events = tuple(event for event in sent().events if event.kind != "requested")
    return replace(sent(), events=events)


def test_a_run_needs_the_actions_without_which_it_is_rejected() -> None:
    run = checked(sent())
    assert run.outcome.answer is Answer.ACCEPTED
    assert run.needed == {"send", "transmit", "append", "acknowledge", "fetch"}
    assert run.rejects == {"nothing-replicated", "isr-acknowledges"}
    assert run.group == ("java 4.0", "4.0.1")
    assert run.needed < run.actions and "poll" not in run.actions


def test_runs_checked_together_have_the_answers_of_each_alone() -> None:
    killed = Event("killed", {"broker": 3}, opens=1000, closes=1000)
    longer = replace(sent(), events=(*sent().events, killed))
    other = replace(sent(), deployment=three_brokers("acks-all-min-isr-2").pipeline.deployment)
    recordings = [sent(), longer, other, wrong()]
    together = {id(run.recording): run for run in checked_together(recordings)}
    assert len(together) == 4
    for recording in recordings:
        alone, run = checked(recording), together[id(recording)]
        assert (run.outcome.answer, run.needed, run.rejects) == (alone.outcome.answer, alone.needed, alone.rejects)
    assert "kill" in together[id(longer)].needed


def test_a_log_that_is_longer_than_the_bound_of_the_model_gets_room() -> None:
    entries = [{"record": 0, "epoch": 1}] * (sent().deployment.bounds.log + 1)
    long = replace(
        sent(), events=(*sent().events, Event("log", {"broker": 1, "entries": entries}, opens=9e9, closes=9e9))
    )
    runs = {len(run.recording.events): run for run in checked_together([sent(), long])}
    assert runs[len(sent().events)].outcome.answer is Answer.ACCEPTED
    assert runs[len(long.events)].outcome.answer is Answer.REJECTED
    assert runs[len(long.events)].recording.deployment.bounds.log == len(entries) + 1


def test_runs_are_counted_by_client_and_release() -> None:
    coverage = Coverage()
    for recording in (sent(), sent(), replace(wrong(), about={**ABOUT, "kafka": "3.9.2"})):
        coverage.add(checked(recording))
    assert coverage.answers == {
        ("java 4.0", "4.0.1"): {Answer.ACCEPTED: 2},
        ("java 4.0", "3.9.2"): {Answer.REJECTED: 1},
    }
    assert coverage.needed["append"] == {("java 4.0", "4.0.1"): 2}
    assert "truncate" in coverage.unexercised and "append" not in coverage.unexercised
    assert coverage.rejected_by["nothing-replicated"] == {("java 4.0", "4.0.1"): 2}
    assert "no-truncation" in coverage.unrejected


def test_a_rejection_is_told_in_the_words_of_the_model() -> None:
    run = checked(wrong())
    assert run.outcome.answer is Answer.REJECTED
    words = next(in_words(run))
    assert words["broker 1's log"] == "[]" and words["record 1"] == "in the accumulator"


def conform(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["conform", *arguments])
    return result.exit_code, result.output


def test_recorded_runs_are_checked_again(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(to_json(sent()), encoding="utf-8")
    bad.write_text(to_json(wrong()), encoding="utf-8")
    status, text = conform("--recorded", str(good))
    assert status == 0
    assert (
        "a behaviour of the model" in text
        and "1 of 1 recordings" in text
        and "none of the 1 recordings needs: " in text
    )
    status, text = conform("--recorded", str(good), "--recorded", str(bad))
    assert status == 1
    assert "NOT a behaviour of the model; event" in text and "answered(record=0" in text and "1 of 2 recordings" in text


def test_a_summary_without_an_examined_recording_claims_nothing_about_actions() -> None:
    coverage = Coverage()
    coverage.add(checked(sent(), most_examined=0))
    text = " ".join(summary(coverage))
    assert "1 of the accepted recordings: not examined" in text
    assert "recordings needs" not in text and "mutated models that reject" not in text


def test_a_run_at_a_bound_is_undecided(tmp_path: Path) -> None:
    model = three_brokers("acks-1")
    small = replace(model.pipeline.deployment, bounds=replace(model.pipeline.deployment.bounds, epochs=2))
    moved = Event("decided", {"leader": 2, "epoch": 2, "isr": [1, 2, 3]}, opens=0, closes=0)
    again = Event("decided", {"leader": 1, "epoch": 3, "isr": [1, 2, 3]}, opens=1, closes=1)
    file = tmp_path / "run.json"
    file.write_text(to_json(Recording(small, (moved, again), ABOUT)), encoding="utf-8")
    status, text = conform("--recorded", str(file))
    assert status == 3 and "the bound epochs is reached" in text


def test_wrong_input_ends_with_one_line(tmp_path: Path) -> None:
    file = tmp_path / "no.json"
    file.write_text("{}", encoding="utf-8")
    empty = tmp_path / "empty"
    empty.mkdir()
    refused = {
        (): "name a DEPLOYMENT to run",
        ("orders.yaml", "--recorded", str(file)): "name a DEPLOYMENT to run",
        ("--recorded", str(file)): "no.json: is no recording of a run (it has no 'format'); write one with",
        ("--recorded", "none"): "none: cannot be read: No such file or directory",
        ("--recorded", str(empty)): "empty: has no recordings; proofka conform DEPLOYMENT --keep DIR writes some",
        ("orders.yaml", "--keep", str(file)): "no.json: is a file; name a folder",
    }
    for arguments, said in refused.items():
        status, text = conform(*arguments)
        assert status == 2 and len(text.strip().splitlines()) == 1 and said in text, text


@pytest.mark.parametrize(
    ("option", "value"),
    [("--runs", "5"), ("--seed", "1"), ("--assume", "replicas=2"), ("--keep", "new"), ("--kafka-home", "kafka")],
)
def test_options_of_new_runs_are_refused_beside_recorded_runs(option: str, value: str, tmp_path: Path) -> None:
    file = tmp_path / "good.json"
    file.write_text(to_json(sent()), encoding="utf-8")
    status, text = conform("--recorded", str(file), option, value)
    assert (
        status == 2
        and text == f"{option}: has no effect on recorded runs; leave the option out, or name a DEPLOYMENT\n"
    )


def test_walks_are_recordings_like_others() -> None:
    model, random = three_brokers("acks-1"), Random(2)
    walk = Walker(model.system).walk(random, 30, 1)
    run = checked(Recording(model.pipeline.deployment, tuple(shown(model, walk, random))))
    assert run.outcome.answer is Answer.ACCEPTED and run.group == ("unknown", "unknown")
    assert run.needed <= {taken.action.name for taken in walk}


def test_a_recording_that_is_too_large_to_examine_is_counted() -> None:
    coverage = Coverage()
    coverage.add(checked(sent(), most_examined=0, most_mutated=0))
    assert (coverage.unexamined, coverage.needed) == (1, {})
    coverage.add(checked(wrong()))
    assert coverage.unexamined == 1, "a recording that is rejected needs no action"
