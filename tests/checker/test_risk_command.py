"""``proofka risk``: its input, its statuses, JSON, and repairs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from proofka.checker.cli import app
from proofka.properties.verdict import Status, Verdict
from proofka.reports.document import to_document
from tests.checker.risk.test_windows import TWO_BROKERS
from tests.reports import samples

ROOT = Path(__file__).parents[2]
RATES = """\
faults:
  kill: {rate: 4/year, per: broker, lasts: 10min, exposure: 0.5}
  power-loss: {rate: 0.2/year, per: broker, lasts: 30min}
  consumer-crash: {rate: 2/month, per: pipeline, lasts: 2min}
causes: {}
"""
ALONE = replace(
    samples.VIOLATED,
    cut_sets=samples.VIOLATED.cut_sets[:1],
    traces=samples.VIOLATED.traces[:1],
    coverage=samples.COMPLETE,
)
HOLDS = samples.verdict("no-skip", Status.HOLDS, required=True, coverage=samples.COMPLETE)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rates.yaml").write_text(RATES, encoding="utf-8")


def written(*verdicts: Verdict) -> str:
    result = replace(samples.RESULT, verdicts=verdicts)
    Path("result.json").write_text(json.dumps(to_document(samples.DEPLOYMENT, result)), encoding="utf-8")
    return "result.json"


def run(*arguments: str) -> tuple[int, str, str]:
    found = CliRunner().invoke(app, ["risk", *arguments])
    return found.exit_code, found.stdout, found.stderr


def document(*arguments: str) -> dict[str, Any]:
    status, out, _ = run(*arguments, "--json")
    assert status in (0, 1, 3)
    found: dict[str, Any] = json.loads(out)
    return found


def test_the_answer_is_an_interval_for_each_required_property() -> None:
    status, out, _ = run(written(ALONE, HOLDS), "--rates", "rates.yaml")
    assert status == 0
    assert "no-acked-loss  5.9 to 13" in out
    assert "no-skip        0 to 0.0022, at most once in 455 years" in out


def test_json_has_numbers_that_are_not_rounded() -> None:
    found = document(written(ALONE, HOLDS), "--rates", "rates.yaml", "--property", "no-acked-loss")
    (risk,) = found["risks"]
    assert 12.0 < risk["upper"] < 12.1
    assert 5.9 < risk["lower"] < 6.0
    assert risk["fault_sets"][0]["faults"] == {"kill": 1}
    assert {one["name"] for one in risk["sources"]} == {"kill", "power-loss", "consumer-crash"}
    assert found["rates"]["faults"][0] == {
        "kind": "kill",
        "a_year": 4.0,
        "per": "broker",
        "lasts": 600.0,
        "exposure": 0.5,
    }


@pytest.mark.parametrize(("most", "status"), [("13", 0), ("6.5", 3), ("5", 1), ("0", 1)])
def test_the_accepted_number_decides_the_status(most: str, status: int) -> None:
    assert run(written(ALONE), "--rates", "rates.yaml", "--at-most", most)[0] == status


def test_a_number_without_an_upper_end_is_undecided() -> None:
    Path("rates.yaml").write_text(RATES.replace("  power-loss", "  disk-loss"), encoding="utf-8")
    status, out, _ = run(written(ALONE), "--rates", "rates.yaml")
    assert status == 3
    assert "no upper end: no rate for power-loss" in out


@pytest.mark.parametrize("most", ["-1", "nan", "inf", "few"])
def test_accepted_numbers_are_0_or_more(most: str) -> None:
    status, _, err = run(written(ALONE), "--rates", "rates.yaml", "--at-most", most)
    assert status == 2
    assert "not a number of violations a year" in err


def test_rates_are_needed() -> None:
    status, _, err = run(written(ALONE))
    assert status == 2
    assert "give --rates FILE" in err
    assert "(D01)" in err


def test_rates_of_the_project_file_of_the_folder_are_read() -> None:
    below = "".join(f"  {line}\n" for line in RATES.splitlines())
    Path("proofka.yaml").write_text(f"pipelines: [a]\nrates:\n{below}", encoding="utf-8")
    assert run(written(HOLDS))[0] == 0
    Path("proofka.yaml").write_text("pipelines: [a]\n", encoding="utf-8")
    status, _, err = run(written(HOLDS))
    assert status == 2
    assert "proofka.yaml: has no rates" in err


def test_wrong_rates_are_named_in_a_line() -> None:
    Path("rates.yaml").write_text(RATES.replace("4/year", "-4/year"), encoding="utf-8")
    status, _, err = run(written(ALONE), "--rates", "rates.yaml")
    assert status == 2
    assert err.startswith("rates.yaml:2: rates.faults.kill.rate: must be a number from 0 with a unit")
    assert err.rstrip().endswith("(W06)")
    assert run(written(ALONE), "--rates", "missing.yaml")[0] == 2


def test_unknown_properties_are_refused() -> None:
    status, _, err = run(written(ALONE), "--rates", "rates.yaml", "--property", "no-skips")
    assert status == 2
    assert "--property no-skips: has no verdict here; choose from no-acked-loss (D02)" in err


def test_a_trace_of_another_model_is_refused() -> None:
    """The trace of several faults in this result is no run of the model."""
    status, _, err = run(written(samples.VIOLATED), "--rates", "rates.yaml")
    assert status == 2
    assert "(D04)" in err


def test_codes_have_a_meaning() -> None:
    for code in ("D01", "D02", "D03", "D04", "W06"):
        found = CliRunner().invoke(app, ["help", code])
        assert found.exit_code == 0
        assert f"{code} is the code of an error" in found.stdout


def test_windows_over_all_runs_make_the_number_smaller() -> None:
    Path("two.yaml").write_text(TWO_BROKERS.replace("RANGE", "1s..60s"), encoding="utf-8")
    Path("rates.yaml").write_text(RATES.replace("consumer-crash", "slow-follower"), encoding="utf-8")
    asked = ("two.yaml", "--rates", "rates.yaml", "--faults", "2")
    (without,), (within,) = document(*asked)["risks"], document(*asked, "--windows")["risks"]
    sets = {tuple(sorted(one["faults"])): one for one in within["fault_sets"]}
    found = sets["kill", "power-loss"]
    assert found["window_of_all_runs"]["most_ms"] > 60_000
    alone = {tuple(sorted(one["faults"])): one["alone"] for one in without["fault_sets"]}
    assert found["alone"] < 0.5 * alone["kill", "power-loss"]
    assert within["upper"] <= without["upper"]
    assert all(one["window_of_all_runs"] is None for one in without["fault_sets"])


@pytest.mark.slow
def test_the_example_of_the_page_is_the_output() -> None:
    page = (ROOT / "docs" / "risk.md").read_text(encoding="utf-8").partition("## Example\n")[2]
    _, rates, _, told, *_ = page.split("```")
    Path("rates.yaml").write_text(rates.removeprefix("yaml\n"), encoding="utf-8")
    shown, _, printed = told.strip().partition("\n")
    words = shown.replace("examples/", f"{ROOT}/examples/").split()
    status, out, _ = run(*words[3:])
    assert status == 0
    assert [line.rstrip() for line in out.splitlines()] == [line.rstrip() for line in printed.splitlines()]


def test_the_rates_of_the_page_are_read() -> None:
    page = (ROOT / "docs" / "risk.md").read_text(encoding="utf-8").partition("## Rates\n")[2]
    Path("rates.yaml").write_text(page.split("```")[1].removeprefix("yaml\n"), encoding="utf-8")
    assert run(written(HOLDS), "--rates", "rates.yaml")[0] == 0


def test_repairs_are_printed_with_their_numbers() -> None:
    """With acks=1 a kill loses a record; with acks=all it does not."""
    text = 'kafka: "4.0"\nproducer: {acks: 1}\ntopic: {replicas: 3}\nassume: {faults: {total: 1, kill: 1}}\n'
    Path("orders.yaml").write_text(text + "bounds: {records: 1}\n", encoding="utf-8")
    asked = ("orders.yaml", "--rates", "rates.yaml", "--property", "no-acked-loss", "--repairs", "--faults", "1")
    found = document(*asked)
    repair = found["repairs"][0]
    assert repair["changes"] == ["producer.acks=all"]
    (before,), (after,) = found["risks"], repair["risks"]
    assert before["upper"] > 12
    # The other kinds have rates and were not explored, so they count with and without the repair.
    assert after["upper"] == pytest.approx(before["upper"] - 12.0, abs=0.1)
