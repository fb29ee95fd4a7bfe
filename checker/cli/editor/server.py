"""The language server: what an editor asks, and what the server publishes."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import PurePosixPath
from urllib.parse import unquote, urlparse

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from proofka.checker.cli.editor.checking import MOST_PIPELINES, Finding, Verdicts, findings
from proofka.checker.cli.editor.hovering import hover_text
from proofka.checker.cli.editor.reading import Problem, Reading, read_text
from proofka.checker.cli.editor.repairs import Edit, edits
from proofka.checker.cli.last_results import LastResults
from proofka.checker.solver import SolverUndecided
from proofka.checker.traces import ReplayMismatch
from proofka.properties.verdict import Status

SOURCE = "proofka"
MOST_READINGS = 32
"""The number of texts whose readings are kept."""

END_OF_LINE = 10_000
"""A column behind the end of every line that is shown."""


class Editor(LanguageServer):
    """A server with the verdicts of its documents. ``seconds``: the limit of a check when a document is saved."""

    def __init__(self, version: str, seconds: float) -> None:
        super().__init__(SOURCE, version, text_document_sync_kind=lsp.TextDocumentSyncKind.Full)
        self.verdicts = Verdicts(seconds)
        self._stops: dict[str, threading.Event] = {}
        self._worker = ThreadPoolExecutor(1)
        self._readings: LastResults[tuple[str, str], Reading] = LastResults(MOST_READINGS)

    def read(self, uri: str) -> Reading:
        """Return what a document says now."""
        return self.read_text(_name(uri), self.workspace.get_text_document(uri).source)

    def read_text(self, name: str, text: str) -> Reading:
        """Return what a text says. Texts that were read lately are not read again: each hover asks for one."""
        reading = self._readings.get((name, text))
        if reading is None:
            reading = read_text(name, text)
            self._readings.keep((name, text), reading)
        return reading

    def publish(self, uri: str, reading: Reading) -> None:
        """Publish the problems of a document, and the verdicts of equal deployments that were checked before."""
        found = [_of_problem(one) for one in reading.problems]
        found += [_of_finding(one) for one in findings(reading, self.verdicts)]
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri=uri, diagnostics=found))

    def stop_check(self, uri: str) -> None:
        """End the check of a document, if one runs."""
        if (stop := self._stops.pop(uri, None)) is not None:
            stop.set()

    async def check(self, uri: str) -> None:
        """Check what a document says now, and publish the verdicts unless the document is checked anew meanwhile."""
        self.stop_check(uri)
        stop = self._stops[uri] = threading.Event()
        reading = self.read(uri)
        loop = asyncio.get_running_loop()
        for deployment in reading.deployments[:MOST_PIPELINES]:
            try:
                await loop.run_in_executor(self._worker, self.verdicts.check, deployment, stop)
            except (SolverUndecided, ReplayMismatch) as error:
                self._say(f"{deployment.name}: no verdict: {error}")
        if len(reading.deployments) > MOST_PIPELINES:
            self._say(
                f"{_name(uri)}: only the first {MOST_PIPELINES} of {len(reading.deployments)} pipelines were checked"
            )
        if not stop.is_set() and uri in self.workspace.text_documents:
            self.publish(uri, self.read(uri))

    def _say(self, text: str) -> None:
        self.window_log_message(lsp.LogMessageParams(type=lsp.MessageType.Warning, message=text))


def server_of(version: str, seconds: float) -> Editor:
    """Return a language server. ``version``: that of Proofka."""
    server = Editor(version, seconds)

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def did_open(editor: Editor, params: lsp.DidOpenTextDocumentParams) -> None:
        editor.publish(params.text_document.uri, editor.read(params.text_document.uri))

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(editor: Editor, params: lsp.DidChangeTextDocumentParams) -> None:
        editor.publish(params.text_document.uri, editor.read(params.text_document.uri))

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    async def did_save(editor: Editor, params: lsp.DidSaveTextDocumentParams) -> None:
        await editor.check(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(editor: Editor, params: lsp.DidCloseTextDocumentParams) -> None:
        editor.stop_check(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hover(editor: Editor, params: lsp.HoverParams) -> lsp.Hover | None:
        uri, at = params.text_document.uri, params.position
        lines = editor.workspace.get_text_document(uri).source.splitlines()
        text = hover_text(editor.read(uri), lines, at.line, at.character)
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, text)) if text else None

    @server.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix])
    )
    def code_action(editor: Editor, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        uri = params.text_document.uri
        text = editor.workspace.get_text_document(uri).source
        return [
            _of_edit(uri, text, edit, diagnostic)
            for diagnostic in params.context.diagnostics
            if diagnostic.source == SOURCE and diagnostic.code
            for edit in edits(_name(uri), text, editor.read_text, editor.verdicts, str(diagnostic.code))
        ]

    return server


def _name(uri: str) -> str:
    return PurePosixPath(unquote(urlparse(uri).path)).name


def _line(number: int) -> lsp.Range:
    """Return the range of a whole line, which counts from 1."""
    return lsp.Range(lsp.Position(number - 1, 0), lsp.Position(number - 1, END_OF_LINE))


def _of_problem(problem: Problem) -> lsp.Diagnostic:
    severity = lsp.DiagnosticSeverity.Error if problem.is_error else lsp.DiagnosticSeverity.Warning
    return lsp.Diagnostic(_line(problem.line), problem.text, severity, problem.code or None, source=SOURCE)


def _of_finding(finding: Finding) -> lsp.Diagnostic:
    violated = finding.status is Status.VIOLATED
    severity = lsp.DiagnosticSeverity.Warning if violated else lsp.DiagnosticSeverity.Information
    return lsp.Diagnostic(_line(finding.line), finding.text, severity, finding.property, source=SOURCE)


def _of_edit(uri: str, text: str, edit: Edit, diagnostic: lsp.Diagnostic) -> lsp.CodeAction:
    lines = text.splitlines()
    changed = [lsp.TextEdit(_whole(number, lines), line) for number, line in edit.lines]
    if edit.added:
        end = lsp.Position(len(lines), 0) if text.endswith("\n") else lsp.Position(len(lines) - 1, len(lines[-1]))
        before = "" if text.endswith("\n") or not lines else "\n"
        changed.append(lsp.TextEdit(lsp.Range(end, end), before + "".join(f"{line}\n" for line in edit.added)))
    return lsp.CodeAction(
        edit.title, lsp.CodeActionKind.QuickFix, [diagnostic], edit=lsp.WorkspaceEdit(changes={uri: changed})
    )


def _whole(number: int, lines: list[str]) -> lsp.Range:
    return lsp.Range(lsp.Position(number, 0), lsp.Position(number, len(lines[number].encode("utf-16-le")) // 2))
