"""Repairs and explanations: held against an exploration of every set of changes there is."""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from proofka.checker import repair as repairing
from proofka.checker.budget import Budget
from proofka.checker.candidate import Candidate
from proofka.checker.check import check
from proofka.checker.explanation import Target, prevented, preventions
from proofka.checker.likely_changes import may_prevent
from proofka.checker.repair import Repair, Search, violated
from proofka.checker.repair_watch import Unwatched
from proofka.checker.run_transfer import Counterexample, run_of
from proofka.model.deployment import DeploymentError, read_deployment
from proofka.model.deployment.changing import Change, changed, strengthenings
from proofka.model.deployment.deployment import Deployment
from proofka.properties.likely_settings import likely_for
from proofka.properties.verdict import Result, Status

TEXT = """\
kafka: "4.0"
topic: {replicas: 2}
broker: {settings: {unclean.leader.election.enable: true}}
producer: {settings: {acks: "1", enable.idempotence: false}}
assume: {faults: {total: 1, kill: 1, producer-crash: 1}}
bounds: {records: 1, log: 2}
require: [no-acked-loss, no-silent-loss, no-log-duplicate]
"""
FEW = (
    "producer.acks=all",
    "topic.min.insync.replicas=2",
    "producer.on_send_error=resend",
    "producer.on_restart=resend",
    "topic.unclean.leader.election.enable=false",
)


@cache
def deployment() -> Deployment:
    file = Path(__file__).with_name("repair.tmp.yaml")
    file.write_text(TEXT, encoding="utf-8")
    try:
        return read_deployment(file)
    finally:
        file.unlink()


def checks(one: Deployment) -> Result:
    return check(one, budget=Budget(threads=1))


def search(one: Deployment, **more: Any) -> Search:
    return Search(one, Budget(threads=1), **more)


@cache
def result() -> Result:
    return checks(deployment())


def few(_: Deployment) -> list[Change]:
    return [next(change for change in strengthenings() if str(change) == words) for words in FEW]


def holding(one: Result) -> set[str]:
    return {v.property for v in one.verdicts if v.required and v.status is Status.HOLDS}


def test_a_run_survives_changes_that_do_not_prevent_it() -> None:
    violated = next(v for v in result().verdicts if v.property == "no-acked-loss")
    assert violated.status is Status.VIOLATED
    counterexample = Counterexample("no-acked-loss", run_of(violated.traces[0].steps))
    restart, acks = (next(c for c in few(deployment()) if str(c) == words) for words in (FEW[3], FEW[0]))
    assert Candidate(changed(deployment(), [restart])).has(counterexample)
    assert not Candidate(changed(deployment(), [acks])).has(counterexample)
    assert Candidate(deployment()).has(counterexample)
    assert not Candidate(deployment()).has(Counterexample("no-such", ()))
    too_short = Counterexample("no-acked-loss", counterexample.run[:-1])
    assert not Candidate(deployment()).has(too_short), "nothing is violated before the end"


def asking(monkeypatch: pytest.MonkeyPatch, require: tuple[str, ...]) -> Deployment:
    monkeypatch.setattr(repairing, "changes_of", few)
    monkeypatch.setattr(repairing, "companions", lambda *_: {})
    return replace(deployment(), require=require)


@pytest.mark.slow
def test_the_repair_is_the_cheapest_of_all_sets_of_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = ("no-acked-loss", "no-silent-loss")
    found = search(asking(monkeypatch, wanted)).repairs(most=10)
    every: dict[frozenset[str], int] = {}
    changes = few(deployment())
    for size in range(len(changes) + 1):
        for chosen in combinations(changes, size):
            try:
                one = checks(changed(deployment(), chosen))
            except DeploymentError:
                continue
            if set(wanted) <= holding(one):
                every[frozenset(map(str, chosen))] = sum(change.cost for change in chosen)
    smallest = {names: cost for names, cost in every.items() if not any(other < names for other in every)}
    told = {frozenset(map(str, repair.changes)): repair.cost for repair in found.found}
    assert told == smallest
    assert [repair.cost for repair in found.found] == sorted(told.values())
    assert all(set(wanted) <= holding(repair.result) for repair in found.found)
    assert all(repair.needed for repair in found.found)
    assert found.refuted, "known runs spare explorations"


