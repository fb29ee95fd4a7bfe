"""The language server as an editor sees it: a process of its own, and a real client of the protocol."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls", reason='the library for language servers is not installed: pip install "proofka[lsp]"')

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

from tests.checker.test_cli import ROOT

ACKS_1 = """\
kafka: "4.0"
topic: {replicas: 2, min.insync.replicas: 1}
producer:
  acks: 1  # the leader alone
consumer: {group.id: orders, auto.offset.reset: earliest, enable.auto.commit: false}
assume: {faults: {total: 1, kill: 1}}
require: [no-acked-loss]
"""
"""A deployment that loses an acknowledged record with one kill; acks stands in line 4."""

LONGEST = 240.0
"""The longest wait for an answer of the server, in seconds; a busy machine needs much of it."""


class Client(LanguageClient):
    """A client that keeps the last diagnostics of each document."""

    def __init__(self) -> None:
        super().__init__("test", "1")
        self.published: asyncio.Queue[lsp.PublishDiagnosticsParams] = asyncio.Queue()
        self.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda params: self.published.put_nowait(params))
        self.feature(lsp.WINDOW_LOG_MESSAGE)(lambda _: None)

    async def diagnostics(self) -> list[lsp.Diagnostic]:
        """Return the next diagnostics that the server publishes."""
        return list((await asyncio.wait_for(self.published.get(), LONGEST)).diagnostics)

    async def open(self, uri: str, text: str) -> list[lsp.Diagnostic]:
        """Open a document, and return its diagnostics."""
        item = lsp.TextDocumentItem(uri, "yaml", 1, text)
        self.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        return await self.diagnostics()

    async def type(self, uri: str, text: str, version: int) -> list[lsp.Diagnostic]:
        """Replace the text of a document, and return its diagnostics."""
        about = lsp.VersionedTextDocumentIdentifier(version, uri)
        change = lsp.TextDocumentContentChangeWholeDocument(text)
        self.text_document_did_change(lsp.DidChangeTextDocumentParams(about, [change]))
        return await self.diagnostics()

    async def save(self, uri: str) -> list[lsp.Diagnostic]:
        """Save a document, and return its diagnostics after the check."""
        self.text_document_did_save(lsp.DidSaveTextDocumentParams(lsp.TextDocumentIdentifier(uri)))
        return await self.diagnostics()


def with_editor(work: Callable[[Client], Awaitable[Any]]) -> Any:
    """Return what a client does with a server of its own."""

    async def run() -> Any:
        client = Client()
        program = [sys.executable, "-m", "proofka", "lsp", "--time", "200"]
        await client.start_io(*program, cwd=ROOT, env=dict(os.environ))
        try:
            await client.initialize_async(lsp.InitializeParams(lsp.ClientCapabilities(), root_uri=ROOT.as_uri()))
            client.initialized(lsp.InitializedParams())
            found = await work(client)
            await client.shutdown_async(None)
            client.exit(None)
            return found
        finally:
            await client.stop()

    return asyncio.run(run())


def test_wrong_values_are_shown_at_their_lines_as_they_are_typed(tmp_path: Path) -> None:
    uri = (tmp_path / "orders.yaml").as_uri()

    async def work(client: Client) -> Any:
        good = await client.open(uri, ACKS_1)
        wrong = await client.type(
            uri, ACKS_1.replace("acks: 1 ", "acks: perhaps ").replace("replicas: 2", "replicas: x"), 2
        )
        mended = await client.type(uri, ACKS_1, 3)
        return good, wrong, mended

    good, wrong, mended = with_editor(work)
    assert good == mended == []
    assert {one.range.start.line for one in wrong} == {1, 3}
    assert {one.severity for one in wrong} == {lsp.DiagnosticSeverity.Error}
    assert any("perhaps" in one.message for one in wrong)


def test_a_saved_file_is_checked_and_each_offered_edit_mends_the_violation(tmp_path: Path) -> None:
    uri = (tmp_path / "orders.yaml").as_uri()

    async def work(client: Client) -> Any:
        await client.open(uri, ACKS_1)
        violated = await client.save(uri)
        asked = lsp.CodeActionParams(
            lsp.TextDocumentIdentifier(uri), violated[0].range, lsp.CodeActionContext(violated)
        )
        actions = await client.text_document_code_action_async(asked)
        mended = ACKS_1.replace("acks: 1 ", "acks: all ")
        unchecked = await client.type(uri, mended, 2)
        holds = await client.save(uri)
        again = await client.type(uri, ACKS_1 + "# a comment\n", 3)
        return violated, actions, unchecked, holds, again

    violated, actions, unchecked, holds, again = with_editor(work)
    (one,) = violated
    assert (one.code, one.range.start.line, one.severity) == ("no-acked-loss", 3, lsp.DiagnosticSeverity.Warning)
    assert "is violated by {kill}" in one.message
    edit = next(action.edit.changes[uri] for action in actions if "acks=all" in action.title)
    assert [change.new_text for change in edit] == ["  acks: all  # the leader alone"]
    assert unchecked == [], "no verdict is shown of a configuration that was not checked"
    assert [(each.code, each.severity) for each in again] == [("no-acked-loss", lsp.DiagnosticSeverity.Warning)]
    assert not [each for each in holds if each.severity is lsp.DiagnosticSeverity.Warning]


def test_a_hover_tells_the_effective_value_and_its_origin(tmp_path: Path) -> None:
    uri = (tmp_path / "orders.yaml").as_uri()
    text = ACKS_1 + "# enable.idempotence is not set\n"

    async def work(client: Client) -> Any:
        await client.open(uri, text)

        async def hover(line: int, column: int) -> lsp.Hover | None:
            at = lsp.Position(line, column)
            return await client.text_document_hover_async(lsp.HoverParams(lsp.TextDocumentIdentifier(uri), at))

        return [await hover(3, 3), await hover(7, 6), await hover(4, 0)]

    set_here, derived, nothing = with_editor(work)
    assert set_here.contents.value.startswith("**producer.acks = 1** (in this file, line 4)")
    assert derived.contents.value.startswith("**producer.enable.idempotence = false** (")
    assert "in this file" not in derived.contents.value.splitlines()[0]
    assert nothing is None or "**" not in nothing.contents.value


def test_a_project_file_is_checked_by_its_own_rules(tmp_path: Path) -> None:
    uri = (tmp_path / "proofka.yaml").as_uri()

    async def work(client: Client) -> Any:
        return await client.open(uri, "pipelinez: [a.yaml]\n")

    (wrong, *_) = with_editor(work)
    assert wrong.severity is lsp.DiagnosticSeverity.Error and "pipelinez" in wrong.message
