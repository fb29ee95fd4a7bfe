"""The program ``proofka``: its commands, and how it starts."""

from __future__ import annotations

import gc
import signal
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from proofka.checker.cli.audit import audit
from proofka.checker.cli.baseline import baseline
from proofka.checker.cli.cache import cache
from proofka.checker.cli.certify import certify
from proofka.checker.cli.check import check
from proofka.checker.cli.claims import claims
from proofka.checker.cli.conform import conform
from proofka.checker.cli.defects import defects
from proofka.checker.cli.diff import diff
from proofka.checker.cli.errors import one_line_of_a_full_disk, one_line_usage_errors
from proofka.checker.cli.explain import explain
from proofka.checker.cli.export import export
from proofka.checker.cli.help import help_on
from proofka.checker.cli.init import init
from proofka.checker.cli.lsp import lsp
from proofka.checker.cli.mcp import mcp
from proofka.checker.cli.memory_errors import one_line_without_memory
from proofka.checker.cli.no_cache import one_line_without_cache
from proofka.checker.cli.policy import policy
from proofka.checker.cli.properties import properties
from proofka.checker.cli.prove import prove
from proofka.checker.cli.published import published
from proofka.checker.cli.repair import repair
from proofka.checker.cli.reproduce import reproduce
from proofka.checker.cli.risk import risk
from proofka.checker.cli.show import show
from proofka.checker.cli.snapshot import snapshot
from proofka.checker.cli.trace import trace
from proofka.checker.cli.verify import verify


class OneLineErrors(TyperGroup):
    """The command group.

    A wrong option ends the program with one line on standard error, like any other wrong input.
    """

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        """Parse the options before the command's name."""
        with one_line_usage_errors(), one_line_of_a_full_disk():
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: Any) -> Any:
        """Parse the options after the command's name, and run the command."""
        with one_line_usage_errors(), one_line_of_a_full_disk(), one_line_without_memory(), one_line_without_cache():
            return super().invoke(ctx)


app = typer.Typer(
    name="proofka",
    cls=OneLineErrors,
    help="A formal checker for Apache Kafka pipeline configurations.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


COLLECT_AFTER = (50_000, 20, 20)
"""Thresholds of Python's garbage collector (objects, then collections of the younger generations). Terms and modules
are never garbage, so collecting early costs time only."""


def main() -> None:
    """Run the command line. If the reader of a pipe closes the pipe early, the program ends without a message."""
    gc.set_threshold(*COLLECT_AFTER)
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    app()


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            typer.echo(f"proofka {version('proofka')}")
        except PackageNotFoundError:
            typer.echo("proofka (not installed)")
        raise typer.Exit


@app.callback()
def proofka(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Check a Kafka pipeline configuration: which records can be lost, repeated or reordered, and by which run."""


app.command(short_help="Check a deployment.")(check)
app.command(short_help="Find pipelines, and write a project file.")(init)
app.command(short_help="Write down what is known, so that only news fails.")(baseline)
app.command(short_help="Check, and name the changes that prevent each violation.")(explain)
app.command(short_help="Check many deployments, on Spark.")(audit)
app.command(short_help="Read a live cluster into a folder of files.")(snapshot)
app.command(short_help="Show every effective setting and its origin.")(show)
app.command(short_help="Find changes that make properties hold.")(repair)
app.command(short_help="Compute violations a year from rates of faults.")(risk)
app.command(short_help="Print a trace step by step, or draw the trace.")(trace)
app.command(short_help="Replay a trace on a real cluster.")(reproduce)
app.command(short_help="Compare runs of a real cluster with the model.")(conform)
app.command(short_help="Write a certificate of the verdicts.")(certify)
app.command(short_help="Check a result or a bundle again.")(verify)
app.command(short_help="Serve an editor over the Language Server Protocol.")(lsp)
app.command(short_help="Answer an assistant over the Model Context Protocol.")(mcp)
app.command(short_help="Compare two results or configurations.")(diff)
app.command(short_help="Explore a published protocol.")(published)
app.command(short_help="Prove a published protocol by induction.")(prove)
app.command(short_help="Write a system for other tools.")(export)
app.command(short_help="Decide published claims about Kafka.")(claims)
app.command(short_help="Decide the rules of a policy, or derive a rule.")(policy)
app.command()(properties)
app.command(short_help="List known defects of releases and clients.")(defects)
app.command(short_help="Show or delete the data kept between runs.")(cache)
app.command("help", short_help="Explain a property, setting, fault, verdict ...")(help_on)
