"""A result verifies as it was written; tampered with, it is rejected, naming the verdict and the step."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from proofka.checker import cli
from proofka.checker.budget import Budget
from proofka.checker.check import check, explore
from proofka.checker.deepening import Depth
from proofka.checker.tampered import TamperedDocument
from proofka.checker.verify import verify
from proofka.properties.sealing import SEAL, seal
from proofka.reports.document import to_document
from proofka.reports.schema import problem
from tests.checker.asking import deployment_of

Document = dict[str, Any]

DEPLOYMENT = """\
kafka: "4.0"
topic: {replicas: 2, min.insync.replicas: 1}
producer: {acks: 1}
consumer: {group.id: orders, auto.offset.reset: earliest, enable.auto.commit: false}
require: [no-acked-loss]
assume: {faults: {total: 1, kill: 1}}
bounds: {records: 1, log: 2, epochs: 3}
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Document:
    """Return a result with violations and passes, written to JSON and read back."""
    deployment = deployment_of(DEPLOYMENT, tmp_path_factory.mktemp("small"))
    document = to_document(deployment, check(deployment))
    read: Document = json.loads(json.dumps(document))
    return read


@pytest.fixture
def document(written: Document) -> Document:
    return copy.deepcopy(written)


def lost(document: Document) -> Document:
    """Return the verdict that tests tamper with."""
    found: Document = next(v for v in document["verdicts"] if v["property"] == "no-acked-loss")
    assert found["status"] == "violated"
    return found


def edit_traces(document: Document, change: Callable[[Document], None]) -> None:
    """Change the first trace in both places where it stands."""
    verdict = lost(document)
    change(verdict["traces"][0])
    verdict["trace"] = copy.deepcopy(verdict["traces"][0])


def test_document_is_verified_as_written(document: Document) -> None:
    found = verify(document)
    assert not found.open
    violated = [v for v in document["verdicts"] if v["traces"]]
    traces = [trace for v in violated for trace in v["traces"]]
    assert [len(steps) for _, steps in found.replayed] == [len(trace["steps"]) for trace in traces]
    assert all(" is allowed at " in step for _, steps in found.replayed for step in steps)
    assert all(line.endswith("the end violates the property") for line, _ in found.replayed)
    assert set(found.passes) == {v["property"] for v in document["verdicts"]} - {v["property"] for v in violated}
    kinds = {line.partition(":")[0]: line for line in found.lines}
    as_told = "names, notes, the command, and the source files of settings"
    assert list(kinds) == ["settings", "known defects", "ids", "traces", as_told]
    assert f"{len(traces)} traces of {len(violated)} properties replayed on the model" in kinds["traces"]


def test_known_defects_of_another_register_are_not_verified(document: Document) -> None:
    verdict = next(one for one in document["verdicts"] if one["status"] == "holds" and len(one["known_defects"]) > 1)
    lacking, other, *_ = verdict["known_defects"]
    verdict["known_defects"].remove(lacking)
    verdict["known_defects"].append({**other, "id": "KAFKA-0"})
    other["sentence"] = "Nothing happens."
    (line,) = verify({**document, SEAL: seal(document)}).open
    assert line.startswith(f"{verdict['property']}: its known defects are not those of this version")
    assert f"lacks {lacking['id']}, and adds KAFKA-0, and describes differently {other['id']}" in line


@pytest.mark.parametrize(
    ("claim", "named"),
    [({"preventions": []}, "preventions"), ({"others_tried": True}, "sensitivities, thresholds")],
)
def test_claims_that_are_not_computed_again_are_named_for_empty_lists(
    document: Document, claim: Document, named: str
) -> None:
    """An empty list says that nothing was found, which is a claim as well."""
    document.pop("others_tried", None)
    told = f"{named}: not computed again"
    assert not any(told in line for line in verify({**document, SEAL: seal(document)}).lines)
    document.update(claim)
    assert any(line.startswith(told) for line in verify({**document, SEAL: seal(document)}).lines)


def test_command_line_verifies_its_results_only(tmp_path: Path) -> None:
    """``check --json`` and ``verify``: what one writes the other accepts, and a changed copy it does not."""
    source, result = tmp_path / "deployment.yaml", tmp_path / "result.json"
    source.write_text(DEPLOYMENT, encoding="utf-8")
    run = CliRunner().invoke(cli.app, ["check", str(source), "--json", str(result), "--no-sensitivity"])
    assert run.exit_code == 1, run.output
    assert CliRunner().invoke(cli.app, ["verify", str(result)]).exit_code == 0
    document = json.loads(result.read_text(encoding="utf-8"))
    edit_traces(document, lambda trace: trace["steps"].pop(0))
    result.write_text(json.dumps(document), encoding="utf-8")
    run = CliRunner().invoke(cli.app, ["verify", str(result)])
    assert run.exit_code not in (0, None)
    assert "no-acked-loss, step " in run.output
    assert "Traceback" not in run.output