@pytest.mark.slow
def test_properties_that_cannot_all_hold_give_a_front(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sending again after a restart stores a record twice; not doing so loses it."""
    found = search(asking(monkeypatch, deployment().require)).repairs()
    assert found.found
    assert not found.whole
    for repair in found.found:
        assert set(repair.mends) < set(deployment().require)
        assert set(repair.mends) == holding(repair.result)
        assert not any(set(repair.mends) < set(other.mends) for other in found.found)
    assert {"no-silent-loss"} < {name for repair in found.found for name in repair.mends}


RIVALS = """\
kafka: "4.0"
topic: {replicas: 2}
producer: {settings: {acks: all, enable.idempotence: false}}
assume: {faults: {total: 1, lost-response: 1, producer-crash: 1}}
bounds: {records: 1, log: 2}
require: [no-silent-loss, no-log-duplicate]
"""


def rivals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Deployment:
    """Read a deployment where sending again after a restart and idempotence each mend a violation that the other does
    not."""
    file = tmp_path / "d.yaml"
    file.write_text(RIVALS, encoding="utf-8")
    two = [
        c
        for c in strengthenings()
        if str(c) in ("producer.on_restart=resend", IDEMPOTENCE) and c.library in ("", "java")
    ]
    monkeypatch.setattr(repairing, "changes_of", lambda _: two)
    monkeypatch.setattr(repairing, "companions", lambda *_: {})
    return read_deployment(file)


def test_a_change_is_not_blamed_for_violations_of_another_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Together they store a record twice after a restart: idempotence alone still mends what a retry stores twice."""
    found = search(rivals(tmp_path, monkeypatch)).repairs()
    told = {(*map(str, repair.changes), *repair.mends) for repair in found.found}
    assert told == {("producer.on_restart=resend", "no-silent-loss"), (IDEMPOTENCE, "no-log-duplicate")}
    assert found.hopeless == ()


def test_partial_repair_is_printed_and_kept_until_a_better_repair(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop = threading.Event()

    class Stopping(Unwatched):
        def found(self, repair: Repair) -> None:
            stop.set()

    asked = rivals(tmp_path, monkeypatch)
    found = Search(asked, Budget(threads=1, stop=stop), Stopping()).repairs()
    assert found.stopped
    assert [(len(one.changes), one.mends, one.needed) for one in found.found] == [(2, ("no-silent-loss",), False)]
    assert found.violated == ("no-silent-loss", "no-log-duplicate")


def test_value_on_which_violations_depend_is_not_a_likely_repair() -> None:
    """An application that forgets unacknowledged records at a restart stores nothing twice; resending is no way out."""
    (row,) = [row for row in likely_for("no-log-duplicate", (("producer-crash", 1),)) if row.key == "on_restart"]
    forget, resend = (
        next(c for c in strengthenings() if str(c) == f"producer.on_restart={v}") for v in ("forget", "resend")
    )
    assert may_prevent(forget, row)
    assert not may_prevent(resend, row)


@pytest.mark.slow
def test_transactions_mend_records_under_way_at_a_crash_of_the_producer() -> None:
    """The requests that a crashed idempotent producer had in flight may be stored after those of the next producer."""
    one = read_deployment(Path(__file__).parents[2] / "examples" / "idempotent.yaml")
    found = search(replace(one, faults=one.faults.up_to(1))).repairs(most=1)
    assert [[change.settings[0] for change in repair.changes] for repair in found.whole] == [
        ["producer.transactional.id"]
    ]


def test_a_search_that_is_stopped_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Changes found until then are kept; nothing that was not examined is called hopeless."""
    stop = threading.Event()
    budget = Budget(threads=1, stop=stop)
    asked = asking(monkeypatch, ("no-acked-loss",))

    class Stopping(Unwatched):
        def tried(self, changes: Sequence[Change], wrong: Collection[str]) -> None:
            stop.set()

    found = Search(asked, budget, Stopping()).repairs()
    assert found.stopped
    assert found.hopeless == ()
    assert found.violated == ("no-acked-loss",)
    assert len(found.found) <= 1
    assert Search(asked, budget).repairs().stopped


def test_the_likeliest_repair_is_told_before_the_cheapest_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the five changes two prevent the loss; the likelier is acks, and the search for a cheaper one goes on."""
    told: list[tuple[list[str], bool]] = []
    stop = threading.Event()

    class Telling(Unwatched):
        def found(self, repair: Repair) -> None:
            told.append(([str(change) for change in repair.changes], repair.needed))
            stop.set()

    asked = asking(monkeypatch, ("no-acked-loss",))
    found = Search(asked, Budget(threads=1, stop=stop), Telling()).repairs()
    assert told[0] == (["producer.acks=all"], False)
    assert found.stopped
    assert [repair.mends for repair in found.found] == [("no-acked-loss",)], "what was found until then is kept"


def test_the_violations_are_told_before_any_change_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []

    class Telling(Unwatched):
        def unchanged(self, result: Result) -> None:
            told.append(", ".join(violated(result)))

        def tried(self, changes: Sequence[Change], wrong: Collection[str]) -> None:
            told.append("tried")

    search(asking(monkeypatch, ("no-acked-loss",)), watch=Telling()).repairs(most=1)
    assert told[0] == "no-acked-loss"
    assert "tried" in told[1:]


def test_the_likeliest_repair_does_not_wait_for_all_states(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part of the states violates something already; what is found in the end is as it is without that look."""
    told: list[str] = []

    class Telling(Unwatched):
        def trying(self, changes: Sequence[Change]) -> None:
            told.append("as it is" if not changes else "trying")

        def found(self, repair: Repair) -> None:
            told.append("found")

    asked = asking(monkeypatch, ("no-acked-loss",))
    at_once = search(asked).repairs()
    monkeypatch.setattr(repairing, "FIRST_LOOK", 100)
    found = search(asked, watch=Telling()).repairs()
    looks = [number for number, one in enumerate(told) if one == "as it is"]
    assert (len(looks), looks[0]) == (2, 0)
    assert "found" in told[: looks[1]]
    assert [(one.changes, one.needed) for one in found.found] == [(one.changes, one.needed) for one in at_once.found]
    assert [one.status for one in found.before.verdicts] == [one.status for one in at_once.before.verdicts]
    assert found.before.verdicts[0].coverage.stopped is None


def test_repair_of_the_first_look_is_kept_when_the_second_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    stop = threading.Event()

    class Stopping(Unwatched):
        def found(self, repair: Repair) -> None:
            stop.set()

    monkeypatch.setattr(repairing, "FIRST_LOOK", 100)
    asked = asking(monkeypatch, ("no-acked-loss",))
    found = Search(asked, Budget(threads=1, stop=stop), Stopping()).repairs()
    assert found.stopped
    assert found.violated == ("no-acked-loss",)
    assert [repair.mends for repair in found.found] == [("no-acked-loss",)]


def test_search_finds_the_repair_without_likely_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repairing, "likely_for", lambda *_: ())
    found = search(asking(monkeypatch, ("no-acked-loss",))).repairs(most=1)
    assert found.whole
    assert found.whole[0].needed


def test_a_property_undecided_before_must_not_be_violated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is skipped where nothing is processed: that pass stays vacuous, and is not called more."""
    found = search(asking(monkeypatch, ("no-acked-loss", "no-skip"))).repairs(most=1)
    (repair,) = found.whole
    before, after = ({v.property: v.status for v in one.verdicts} for one in (found.before, repair.result))
    assert before == {"no-acked-loss": Status.VIOLATED, "no-skip": Status.VACUOUS}
    assert after == {"no-acked-loss": Status.HOLDS, "no-skip": Status.VACUOUS}


@pytest.mark.slow
def test_changes_that_would_have_prevented_a_violation() -> None:
    found = preventions(deployment(), result().verdicts, seconds=None)
    assert all(one.decided for one in found)
    of_loss = {one.change for one in found if one.property == "no-acked-loss"}
    assert {"producer.acks=all", "topic.unclean.leader.election.enable=false"} & of_loss
    assert "producer.on_restart=resend" not in of_loss
    for one in found:
        change = next(change for change in strengthenings() if str(change) == one.change)
        again = checks(changed(deployment(), [change]))
        verdict = next(v for v in again.verdicts if v.property == one.property)
        assert one.cut_set not in verdict.cut_sets


def test_properties_beyond_the_time_limit_are_undecided() -> None:
    """Nothing is said not to prevent it either, but where the trace that is known is possible with the change."""
    acks, restart = (next(c for c in few(deployment()) if str(c) == words) for words in (FEW[0], FEW[3]))
    lost = next(v for v in result().verdicts if v.property == "no-acked-loss")
    targets = [Target(Counterexample(lost.property, run_of(lost.traces[0].steps)), lost.cut_sets[0])]
    assert prevented(changed(deployment(), [acks]), targets, seconds=1e-9) == {lost.property: None}
    assert prevented(changed(deployment(), [restart]), targets, seconds=1e-9) == {lost.property: False}
    stop = threading.Event()
    stop.set()
    found = preventions(deployment(), [lost], stop)
    assert found
    assert not any(one.decided for one in found)


ALONE = """\
kafka: "3.6"
topic: {replicas: 1}
producer: {acks: all}
assume: {faults: {total: 1, power-loss: 1}}
bounds: {records: 1, log: 2}
require: [no-acked-loss]
"""


@pytest.mark.slow
def test_nothing_is_prevented_by_acknowledging_nothing(tmp_path: Path) -> None:
    """Two in sync of one replica (not capped before 3.7): nothing is acknowledged any more, and none of that lost."""
    file = tmp_path / "d.yaml"
    file.write_text(ALONE, encoding="utf-8")
    one = read_deployment(file)
    found = preventions(one, checks(one).verdicts, seconds=None)
    told = {prevention.change for prevention in found if prevention.property == "no-acked-loss"}
    in_sync = next(change for change in strengthenings() if str(change) == "topic.min.insync.replicas=2")
    with_it = next(v for v in checks(changed(one, [in_sync])).verdicts if v.property == "no-acked-loss")
    assert with_it.status is Status.VACUOUS
    assert "topic.flush.messages=1" in told
    assert str(in_sync) not in told
    (repair,) = search(one).repairs(most=1).found
    assert list(map(str, repair.changes)) == ["topic.flush.messages=1"]


IDEMPOTENCE = "producer.enable.idempotence=true"


@pytest.mark.slow
def test_changes_that_only_go_together_are_found(tmp_path: Path) -> None:
    """Idempotence is refused beside acks=1 (rule P02); with acks=all it is what mends a retry that is stored twice."""
    file = tmp_path / "d.yaml"
    text = TEXT.replace("kill: 1, producer-crash: 1", "lost-response: 1")
    file.write_text(text.replace("no-acked-loss, no-silent-loss, ", ""), encoding="utf-8")
    one = read_deployment(file)
    found = search(one).repairs()
    told = [set(map(str, repair.changes)) for repair in found.found]
    assert {IDEMPOTENCE, "producer.acks=all"} in told
    assert all("no-log-duplicate" in holding(repair.result) for repair in found.found)


def test_nothing_to_repair() -> None:
    found = search(replace(deployment(), require=("no-skip",))).repairs()
    assert (found.found, found.violated, found.explored) == ((), (), 0)


@pytest.mark.slow
def test_an_upgrade_is_a_repair_and_no_newer_one_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before KIP-890 a request that is late can leave a transaction open. 4.0 and 4.3 mend it too."""
    one = read_deployment(Path(__file__).parents[2] / "examples" / "transactions.yaml")
    monkeypatch.setattr(repairing, "changes_of", lambda _: [])
    found = search(replace(one, require=("no-hanging-transaction",))).repairs(most=3)
    assert [[str(change) for change in repair.changes] for repair in found.found] == [["kafka=3.9.1"]]
    assert holding(found.found[0].result) == {"no-hanging-transaction"}


def test_changes_that_do_not_cure_a_vacuous_set_are_tried_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each change beside one with which all writes are refused leaves the property vacuous."""
    file = tmp_path / "d.yaml"
    file.write_text(ALONE, encoding="utf-8")
    useless = ("producer.on_send_error=resend", "producer.on_restart=resend", "producer.sends=sync")
    words = ("topic.min.insync.replicas=2", *useless)
    offered = [next(change for change in strengthenings() if str(change) == one) for one in words]
    monkeypatch.setattr(repairing, "changes_of", lambda _: offered)
    monkeypatch.setattr(repairing, "upgrades_of", lambda _: [])
    monkeypatch.setattr(repairing, "companions", lambda *_: {})
    found = search(read_deployment(file)).repairs()
    assert found.found == ()
    assert found.explored == len(["min.insync.replicas alone", *useless, "all at once"])
