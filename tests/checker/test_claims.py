"""Claims are decided by exploring: what comes out depends on the deployments and on nothing that is written down."""

from __future__ import annotations

import re
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from proofka.checker.claims import decide, decide_all
from proofka.model.deployment import read_deployment
from proofka.properties.claims.all_claims import claims, find_claims, incidents
from proofka.properties.claims.claim import Claim, Outcome
from proofka.properties.verdict import Status
from proofka.reports.claims import write_claims
from tests.checker.test_cli import proofka

ROOT = Path(__file__).parents[2]


def claim(wanted: str) -> Claim:
    (found,) = find_claims([wanted])
    return found


def turned_round(one: Claim) -> Claim:
    """Return the claim with the opposite meaning."""
    return replace(one, cases=tuple(replace(case, holds=not case.holds) for case in one.cases))


def test_trace_confirms_a_claim_of_possibility() -> None:
    decision = decide(claim("C005"))
    (answer,) = decision.answers
    assert decision.outcome is Outcome.CONFIRMED
    assert answer.verdict.cut_sets == ((("kill", 1),),)
    assert answer.verdict.traces


@pytest.mark.slow
def test_the_contrary_is_refuted() -> None:
    assert decide(turned_round(claim("C005"))).outcome is Outcome.REFUTED
    assert decide(turned_round(claim("C011"))).outcome is Outcome.REFUTED


@pytest.mark.slow
def test_conditional_claim_names_its_conditions() -> None:
    decision = decide(claim("C017"))
    assert decision.outcome is Outcome.CONDITIONAL
    in_sync = "acks=all, and the other replicas are in sync"
    assert [answer.case.condition for answer in decision.when_true] == [in_sync, f"{in_sync}, Kafka 3.9"]
    out_of_sync = "acks=all, and the other replicas have left the in-sync set"
    stalls = "acks=all, the other replicas are in sync, and the controller of Kafka 3.9 stalls as it registers a broker"
    assert [answer.case.condition for answer in decision.when_false] == [stalls, out_of_sync, "acks=1"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "incident", [pytest.param(incident, id=incident.id) for incident in incidents() if incident.cases]
)
def test_incident_is_found_and_disappears_with_the_change_that_ended_it(incident: Claim) -> None:
    assert {case.holds for case in incident.cases} == {True, False}
    assert decide(incident).outcome is Outcome.CONFIRMED


def test_a_pass_without_its_witness_decides_nothing() -> None:
    asked = claim("C003")
    without_faults = replace(asked.cases[0], asked={**asked.cases[0].asked, "assume.faults": {"total": 0}}, holds=True)
    decision = decide(replace(asked, cases=(without_faults,)))
    assert decision.answers[0].verdict.status is Status.VACUOUS
    assert decision.outcome is Outcome.UNDECIDED


def test_stop_ends_the_decisions() -> None:
    stop = threading.Event()
    stop.set()
    assert len(list(decide_all(find_claims(["C004", "C005"]), stop))) <= 1


@pytest.mark.slow
def test_a_whole_table_is_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proofka.checker.claims.decide_all", lambda asked, stop: iter(()))
    number = len(find_claims([]))
    assert proofka("claims").stderr.startswith(
        f"deciding {number} claims, which takes minutes; proofka claims C001 decides one\n"
    )
    assert "takes minutes" not in proofka("claims", "C004", "C005").stderr


def test_the_command(tmp_path: Path) -> None:
    run = proofka("claims", "C005", "C004", "C079", "--out", tmp_path)
    assert run.exit_code == 0, run.stderr
    assert "3 claims: 1 confirmed, 1 about a setting, 1 undecided" in run.stdout
    page = (tmp_path / "claims" / "C005.md").read_text(encoding="utf-8")
    assert "FAULT kill: broker 1 is killed" in page
    assert not (tmp_path / "claims" / "C004.md").exists()
    assert "[C005](claims/C005.md)" in (tmp_path / "claims.md").read_text(encoding="utf-8")
    assert proofka("claims", "C0").exit_code == 2


@pytest.mark.slow
def test_the_pages_of_findings_are_computed_alike(tmp_path: Path) -> None:
    """A setting that is taken to be the safer one, and makes something worse: each with its trace."""
    decisions = list(decide_all(find_claims(["findings"])))
    assert {one.outcome for one in decisions} == {Outcome.CONDITIONAL}
    write_claims(tmp_path, decisions)
    for page in (*tmp_path.glob("*.md"), *tmp_path.glob("findings/*.md")):
        kept = ROOT / "docs" / page.relative_to(tmp_path)
        assert page.read_text(encoding="utf-8") == kept.read_text(encoding="utf-8"), kept.name


@pytest.mark.slow
def test_the_pages_of_claims_are_computed_alike(tmp_path: Path) -> None:
    """docs/claims.md and its pages can be deleted and come back, to the letter."""
    write_claims(tmp_path, list(decide_all(claims())))
    for page in (*tmp_path.glob("*.md"), *tmp_path.glob("claims/*.md")):
        kept = ROOT / "docs" / page.relative_to(tmp_path)
        assert page.read_text(encoding="utf-8") == kept.read_text(encoding="utf-8"), kept.name
    assert {page.name for page in (ROOT / "docs" / "claims").iterdir()} == {
        page.name for page in (tmp_path / "claims").iterdir()
    }


def test_consequences_of_a_setting_are_read_of_the_client() -> None:
    """Nothing of it is written: other values beside it, and other settings, are read and refused like a user's."""
    (claim,) = find_claims(["C084"])
    said = [one.value for one in decide(claim).history]
    assert said == [
        "acks=all",
        "max.in.flight.requests.per.connection=5",
        "retries=2147483647",
        "acks=1 is refused",
        "max.in.flight.requests.per.connection=6 is refused",
        "retries=0 is refused",
    ]
    assert claim.setting is not None
    without = replace(claim.setting, of={**claim.setting.of, "producer.enable.idempotence": False})
    said = [one.value for one in decide(replace(claim, setting=without)).history]
    assert said[1] == "max.in.flight.requests.per.connection=1000000"
    assert all(str(one).endswith("is accepted") for one in said[3:])


@pytest.mark.slow
def test_the_deployments_on_the_pages_can_be_read(tmp_path: Path) -> None:
    pages = sorted(Path("docs/claims").glob("*.md")) + sorted(Path("docs/findings").glob("*.md"))
    read = 0
    for page in pages:
        for number, text in enumerate(re.findall(r"```yaml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)):
            file = tmp_path / f"{page.stem}-{number}.yaml"
            file.write_text(text, encoding="utf-8")
            read_deployment(file)
            read += 1
    assert read > len(pages)
