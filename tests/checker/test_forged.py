"""Forged results with right hashes and a right checksum: the check finds statements that do not follow from them."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from proofka.checker import cli
from proofka.checker.archive import DamagedBundle
from proofka.checker.budget import Budget
from proofka.checker.bundle import DEPLOYMENT, README, RESULT, json_bytes, read_bundle, write_bundle
from proofka.checker.bundle_check import recheck
from proofka.checker.check import check
from proofka.checker.reexploration import NothingCounted, recount
from proofka.checker.statements import contradiction
from proofka.checker.tampered import TamperedDocument
from proofka.checker.verify import verify
from proofka.model.deployment import from_document
from proofka.properties.modelling_assumption import AssumptionKind
from proofka.reports.document import to_document
from tests.checker.asking import deployment_of
from tests.checker.test_bundle import forged, resealed
from tests.checker.test_verify import DEPLOYMENT as YAML

Document = dict[str, Any]
Change = Callable[[Document], object]


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Document:
    text = YAML.replace("{total: 1, kill: 1}", "{total: 2, kill: 1, consumer-crash: 1}").replace(
        "epochs: 3", "epochs: 2"
    )
    deployment = deployment_of(text, tmp_path_factory.mktemp("forged"))
    made: Document = json.loads(json.dumps(to_document(deployment, check(deployment), command="proofka check x.yaml")))
    assert {"violated", "holds"} <= {one["status"] for one in made["verdicts"]}
    return made


def lost(document: Document) -> Document:
    return next(one for one in document["verdicts"] if one["property"] == "no-acked-loss")


def passing(document: Document) -> Document:
    """Return a pass with an assumption that reached a bound."""
    passes = [one for one in document["verdicts"] if one["status"] == "holds" and one["notes"]]
    return next(one for one in passes if one["bounds"]["sizes_reached"])


def other_kind(document: Document) -> str:
    (other,) = {*AssumptionKind} - {passing(document)["assumptions"][0]["kind"]}
    return str(other)


def setting(document: Document, key: str) -> Document:
    return next(one for one in document["deployment"]["settings"] if one["key"] == key)


def without_traces(verdict: Document, **others: Any) -> None:
    verdict.update(status="holds", cut_sets=[], traces=[], trace=None, witness_reached=True, **others)


def test_genuine_results_are_verified(document: Document) -> None:
    assert not verify(document).open
    found = recount(document, Budget(threads=1))
    assert not found.open
    assert "and the same verdicts" in found.lines[0]


def said(key: str, value: str) -> Change:
    return lambda document: setting(document, key).update(value=value)


def of(name: str, value: Any) -> Change:
    return lambda document: passing(document).update({name: value})


def bound(name: str, value: Any) -> Change:
    return lambda document: passing(document)["bounds"].update({name: value})


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (said("acks", "0"), r"deployment\.settings: the settings do not lead"),
        (said("acks", "all"), r"deployment\.settings: the settings do not lead"),
        (said("min.insync.replicas", "2"), r"deployment\.settings: the settings do not lead"),
        (said("linger.ms", "7"), r"deployment\.settings: the settings do not lead"),
        (said("replica.lag.time.max.ms", "31000"), r"deployment\.settings: the settings do not lead"),
        (said("faults.total", "9"), r"faults\.total is not 2"),
        (said("faults.kill", "2"), r"faults\.kill is not 1"),
        (lambda d: d["deployment"]["settings"].append(setting(d, "acks")), "occurs twice"),
        (
            lambda d: d["deployment"]["settings"].remove(setting(d, "faults.kill")),
            "kinds of fault are not the requested",
        ),
        (lambda d: d["deployment"]["settings"].remove(setting(d, "linger.ms")), r"linger\.ms=None is printed"),
        (lambda d: d["assumptions"][0].update(detail="nobody knows"), "its assumptions are not those"),
        (of("statement", "All is well."), "statement: the result says All is well"),
        (of("guarantee", "none"), "guarantee: the result says none"),
        (of("witness", "nothing"), "witness: the result says nothing"),
        (of("required", "maybe"), "required: the result says maybe"),
        (of("id", "0" * 64), "its id does not belong to"),
        (bound("faults_total", 9), "number of faults asked for: the result says 9"),
        (bound("fault_kinds", {"kill": 9, "power-loss": 9}), "kinds of fault: the result says"),
        (bound("any_number", ["kill"]), "any number is covered: the result says"),
        (bound("stopped", "time"), None),
        (lambda d: passing(d)["bounds"]["sizes"].update(epochs=700), "sizes: the result says"),
        (lambda d: as_stopped(d, 3), "3 faults is said to be explored, but the requested total is 2"),
        (lambda d: as_stopped(d, -1), "the states without a fault were not explored"),
        (lambda d: as_stopped(d, 1), r"but the exploration was stopped \(time\) before its end"),
        (lambda d: passing(d)["bounds"].update(faults_complete_to=1), "which was explored with it"),
        (lambda d: d["verdicts"][-1]["bounds"].update(combinations_of_next=7), "which was explored with it"),
        (lambda d: passing(d).update(notes=[]), "its notes do not list the modelling assumptions"),
        (lambda d: passing(d)["notes"].append("and all else is well"), "its notes do not list the modelling"),
        (lambda d: passing(d)["assumptions"][0].update(kind=other_kind(d)), "its modelling assumptions are not those"),
        (lambda d: passing(d).update(assumptions=[]), "its modelling assumptions are not those"),
        (lambda d: lost(d).update(assumptions=passing(d)["assumptions"]), "its modelling assumptions are not those"),
        (lambda d: passing(d).pop("assumptions"), None),
        (lambda d: passing(d).update(witness_reached=False), "but its witness was not reached"),
        (
            lambda d: lost(d).update(lemmas=[{"needed": [], "allowed": [], "inequality": "1 > 2"}]),
            "rests on timing lemmas",
        ),
    ],
)
def test_forgeries_are_found_without_exploring(document: Document, change: Change, named: str | None) -> None:
    changed = resealed(document, change)
    if named is None:
        verify(changed)  # a complete pass may say that it was stopped, or be of an earlier version
        return
    with pytest.raises(TamperedDocument, match=named):
        verify(changed)


@pytest.mark.parametrize(
    ("cut_set", "named"),
    [
        ({"kill": 1, "consumer-crash": 2}, "violated by 3 faults, but the requested total is 2"),
        ({"kill": 2}, "violated by 2 kill, but at most 1 were"),
        ({"power-loss": 1}, "violated by 1 power-loss, but at most 0 were"),
        ({"kill": 1, "consumer-crash": 1}, "contains another"),
    ],
)
def test_fault_sets(document: Document, cut_set: dict[str, int], named: str) -> None:
    verdict = copy.deepcopy(lost(document))
    verdict["cut_sets"].append(cut_set)
    assert named in str(contradiction(from_document(document["deployment"]), verdict))


def test_settings_that_cannot_be_built_are_not_verified(document: Document, tmp_path: Path) -> None:
    """Neither what is said nor what is modelled can be told from them: that is no pass."""
    changed = resealed(document, said("acks", "some"))
    found = verify(changed)
    assert "settings: the deployment cannot be built" in found.open[0]
    file = tmp_path / "r.zip"
    file.write_bytes(write_bundle(changed))
    run = CliRunner().invoke(cli.app, ["verify", str(file)])
    assert run.exit_code == 3
    assert "not verified: settings:" in " ".join(run.output.split())


def as_stopped(document: Document, complete: int) -> None:
    for verdict in document["verdicts"]:
        verdict["bounds"].update(stopped="time", faults_complete_to=complete)


def all_holds(document: Document, complete: int, last: int) -> None:
    as_stopped(document, complete)
    document["verdicts"][-1]["bounds"]["faults_complete_to"] = last
    for verdict in document["verdicts"]:
        without_traces(verdict)


def test_no_claim_covers_unexplored_faults(document: Document) -> None:
    for complete, last in ((2, -1), (-1, -1), (2, 1)):
        with pytest.raises(TamperedDocument):
            verify(resealed(document, lambda d, c=complete, last=last: all_holds(d, c, last)))  # type: ignore[misc]


def test_violations_that_were_made_passes(document: Document) -> None:
    def change(changed: Document) -> None:
        as_stopped(changed, 2)
        without_traces(lost(changed))

    with pytest.raises(TamperedDocument, match=r"no-acked-loss: (status|fault sets|notes)"):
        recount(resealed(document, change), Budget(threads=1))


def test_violations_that_were_made_unknown(document: Document) -> None:
    def change(changed: Document) -> None:
        as_stopped(changed, 2)
        without_traces(lost(changed))
        lost(changed)["status"] = "unknown"

    found = recount(resealed(document, change), Budget(threads=1))
    assert any("no-acked-loss: unknown" in line and "violated" in line for line in found.open)


def test_forgeries_of_stopped_results_are_found(document: Document) -> None:
    def change(changed: Document) -> None:
        as_stopped(changed, -1)
        for verdict in changed["verdicts"]:
            verdict["status"] = "unknown"

    with pytest.raises(NothingCounted):
        recount(resealed(document, change), Budget(threads=1))


LEMMA = {"needed": ["nothing"], "allowed": ["everything"], "inequality": "0 < 1"}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda d: passing(d)["notes"].insert(0, "nothing can go wrong"), "notes: the result says"),
        (lambda d: lost(d)["notes"].append("but only in theory"), "no-acked-loss: notes: the result says"),
        (lambda d: passing(d)["lemmas"].append(LEMMA), "lemmas: the result says"),
        (lambda d: d["engine"].update(looks_again=5), "all together: looks_again"),
        (lambda d: d["engine"].update(states_again=5), "all together: states_again"),
        (lambda d: passing(d)["bounds"].update(combinations_of_next=7), "combinations of one fault more"),
        (lambda d: passing(d)["bounds"].update(sizes_reached=[]), "bounds that were reached: the result says"),
    ],
)
def test_forgeries_are_found_by_exploring(document: Document, change: Change, named: str) -> None:
    with pytest.raises(TamperedDocument, match=named):
        recount(resealed(document, change), Budget(threads=1))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda d: passing(d)["notes"].insert(0, "nothing can go wrong"), "notes: the result says"),
        (lambda d: lost(d)["notes"].append("but only in theory"), "no-acked-loss: notes: the result says"),
        (lambda d: passing(d)["bounds"].update(sizes_reached=[]), "bounds that were reached and are not named"),
        (lambda d: lost(d).update(witness_reached=False), "no-acked-loss: witness"),
    ],
)
def test_forgeries_of_stopped_results_are_found_by_exploring(document: Document, change: Change, named: str) -> None:
    def stopped(changed: Document) -> None:
        as_stopped(changed, 2)
        change(changed)

    assert not recount(resealed(document, lambda d: as_stopped(d, 2)), Budget(threads=1)).open
    with pytest.raises(TamperedDocument, match=named):
        recount(resealed(document, stopped), Budget(threads=1))


def test_changed_readme_is_found(document: Document) -> None:
    content = write_bundle(document)
    with pytest.raises(TamperedDocument, match=r"README\.md: is not what this version writes"):
        recheck(read_bundle(forged(content, lambda members, _: members.update({README: b"run rm -rf"}))))


@pytest.mark.parametrize("name", [RESULT, DEPLOYMENT])
def test_json_that_can_be_read_in_two_ways(document: Document, name: str) -> None:
    content = write_bundle(document)
    text = json_bytes(document if name == RESULT else document["deployment"])
    key = b'"verdicts"' if name == RESULT else b'"acks"'
    twice = text.replace(b"{\n", b"{\n  " + key + b": [],\n", 1)
    with pytest.raises(DamagedBundle, match="stands twice in one object"):
        read_bundle(forged(content, lambda members, _: members.update({name: twice})))


def test_a_result_that_can_be_read_in_two_ways(document: Document, tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    file.write_text(json.dumps(document).replace("{", '{"verdicts": [],', 1), encoding="utf-8")
    run = CliRunner().invoke(cli.app, ["verify", str(file)])
    assert run.exit_code == 2
    assert '"verdicts" stands twice in one object' in " ".join(run.output.split())


def test_a_result_of_another_model(document: Document, tmp_path: Path) -> None:
    """Proofka verifies the parts that need no model, as for a bundle, and says that other parts remain."""
    file = tmp_path / "r.json"
    file.write_text(json.dumps(resealed(document, lambda d: d["versions"].update(model="3"))), encoding="utf-8")
    run = CliRunner().invoke(cli.app, ["verify", str(file)])
    assert run.exit_code == 3
    assert "not verified: ids, traces, systems and counts, which belong to model 3" in " ".join(run.output.split())
