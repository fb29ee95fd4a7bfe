"""Write docs/man/proofka.1 from the commands. Run this script if a test reports a stale page."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

import typer  # noqa: E402

from proofka.checker.cli import app  # noqa: E402
from proofka.reports.guide.entry import table  # noqa: E402

PAGE = ROOT / "docs" / "man" / "proofka.1"
EXAMPLES = (
    (
        "proofka check orders.yaml",
        "A verdict on every property of a deployment, with the shortest trace of each violation.",
    ),
    ("proofka check deploy/", "A verdict on every property of each pipeline in a folder of configurations."),
    ("proofka check orders.yaml --json orders.json", "Check a deployment and keep the result."),
    ("proofka trace orders.json 1", "Print the first trace of the result step by step."),
    ("proofka verify orders.json", "Replay the traces of the result in the model."),
    ("proofka help min.insync.replicas", "Explain a setting and its meaning for delivery."),
)


def text() -> str:
    """Return the page in roff."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    group: Any = typer.main.get_command(app)
    context = typer.Context(group, info_name="proofka")
    yield '.TH PROOFKA 1 "" proofka "User Commands"'
    yield ".SH NAME"
    yield f"proofka \\- {_roff(group.help).rstrip('.')}"
    yield ".SH SYNOPSIS"
    yield ".B proofka"
    yield r".I COMMAND"
    yield r"[\fIOPTION\fR]... [\fIARGUMENT\fR]..."
    yield ".SH DESCRIPTION"
    yield "Proofka reads the configuration of a Kafka pipeline (producer, topic and brokers, consumer), explores every"
    yield "interleaving of faults up to a bound, and reports for each property that the property holds within the"
    yield "bounds, or shows a shortest run that violates it. Proofka never executes or fetches the content of a file."
    yield ".SH OPTIONS"
    yield from _parameters(group, context)
    yield ".SH COMMANDS"
    for name, command in group.commands.items():
        yield f".SS proofka {_roff(name)} {_roff(_usage(command, context, name))}".rstrip()
        for number, paragraph in enumerate((command.help or command.get_short_help_str()).split("\n\n")):
            if number:
                yield ".PP"
            yield _roff(" ".join(paragraph.split()))
        yield from _parameters(command, typer.Context(command, info_name=name, parent=context))
    yield ".SH EXIT STATUS"
    for row in table("statuses"):
        yield ".TP"
        yield f".B {row['status']}"
        yield _roff(row["meaning"])
    yield ".SH EXAMPLES"
    for command, meaning in EXAMPLES:
        yield ".TP"
        yield f".B {_roff(command)}"
        yield _roff(meaning)
    yield ".SH ENVIRONMENT"
    yield ".TP"
    yield ".B COLUMNS, NO_COLOR, PAGER"
    yield "Width of the output, colours (off with NO_COLOR), and the program that shows output longer than the screen."


def _usage(command: Any, context: Any, name: str) -> str:
    """Return the usage after the name of a command."""
    inner = typer.Context(command, info_name=name, parent=context)
    return " ".join(command.collect_usage_pieces(inner))


def _parameters(command: Any, context: Any) -> Iterator[str]:
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is None:
            continue
        names, said = record
        yield ".TP"
        yield f".B {_roff(names)}"
        yield _roff(" ".join(said.split()))


def _roff(words: str) -> str:
    """Return text that roff shows unchanged."""
    escaped = words.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(text(), encoding="utf-8")
