"""The tools for assistants, called by the protocol's own client: in this process, and over standard input."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason='the SDK of the Model Context Protocol is not installed: pip install "proofka[mcp]"')

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from proofka.checker.cli.assistants.server import server_of
from proofka.checker.cli.assistants.tools import Tools
from proofka.checker.cli.assistants.workspace import Question, Workspace
from tests.checker.test_cli import ROOT

NAMES = {"check", "claim", "defects", "explain", "repair", "trace", "word"}
MEMORY = 2 << 30
NO_LIMIT = 600.0
"""Seconds of a call that is never stopped."""

ACKS_1 = """\
kafka: "4.0"
topic: {replicas: 2, min.insync.replicas: 1}
producer: {acks: 1}
consumer: {group.id: orders, auto.offset.reset: earliest, enable.auto.commit: false}
bounds: {records: 1, log: 1}
assume: {faults: {total: 1, kill: 1}}
require: [no-acked-loss]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a deployment that loses an acknowledged record with one kill."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "acks-1.yaml").write_text(ACKS_1, encoding="utf-8")
    (folder / "broken.yaml").write_text("kafka: '4.0'\nproducer: {acks: perhaps}\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def workspace(folder: Path) -> Workspace:
    return Workspace(folder, NO_LIMIT, MEMORY)


def call(workspace: Workspace, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """Return the results of calls, in order, of one client."""

    async def called() -> list[Any]:
        async with Client(server_of(workspace, "1.2.3")) as client:
            return [await client.call_tool(name, arguments) for name, arguments in calls]

    return asyncio.run(called())


def said(result: Any) -> dict[str, Any]:
    """Return the answer of a call that succeeded."""
    assert not result.is_error, result.content[0].text
    answer: dict[str, Any] = json.loads(result.content[0].text)
    return answer


def files(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield str(path), path.read_bytes()


def test_every_tool_says_that_it_only_reads(workspace: Workspace) -> None:
    async def listed() -> Any:
        async with Client(server_of(workspace, "1.2.3")) as client:
            return await client.list_tools()

    tools = asyncio.run(listed()).tools
    assert {tool.name for tool in tools} == NAMES
    assert all(tool.annotations.read_only_hint and tool.description for tool in tools)


def test_check_and_trace_tell_the_loss_with_its_limits(workspace: Workspace, folder: Path) -> None:
    before = list(files(folder))
    asked = {"file": "acks-1.yaml", "faults": 1, "require": ["no-acked-loss"]}
    checked, traced = map(said, call(workspace, ("check", asked), ("trace", {**asked, "number": 1})))
    assert checked["answer"].startswith("No: no-acked-loss can fail with 1 ")
    assert "{kill}" in checked["required"]["no-acked-loss"]
    assert checked["required"]["no-acked-loss"].endswith("any 1 fault")
    heading = checked["traces"][0].removeprefix("1: ")
    assert traced["trace"] == heading and heading.endswith(f"{len(traced['steps'])} steps")
    assert traced["fails"] and "no-acked-loss" in traced["means"]
    assert list(files(folder)) == before


def test_trace_uses_the_result_of_the_check_until_the_file_changes(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from proofka.checker import check as checking

    explored = []
    real = checking.check

    def counted(*arguments: Any, **options: Any) -> Any:
        explored.append(arguments)
        return real(*arguments, **options)

    monkeypatch.setattr(checking, "check", counted)
    copy = shutil.copy(folder / "acks-1.yaml", tmp_path)
    tools, stop = Tools(Workspace(tmp_path, NO_LIMIT, MEMORY)), threading.Event()
    question = Question("acks-1.yaml", faults=1, require=("no-acked-loss",))
    tools.check(question, stop)
    tools.trace(question, 1, stop)
    assert len(explored) == 1
    Path(copy).write_text(Path(copy).read_text(encoding="utf-8") + "# one more line\n", encoding="utf-8")
    tools.check(question, stop)
    assert len(explored) == 2


def test_result_of_a_check_that_was_stopped_is_not_kept(folder: Path) -> None:
    workspace, stop = Workspace(folder, NO_LIMIT, MEMORY), threading.Event()
    stop.set()
    question = Question("acks-1.yaml", faults=1)
    statuses = {verdict.status.value for verdict in workspace.checked(question, stop).result.verdicts}
    assert statuses == {"unknown"}
    stop.clear()
    assert "violated" in {verdict.status.value for verdict in workspace.checked(question, stop).result.verdicts}


def test_explain_names_a_change_that_prevents_the_loss(workspace: Workspace) -> None:
    asked = {"file": "acks-1.yaml", "faults": 1, "require": ["no-acked-loss"]}
    (answer,) = map(said, call(workspace, ("explain", asked)))
    (violation,) = [one for one in answer["violations"] if one["property"] == "no-acked-loss"]
    assert any("acks=all" in change for change in violation["prevented_by"])


@pytest.mark.slow
def test_repair_gives_changes_with_which_the_properties_hold(workspace: Workspace) -> None:
    (answer,) = map(said, call(workspace, ("repair", {"file": "acks-1.yaml", "require": ["no-acked-loss"]})))
    assert answer["violated_now"] == ["no-acked-loss"]
    assert answer["repairs"] and all(one["answer_with_these_changes"].startswith("Yes: ") for one in answer["repairs"])


def test_defects_and_words_are_explained(workspace: Workspace) -> None:
    defects, all_of_kafka, word = map(
        said,
        call(
            workspace,
            ("defects", {"word": "kafka-18991"}),
            ("defects", {"word": "broker"}),
            ("word", {"word": "no-skip"}),
        ),
    )
    assert [one["id"] for one in defects["defects"]] == ["KAFKA-18991"]
    assert all_of_kafka["left_off"] > 0
    assert word["entries"][0]["kind"] == "property"


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("check", {"file": "../secret.yaml"}, "M01"),
        ("check", {"file": "/etc/passwd"}, "M01"),
        ("check", {"file": "none.yaml"}, "no such file or folder"),
        ("check", {"file": "broken.yaml"}, "perhaps"),
        ("check", {"file": "acks-1.yaml", "faults": 9}, "less than or equal to 4"),
        ("check", {"file": "acks-1.yaml", "require": ["no-los"]}, "no-los"),
        ("trace", {"file": "acks-1.yaml", "faults": 1, "number": 99}, "M03"),
        ("defects", {"word": "KAFKA-1"}, "M02"),
        ("claim", {"number": "C999"}, "no such claim"),
        ("claim", {"number": "claims"}, "name one"),
        ("word", {"word": "no-skp"}, "did you mean no-skip"),
    ],
)
def test_a_wrong_call_is_refused_in_words(
    workspace: Workspace, tool: str, arguments: dict[str, Any], words: str
) -> None:
    (result,) = call(workspace, (tool, arguments))
    assert result.is_error and words in result.content[0].text


def test_a_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    (result,) = call(Workspace(tmp_path, NO_LIMIT, MEMORY), ("check", {"file": "pipe.yaml"}))
    assert result.is_error and "no such file or folder" in result.content[0].text


def test_a_link_that_leads_outside_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link.yaml").symlink_to(folder / "acks-1.yaml")
    (result,) = call(Workspace(tmp_path, NO_LIMIT, MEMORY), ("check", {"file": "link.yaml"}))
    assert result.is_error and "M01" in result.content[0].text


def test_server_answers_over_standard_input(folder: Path) -> None:
    """The command of a client's configuration, as a process of its own."""
    program = [sys.executable, "-m", "proofka", "mcp", "--root", str(folder), "--time", "600"]
    started = StdioServerParameters(command=program[0], args=program[1:], env=dict(os.environ), cwd=ROOT)

    async def called() -> Any:
        async with Client(stdio_client(started)) as client:
            return await client.call_tool("check", {"file": "acks-1.yaml", "faults": 1, "require": ["no-acked-loss"]})

    assert said(asyncio.run(called()))["answer"].startswith("No: no-acked-loss can fail")
