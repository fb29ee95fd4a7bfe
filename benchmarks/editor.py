"""Measure the milliseconds from a keystroke to the diagnostics of the language server.

    python benchmarks/editor.py [FILE ...] [--keystrokes N]

A client of the protocol opens each file (default: some examples), and sends the whole text N times, each time with
another comment at its end. The server reads the text as a file, so the time is that of reading a configuration. The
script prints a table in Markdown: the size of the file, the median, and the slowest of all keystrokes but the first,
which waits for imports.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from pathlib import Path
from statistics import median

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

ROOT = Path(__file__).parent.parent
FILES = ("examples/orders.yaml", "examples/acks-1.yaml", "examples/exactly-once.yaml")


async def measured(file: Path, keystrokes: int) -> list[float]:
    """Return the milliseconds of each keystroke, the first one included."""
    client, published = LanguageClient("benchmark", "1"), asyncio.Queue[lsp.PublishDiagnosticsParams]()
    client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda params: published.put_nowait(params))
    await client.start_io(sys.executable, "-m", "proofka", "lsp", cwd=ROOT)
    await client.initialize_async(lsp.InitializeParams(lsp.ClientCapabilities(), root_uri=ROOT.as_uri()))
    text, uri = file.read_text(encoding="utf-8"), file.resolve().as_uri()
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(uri, "yaml", 0, text)))
    await published.get()
    found = []
    for number in range(1, keystrokes + 1):
        about = lsp.VersionedTextDocumentIdentifier(number, uri)
        change = lsp.TextDocumentContentChangeWholeDocument(f"{text}# {number}\n")
        began = time.perf_counter()
        client.text_document_did_change(lsp.DidChangeTextDocumentParams(about, [change]))
        await published.get()
        found.append((time.perf_counter() - began) * 1000)
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="*", type=Path, default=[ROOT / file for file in FILES])
    parser.add_argument("--keystrokes", type=int, default=50)
    asked = parser.parse_args()
    print("| file | lines | median ms | slowest ms |\n|---|--:|--:|--:|")
    for file in asked.files:
        found = asyncio.run(measured(file, asked.keystrokes))[1:]
        lines = len(file.read_text(encoding="utf-8").splitlines())
        print(f"| {file.name} | {lines} | {median(found):.0f} | {max(found):.0f} |", flush=True)


if __name__ == "__main__":
    main()