@pytest.mark.slow
def test_a_removed_step(written: Document) -> None:
    """Whichever step is missing: the run is not allowed, says something else, or does not end in the violation."""
    steps = len(lost(written)["traces"][0]["steps"])
    for left_out in range(steps):
        document = copy.deepcopy(written)
        edit_traces(document, lambda trace, left_out=left_out: trace["steps"].pop(left_out))
        with pytest.raises(TamperedDocument, match="no-acked-loss") as rejected:
            verify(document)
        assert "step" in str(rejected.value)


def test_a_change_of_one_copy_of_a_trace_is_named_with_its_step(document: Document) -> None:
    lost(document)["trace"]["steps"][2]["text"] = "nothing happens"
    with pytest.raises(TamperedDocument, match=r"stands in the result twice.* and the two differ in step 3 \(text\)"):
        verify(document)
    lost(document)["trace"]["steps"].pop()
    steps = len(lost(document)["traces"][0]["steps"])
    lost(document)["trace"]["steps"][2] = lost(document)["traces"][0]["steps"][2]
    with pytest.raises(TamperedDocument, match=f"step {steps} is missing in one of them"):
        verify(document)


def test_times_that_the_clocks_also_allow_are_named_as_a_possible_change(document: Document) -> None:
    def later(trace: Document) -> None:
        trace["steps"][-1]["at"] += 1

    edit_traces(document, later)
    with pytest.raises(TamperedDocument, match=r"the checksum does not match.* times of steps") as rejected:
        verify(document)
    assert "besides the traces" not in str(rejected.value)


@pytest.mark.parametrize("status", ["holds", "vacuous", "unknown"])
def test_a_status_that_does_not_fit_the_traces_is_named(document: Document, status: str) -> None:
    lost(document)["status"] = status
    said = f", no-acked-loss: the status is {status}, but there are traces or fault sets, which only a violation has"
    assert str(problem(document)).endswith(said)


def test_a_violation_without_a_trace_is_named(document: Document) -> None:
    passed = next(verdict for verdict in document["verdicts"] if verdict["status"] == "holds")
    passed["status"] = "violated"
    said = f", {passed['property']}: the status is violated, but there is no trace, or no fault set"
    assert str(problem(document)).endswith(said)


def test_the_parts_that_the_checksum_alone_covers_are_named(document: Document) -> None:
    assert verify(document).lines[-1].endswith("and the source files of settings: covered by the checksum only")
    document["command"] = "proofka check orders.yaml --faults 2"
    with pytest.raises(TamperedDocument, match=r"the checksum does not match.* the command"):
        verify(document)


def test_swapped_steps(document: Document) -> None:
    def swap(trace: Document) -> None:
        trace["steps"][0], trace["steps"][1] = trace["steps"][1], trace["steps"][0]

    edit_traces(document, swap)
    with pytest.raises(TamperedDocument, match="no-acked-loss, step 1"):
        verify(document)


def step_of(trace: Document, action: str) -> int:
    return next(i for i, step in enumerate(trace["steps"]) if step["action"] == action)


@pytest.mark.parametrize(
    ("action", "key", "value"),
    [
        ("append", "action", "fetch"),
        ("append", "action", "conjure"),
        ("append", "arguments", {"batch": 0, "leader": 2}),
        ("append", "arguments", {"batch": 0}),
        ("append", "arguments", {"batch": 99, "leader": 1}),
        ("append", "text", "broker 1 appends nothing"),
        ("append", "actor", "broker 2"),
        ("append", "lane", "consumer"),
        ("append", "fault", "kill"),
        ("append", "changes", []),
        ("kill", "fault", "power-loss"),
        ("kill", "fault", None),
        ("kill", "action", "lose_disk"),
    ],
)
def test_a_changed_step(document: Document, action: str, key: str, value: Any) -> None:
    """Any member of a step: the step's number is in the message."""
    place = step_of(lost(document)["traces"][0], action)
    edit_traces(document, lambda trace: trace["steps"][place].__setitem__(key, value))
    with pytest.raises(TamperedDocument, match=rf"no-acked-loss, step {place + 1}\b"):
        verify(document)


def test_a_changed_change(document: Document) -> None:
    place = step_of(lost(document)["traces"][0], "append")
    edit_traces(document, lambda trace: trace["steps"][place]["changes"][0].__setitem__("after", "something else"))
    with pytest.raises(TamperedDocument, match=rf"step {place + 1}\b"):
        verify(document)


@pytest.mark.parametrize("which", [slice(None), slice(1, 2)])
def test_times_that_are_left_out(document: Document, which: slice) -> None:
    """A run that has no times in this deployment could be shown without any."""

    def change(trace: Document) -> None:
        for step in trace["steps"][which]:
            step["at"] = None

    edit_traces(document, change)
    with pytest.raises(TamperedDocument, match="steps have no time"):
        verify(document)


