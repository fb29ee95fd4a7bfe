"""``proofka check --changed-since`` and ``--baseline``, and their reports, with real git and real verdicts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from proofka.checker.cli.program import app
from tests.checker.changes.committed import HOLDS, LOSES, PROJECT, commit, git, repository, write

NOTHING = "0 of 3 pipelines are touched by the changes since main"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = repository(tmp_path / "r", one=HOLDS, two=HOLDS + "# two\n", known=LOSES)
    git(made, "checkout", "--quiet", "-b", "change")
    monkeypatch.chdir(made)
    return made


def ended(*arguments: str) -> tuple[int, str]:
    run = CliRunner().invoke(app, ["check", "--quiet", *arguments])
    return run.exit_code, " ".join(run.output.split())


def test_change_that_loses_records_fails_with_a_sentence(folder: Path) -> None:
    commit(folder, one=LOSES)
    status, said = ended("--changed-since", "main")
    assert status == 1
    assert "one: this change lets 1 kill violate no-acked-loss: record 1 was acknowledged" in said
    assert "it held. 1 of 3 pipelines is touched" in said
    assert "known" not in said.split("touched")[0]
    assert said.endswith("proofka.yaml: a required property is newly violated (exit status 1)")


def test_pipeline_that_no_change_touches_is_not_checked(folder: Path) -> None:
    (folder / "notes.md").write_text("nothing\n", encoding="utf-8")
    status, said = ended("--changed-since", "main")
    assert status == 0
    assert NOTHING in said
    assert "nothing to check" in said


def test_known_violation_of_a_touched_pipeline_is_no_news(folder: Path) -> None:
    write(folder, known=LOSES + "# touched\n")
    status, said = ended("--changed-since", "main")
    assert (status, "known" in said or "No: " in said) == (0, True)
    assert "1 of 3 pipelines is touched" in said
    assert "nothing new was found" in said


def test_repaired_pipeline_is_told(folder: Path) -> None:
    write(folder, known=HOLDS)
    status, said = ended("--changed-since", "main")
    assert status == 0
    assert "known: no-acked-loss now holds; before, in main (" in said
    assert "it was violated by {kill}." in said


def test_new_pipeline_has_news_only_and_a_removed_one_is_named(folder: Path) -> None:
    (folder / "deploy" / "two.yaml").unlink()
    write(folder, new=LOSES)
    status, said = ended("--changed-since", "main")
    assert status == 1
    assert "new: this change lets 1 kill violate no-acked-loss" in said
    assert "two (deploy/two.yaml): is no longer there" in said


def test_pipeline_that_cannot_be_read_any_more_is_an_error_and_not_gone(folder: Path) -> None:
    write(folder, one=HOLDS.replace("replicas: 3", "replicas: many"))
    status, said = ended("--changed-since", "main")
    assert status == 2
    assert "deploy/one.yaml:2: replication.factor: " in said
    assert "no longer there" not in said


def test_all_fault_sets_of_the_budget_are_compared_once_every_property_is_violated(folder: Path) -> None:
    """A larger fault set that is found on one side only would look new, or stay unseen."""
    (folder / "proofka.yaml").write_text(
        PROJECT.replace("total: 1, kill: 1", "total: 2, kill: 1, slow-follower: 2"), encoding="utf-8"
    )
    commit(folder)
    write(folder, known=LOSES + "# touched\n")
    status, said = ended("--changed-since", "HEAD", "--json", "r.json")
    assert status == 0, said
    (verdict,) = json.loads(Path("r.json").read_text(encoding="utf-8"))["verdicts"]
    assert (verdict["status"], verdict["cut_sets"]) == ("violated", [{"kill": 1}])
    assert verdict["bounds"]["faults_complete_to"] == 2


def test_two_pipelines_that_ask_the_same_both_have_news(folder: Path) -> None:
    write(folder, one=LOSES, two=LOSES)
    status, said = ended("--changed-since", "main")
    assert status == 1
    assert "one: this change lets" in said
    assert "two: this change lets" in said
    assert "2 pipelines have news" in said


def test_pipelines_of_other_branches_are_not_compared(folder: Path) -> None:
    git(folder, "checkout", "--quiet", "main")
    commit(folder, two=LOSES)
    git(folder, "checkout", "--quiet", "change")
    status, said = ended("--changed-since", "main")
    assert (status, NOTHING in said) == (0, True)


def test_wider_budget_makes_its_violations_news(folder: Path) -> None:
    """The project file asks more of every pipeline: what the older question left open is news."""
    (folder / "proofka.yaml").write_text(PROJECT.replace("kill: 1", "kill: 1, power-loss: 1"), encoding="utf-8")
    status, said = ended("--changed-since", "main")
    assert status == 1
    assert "known: this change lets 1 kill violate no-acked-loss" in said


def test_newly_required_property_makes_its_violation_news(folder: Path) -> None:
    text = PROJECT.replace("[no-acked-loss]", "[no-acked-loss, no-loss]")
    (folder / "proofka.yaml").write_text(text, encoding="utf-8")
    status, said = ended("--changed-since", "main")
    assert status == 1
    assert "known: this change lets 1 kill violate no-loss" in said
    assert "this change lets 1 kill violate no-acked-loss" not in said


def test_removed_acceptance_makes_the_violation_news(folder: Path) -> None:
    text = "# proofka: accept no-acked-loss until 2999-01-01, a reason\n"
    git(folder, "checkout", "--quiet", "main")
    commit(folder, known=text + LOSES, one=text.replace("no-acked-loss", "no-skip") + HOLDS)
    git(folder, "checkout", "--quiet", "-B", "change")
    write(folder, known=LOSES)
    status, said = ended("--changed-since", "main")
    assert status == 1
    assert "known: this change lets 1 kill violate no-acked-loss" in said


def test_unreadable_pipeline_of_the_commit_is_said_and_counts_as_new(folder: Path) -> None:
    git(folder, "checkout", "--quiet", "main")
    commit(folder, one=HOLDS.replace("replicas: 3", "replicas: many"))
    git(folder, "checkout", "--quiet", "-B", "change")
    write(folder, one=LOSES)
    status, said = ended("--changed-since", "main")
    assert status == 1
    assert "as it was in main (" in said
    assert "one: this change lets 1 kill violate no-acked-loss" in said


def test_folder_of_other_programs_files_is_compared_too(folder: Path) -> None:
    """A file that a pipeline reads beside its own touches the pipeline."""
    client = folder / "client"
    client.mkdir()
    (client / "producer.properties").write_text("bootstrap.servers=b:9092\nacks=all\n", encoding="utf-8")
    (client / "topic.properties").write_text("min.insync.replicas=2\n", encoding="utf-8")
    project = PROJECT.replace('"deploy/*.yaml"', "client").replace(
        "require", 'kafka: "4.0"\nassume: {replicas: 3}\nrequire'
    )
    (folder / "proofka.yaml").write_text(project, encoding="utf-8")
    commit(folder)
    (client / "producer.properties").write_text("bootstrap.servers=b:9092\nacks=1\n", encoding="utf-8")
    status, said = ended("--changed-since", "HEAD")
    assert status == 1
    assert "this change lets 1 kill violate no-acked-loss" in said


def test_path_without_a_project_file_is_compared(folder: Path) -> None:
    write(folder, one=LOSES)
    status, said = ended("deploy/one.yaml", "--changed-since", "main", "--faults", "1", "--require", "no-acked-loss")
    assert status == 1
    assert "one: this change lets 1 leader-move violate no-acked-loss" in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--changed-since", "nowhere"], "no such commit"),
        (["/etc/hostname", "--changed-since", "main"], "is no path below the current folder"),
        (["../r", "--changed-since", "main"], "is no path below the current folder"),
        (["--kafka", "4.0", "--producer", "p", "--changed-since", "main"], "--producer is not read from a commit"),
        (["--baseline", "nothing.json"], "nothing.json: no such file (V04)"),
        (["--baseline", "proofka.yaml"], "is no JSON"),
        (["--json", "-", "--format", "gitlab"], "both write to standard output"),
    ],
)
def test_wrong_options_end_with_one_line(arguments: list[str], words: str) -> None:
    status, said = ended(*arguments)
    assert status == 2
    assert words in said


def test_baseline_makes_known_violations_no_news_until_more_is_lost(folder: Path) -> None:
    run = CliRunner().invoke(app, ["baseline"])
    assert run.exit_code == 0, run.output
    document = json.loads(Path("proofka-baseline.json").read_text(encoding="utf-8"))
    known = {one["name"]: one["known"] for one in document["pipelines"]}
    assert known["known"]["no-acked-loss"] == {"status": "violated", "fault_sets": [{"kill": 1}]}
    assert "no-acked-loss" not in known["one"]
    assert ended()[0] == 1
    status, said = ended("--baseline", "proofka-baseline.json")
    assert status == 0
    assert "3 pipelines beside the baseline proofka-baseline.json: nothing new was found." in said
    write(folder, one=LOSES)
    status, said = ended("--baseline", "proofka-baseline.json")
    assert status == 1
    assert "one: news: 1 kill can violate no-acked-loss" in said


@pytest.mark.parametrize("text", ["[]", "{}", '{"proofka-baseline": 2}', '{"proofka-baseline": 1, "pipelines": [1]}'])
def test_file_that_is_no_baseline_is_refused(text: str) -> None:
    Path("b.json").write_text(text, encoding="utf-8")
    status, said = ended("--baseline", "b.json")
    assert status == 2
    assert "(V04)" in said


def test_baseline_is_not_written_if_a_pipeline_cannot_be_read(folder: Path) -> None:
    write(folder, one="kafka: none\n")
    run = CliRunner().invoke(app, ["baseline"])
    assert run.exit_code == 2
    assert not Path("proofka-baseline.json").exists()


def test_reports_of_a_change_have_news_traces_and_lines(folder: Path) -> None:
    write(folder, one=LOSES, known=LOSES + "# touched\n")
    arguments = ["check", "--changed-since", "main", "--format", "github", "--comment", "c.md", "--report", "s.sarif"]
    run = CliRunner().invoke(app, arguments)
    assert run.exit_code == 1
    comment = Path("c.md").read_text(encoding="utf-8")
    assert comment.startswith("<!-- proofka -->\n")
    assert ":x: This change lets 1 kill violate no-acked-loss: record 1 was acknowledged" in comment
    assert comment.count("<details>") == comment.count("</details>") > 0
    assert "FAULT kill: broker 1 is killed" in comment
    errors = [line for line in run.output.splitlines() if line.startswith("::error")]
    assert len(errors) == 1
    assert errors[0].startswith("::error title=one%3A no-acked-loss,file=deploy/one.yaml,line=3::this change lets")
    results = json.loads(Path("s.sarif").read_text(encoding="utf-8"))["runs"][0]["results"]
    state = {
        (one["message"]["text"].partition(":")[0], one["baselineState"])
        for one in results
        if one["ruleId"] == "no-acked-loss"
    }
    assert state == {("one", "new"), ("known", "unchanged")}


def test_text_of_a_run_gives_github_no_commands(folder: Path) -> None:
    """A name in a file cannot print a workflow command: the text stands between two lines that switch them off."""
    write(folder, one='name: "::error::owned"\n' + LOSES)
    run = CliRunner().invoke(app, ["check", "deploy/one.yaml", "--faults", "1", "--format", "github", "--quiet"])
    lines = run.stdout.splitlines()
    token = lines[0].removeprefix("::stop-commands::")
    assert len(token) == 32
    end = lines.index(f"::{token}::")
    assert all(line.startswith(("::error title=", "::notice title=")) for line in lines[end + 1 :])
    assert "owned" in lines[end + 1]


def test_files_without_a_touched_pipeline_are_written(folder: Path) -> None:
    run = CliRunner().invoke(
        app, ["check", "--changed-since", "main", "--comment", "c.md", "--report", "s.sarif", "--format", "gitlab"]
    )
    assert run.exit_code == 0
    assert json.loads(run.stdout) == []
    assert "nothing to check" in Path("c.md").read_text(encoding="utf-8")
    assert json.loads(Path("s.sarif").read_text(encoding="utf-8"))["runs"][0]["results"] == []


def test_code_quality_of_gitlab_has_the_members_of_its_format(folder: Path) -> None:
    run = CliRunner().invoke(app, ["check", "--format", "gitlab"])
    issues = json.loads(run.stdout)
    assert "known: " in run.stderr
    worst = [one for one in issues if one["severity"] == "critical"]
    assert [(one["check_name"], one["location"]) for one in worst] == [
        ("proofka/no-acked-loss", {"path": "deploy/known.yaml", "lines": {"begin": 3}})
    ]
    assert len({one["fingerprint"] for one in issues}) == len(issues)
    assert all(one.keys() == {"description", "check_name", "fingerprint", "severity", "location"} for one in issues)
