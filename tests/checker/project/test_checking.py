"""``proofka check`` and ``proofka init`` with a project file: which pipelines, with which faults and requirements."""

from __future__ import annotations

import json
import shutil
from datetime import date
from pathlib import Path

import pytest
from typer.testing import CliRunner

from proofka.checker.cli.program import app
from proofka.checker.project import accepting
from proofka.checker.project.finding import places
from proofka.checker.project.reading import read_project

EXAMPLES = Path(__file__).parents[3] / "examples"
PROJECT = """\
pipelines:
  - path: deploy/*.yaml
budget: one
require: [no-acked-loss]
budgets:
  one: {total: 1, kill: 1}
"""
ACCEPTED = """\
accepted:
  - property: no-acked-loss
    until: 2027-01-31
    reason: acks=all comes in January
    pipelines: [deploy/acks-1.yaml]
"""
COMMENT = "# proofka: accept no-acked-loss until 2027-01-31, acks=all comes in January\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "deploy").mkdir()
    for name in ("acks-1", "acks-all-min-isr-2"):
        shutil.copy(EXAMPLES / f"{name}.yaml", tmp_path / "deploy")
    (tmp_path / "proofka.yaml").write_text(PROJECT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    on(date(2026, 12, 1), monkeypatch)
    return tmp_path


def on(day: date, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accepting, "today", lambda: day)


def add(file: str, text: str) -> None:
    path = Path(file)
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


def ended(*arguments: str) -> tuple[int, str]:
    run = CliRunner().invoke(app, ["check", "--quiet", *arguments])
    return run.exit_code, run.output


def test_all_pipelines_are_checked_with_the_budget_and_the_requirements() -> None:
    status, said = ended()
    assert status == 1
    assert "acks-1: No: no-acked-loss can fail with 1 kill" in said
    assert "acks-all-min-isr-2: Yes: the required property, no-acked-loss, holds within any 1 fault" in said
    assert said.endswith("proofka.yaml: a required property is violated (exit status 1)\n")


def test_options_outrank_the_project_file() -> None:
    status, said = ended("--require", "no-log-duplicate", "--faults", "0")
    assert status != 1
    assert "no-acked-loss" not in said


def test_kinds_that_only_the_pipeline_s_file_names_cannot_happen(folder: Path) -> None:
    shutil.copy(EXAMPLES / "orders.yaml", folder / "deploy")
    every = [place for place in places(read_project(Path("proofka.yaml"))) if place.path.stem == "orders"]
    _, _, (deployment,) = every[0].read()
    assert (deployment.faults.total, deployment.faults.at_most) == (1, (("kill", 1),))


def test_report_has_the_command_without_the_project_file(folder: Path) -> None:
    Path("deploy/acks-1.yaml").unlink()
    ended("--json", "result.json")
    command = json.loads(Path("result.json").read_text(encoding="utf-8"))["command"]
    assert command.startswith(
        "proofka check deploy/acks-all-min-isr-2.yaml --assume faults.total=1 --assume faults.kill=1 "
        "--require no-acked-loss"
    )


def test_first_matching_entry_counts_and_excluded_paths_are_left_out(folder: Path) -> None:
    first = "pipelines:\n  - path: deploy/acks-1.yaml\n    profile: all\n  - deploy/*.yaml\n  - deploy\n"
    Path("proofka.yaml").write_text(f"{first}exclude: [deploy/acks-all*]\n", encoding="utf-8")
    found = places(read_project(Path("proofka.yaml")))
    assert [(str(one.path), one.entry.profile) for one in found] == [("deploy/acks-1.yaml", "all"), ("deploy", None)]


def test_pattern_without_a_file_is_an_error() -> None:
    add("proofka.yaml", "exclude: ['**/*.yaml']\n")
    status, said = ended()
    assert status == 2
    assert "proofka.yaml:2: pipelines.path: deploy/*.yaml matches no file and no folder" in said
    assert "(W08)" in said


def test_unreadable_pipeline_leaves_the_others_checked() -> None:
    Path("deploy/broken.yaml").write_text("kafka: 4.0\ntopic: {replicas: none}\n", encoding="utf-8")
    Path("deploy/acks-1.yaml").unlink()
    status, said = ended()
    assert status == 2
    assert "deploy/broken.yaml:2: " in said
    assert "Yes: the required property, no-acked-loss, holds" in said


def test_pipelines_of_the_same_name_have_their_files_behind_it(folder: Path) -> None:
    shutil.copytree(folder / "deploy", folder / "more")
    Path("proofka.yaml").write_text(PROJECT.replace("deploy/*.yaml", "'*/acks-1.yaml'"), encoding="utf-8")
    _, said = ended("--faults", "0")
    assert "acks-1 (more/acks-1.yaml): same question as acks-1 (deploy/acks-1.yaml); not checked again" in said


def test_options_of_one_source_are_refused() -> None:
    status, said = ended("--assume", "processing=poll-thread")
    assert (status, said) == (
        2,
        "proofka.yaml: --assume is for one PATH; write it into this file, or name a deployment (W12)\n",
    )


def test_project_file_of_another_folder_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    _, said = ended(str(folder / "proofka.yaml"), "--faults", "0")
    assert "acks-all-min-isr-2: " in said


@pytest.mark.parametrize("accepted", ["entry", "comment"])
def test_accepted_property_is_not_required_and_every_report_lists_the_acceptance(accepted: str) -> None:
    place = ("proofka.yaml", ACCEPTED) if accepted == "entry" else ("deploy/acks-1.yaml", COMMENT)
    add(*place)
    reports = [word for ending in ("sarif", "xml", "bib") for word in ("--report", f"all.{ending}")]
    run = CliRunner().invoke(app, ["check", *reports, "--report", "pages", "--more", "0"])
    assert run.exit_code == 0
    assert "accepted until 2027-01-31: no-acked-loss, acks=all comes in January" in " ".join(run.output.split())
    for file in ("all.sarif", "all.xml", "pages/acks-1.md", "pages/acks-1.html"):
        text = Path(file).read_text(encoding="utf-8").replace("\\", "")
        assert "accepted until 2027-01-31: no-acked-loss, acks=all comes in January" in text, file
        assert f"{place[0]}:" in text
    assert "Accepted until 2027-01-31: no-acked-loss" in Path("all.bib").read_text(encoding="utf-8")
    sarif = json.loads(Path("all.sarif").read_text(encoding="utf-8"))
    result = next(one for one in sarif["runs"][0]["results"] if one["ruleId"] == "no-acked-loss")
    assert result["level"] == "warning"
    assert result["suppressions"][0]["justification"].startswith("accepted until 2027-01-31")
    assert "accepted until" not in Path("pages/acks-all-min-isr-2.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("accepted", ["entry", "comment"])
def test_expired_acceptance_fails(accepted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    add(*(("proofka.yaml", ACCEPTED) if accepted == "entry" else ("deploy/acks-1.yaml", COMMENT)))
    on(date(2027, 1, 31), monkeypatch)
    assert ended()[0] == 0
    on(date(2027, 2, 1), monkeypatch)
    status, said = ended()
    assert status == 1
    assert "no-acked-loss: was accepted until 2027-01-31 (acks=all comes in January)" in said
    Path("deploy/acks-1.yaml").write_text(COMMENT + Path("deploy/acks-all-min-isr-2.yaml").read_text("utf-8"), "utf-8")
    assert ended()[0] == 2  # expired, although the property holds


@pytest.mark.parametrize(
    ("comment", "words"),
    [
        ("# proofka: accept no-skip, reason", "write it as"),
        ("# proofka: accept no-skip until 2027-01-31", "write it as"),
        ("# proofka: accept no-skip until 2027-02-30, reason", "is no day"),
        ("# proofka: accept no-skp until 2027-01-31, reason", "did you mean no-skip"),
        ("# proofka: acept no-skip until 2027-01-31, reason", "did you mean accept"),
    ],
)
def test_wrong_comment_fails_with_its_line(comment: str, words: str) -> None:
    file = Path("deploy/acks-all-min-isr-2.yaml")
    file.write_text(f"{comment}\n{file.read_text(encoding='utf-8')}", encoding="utf-8")
    status, said = ended(str(file), "--faults", "0")
    assert status == 2
    assert f"{file}:1: comment proofka: accept: " in said
    assert words in said
    assert "(W13)" in said


def test_comments_in_files_of_other_programs_count(folder: Path) -> None:
    shutil.copytree(EXAMPLES / "properties", folder / "client")
    file = folder / "client" / "consumer.properties"
    file.write_text("# proofka: accept no-skip until 2027-01-31, r\n" + file.read_text("utf-8"), "utf-8")
    run = CliRunner().invoke(app, ["check", "client", "--kafka", "4.0", "--faults", "0", "--more", "0"])
    assert "accepted until 2027-01-31: no-skip, r (client/consumer.properties:1)" in " ".join(run.output.split())


def test_init_finds_the_pipelines_and_its_file_is_checked(folder: Path) -> None:
    Path("proofka.yaml").unlink()
    shutil.copytree(EXAMPLES / "properties", folder / "client")
    (folder / "notes.txt").write_text("no pipeline\n", encoding="utf-8")
    run = CliRunner().invoke(app, ["init"])
    assert (run.exit_code, run.output) == (0, "proofka.yaml: 3 entries; proofka check checks the pipelines\n")
    project = read_project(Path("proofka.yaml"))
    assert [one.pattern for one in project.entries] == [
        "client",
        "deploy/acks-1.yaml",
        "deploy/acks-all-min-isr-2.yaml",
    ]
    assert all(one.budget == {"total": "1"} for one in project.entries)
    assert len(places(project)) == 3


def test_init_quotes_paths_that_are_no_plain_yaml(folder: Path) -> None:
    Path("proofka.yaml").unlink()
    (folder / "deploy" / "acks-1.yaml").rename(folder / "deploy" / "a [1]: # x.yaml")
    CliRunner().invoke(app, ["init"])
    assert str(places(read_project(Path("proofka.yaml")))[0].path) == "deploy/a [1]: # x.yaml"


def test_init_changes_no_file_and_needs_a_pipeline(folder: Path) -> None:
    run = CliRunner().invoke(app, ["init"])
    assert (run.exit_code, "(W10)" in run.output) == (2, True)
    assert Path("proofka.yaml").read_text(encoding="utf-8") == PROJECT
    (folder / "empty").mkdir()
    run = CliRunner().invoke(app, ["init", "empty"])
    assert (run.exit_code, "(W11)" in run.output) == (2, True)


def test_active_lines_of_the_first_file_s_comments_are_valid_too(folder: Path) -> None:
    from proofka.checker.project.first import REST

    Path("proofka.yaml").unlink()
    CliRunner().invoke(app, ["init"])
    text = Path("proofka.yaml").read_text(encoding="utf-8")
    whole = "\n".join(line.replace("# ", "", 1) if line in REST.splitlines() else line for line in text.splitlines())
    Path("proofka.yaml").write_text(whole.replace("  any one fault", "# any one fault"), encoding="utf-8")
    project = read_project(Path("proofka.yaml"))
    assert project.accepted[0].name == "no-reprocessing"
    assert project.entries[0].assume == ("processing=poll-thread",)