def test_a_run_cut_off_before_the_violation(document: Document) -> None:
    edit_traces(document, lambda trace: trace["steps"].pop())
    last = len(lost(document)["traces"][0]["steps"])
    with pytest.raises(TamperedDocument, match=rf"step {last}\b.*not violated"):
        verify(document)


@pytest.mark.parametrize("status", ["holds", "vacuous", "unknown"])
def test_a_violation_made_a_pass(document: Document, status: str) -> None:
    lost(document)["status"] = status
    with pytest.raises(TamperedDocument, match="no-acked-loss"):
        verify(document)


def test_a_pass_made_a_violation(document: Document) -> None:
    passing = next(v for v in document["verdicts"] if v["status"] != "violated")
    passing["status"] = "violated"
    with pytest.raises(TamperedDocument, match=passing["property"]):
        verify(document)


@pytest.mark.parametrize(
    "cut_sets",
    [[], [{"kill": 2}], [{"power-loss": 1}], [{}], pytest.param([{"kill": 1}, {"cut-off": 1}], marks=pytest.mark.slow)],
)
def test_changed_cut_sets(document: Document, cut_sets: list[dict[str, int]]) -> None:
    lost(document)["cut_sets"] = cut_sets
    with pytest.raises(TamperedDocument, match="no-acked-loss"):
        verify(document)


@pytest.mark.parametrize("faults", [{"kill": 2}, {"power-loss": 1}, {}])
def test_faults_renamed_everywhere(document: Document, faults: dict[str, int]) -> None:
    """Cut set and trace agree with each other, and not with the steps."""
    lost(document)["cut_sets"] = [faults]
    edit_traces(document, lambda trace: trace.__setitem__("faults", faults))
    with pytest.raises(TamperedDocument, match="no-acked-loss"):
        verify(document)


def test_a_changed_explanation(document: Document) -> None:
    edit_traces(document, lambda trace: trace.__setitem__("failure", "nothing of importance"))
    with pytest.raises(TamperedDocument, match="no-acked-loss"):
        verify(document)


def test_an_unknown_property(document: Document) -> None:
    lost(document)["property"] = "no-worries"
    with pytest.raises(TamperedDocument, match="no-worries"):
        verify(document)


def test_a_verdict_left_out(document: Document) -> None:
    document["verdicts"].remove(lost(document))
    with pytest.raises(TamperedDocument, match="no-acked-loss: has 0 verdicts"):
        verify(document)


def test_a_verdict_told_twice(document: Document) -> None:
    document["verdicts"].append(copy.deepcopy(document["verdicts"][-1]))
    with pytest.raises(TamperedDocument, match="has 2 verdicts"):
        verify(document)


def test_assumptions_left_out(document: Document) -> None:
    document["assumptions"] = []
    with pytest.raises(TamperedDocument, match="its assumptions are not those of its deployment"):
        verify(document)


def test_other_sizes(document: Document) -> None:
    lost(document)["bounds"]["sizes"]["records"] = 9
    with pytest.raises(TamperedDocument, match=r"no-acked-loss: sizes: the result says .* but its deployment gives"):
        verify(document)


def test_a_first_trace_from_elsewhere(document: Document) -> None:
    lost(document)["trace"]["failure"] = "something else"
    with pytest.raises(TamperedDocument, match="no-acked-loss"):
        verify(document)


def test_another_deployment(document: Document) -> None:
    """The same trace claimed for acks=all: there is no such acknowledgement."""
    document["deployment"]["acks"] = "all"
    with pytest.raises(TamperedDocument, match=r"step \d+"):
        verify(document)


@pytest.mark.slow
def test_a_stuck_state_is_explored_again(tmp_path: Path) -> None:
    """A violated recoverability has no single violating state: what follows from its last one is explored anew."""
    text = DEPLOYMENT.replace("min.insync.replicas: 1", "min.insync.replicas: 2").replace("acks: 1", "acks: all")
    deployment = deployment_of(text.replace("epochs: 3", "epochs: 2"), tmp_path)
    document = json.loads(json.dumps(to_document(deployment, check(deployment))))
    assert not verify(document).open


def test_properties_that_there_was_no_time_for_verify_as_claiming_nothing(tmp_path: Path) -> None:
    """Without a total of faults the other properties come after the first, and the time may be over by then."""
    deployment = deployment_of(DEPLOYMENT.replace("total: 1, kill: 1", "kill: any"), tmp_path)
    budget = Budget(threads=1, seconds=1e-9)
    result = explore(deployment, budget, depth=Depth(first=frozenset({"no-acked-loss"}))).result()
    document = json.loads(json.dumps(to_document(deployment, result)))
    left = [verdict for verdict in document["verdicts"] if not verdict["bounds"]["fault_kinds"]]
    assert left, "the time is over before they are explored"
    assert {verdict["status"] for verdict in left} == {"unknown"}
    verify(document)
    left[0]["bounds"]["faults_complete_to"] = 1
    with pytest.raises(TamperedDocument):
        verify({**document, SEAL: seal(document)})
