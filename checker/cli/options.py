"""What the commands take: each option's type, its name for the reader, and how its text is read."""

from __future__ import annotations

import math
import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from checker.cli.completing import (
    complete_assumption,
    complete_faults,
    complete_profile,
    complete_property,
    complete_switch_off,
    complete_switch_on,
)
from checker.export.writing import Format


def _seconds(text: str) -> float:
    value = _number(text)
    if not 0 < value < math.inf:
        raise typer.BadParameter(f"{text!r} is not a number of seconds above 0")
    return value


def _seconds_or_none(text: str | float) -> float:
    value = _number(str(text))
    if not 0 <= value < math.inf:
        raise typer.BadParameter(f"'{text}' is not a number of seconds, nor 0")
    return value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _faults(text: str) -> str:
    value = text.strip().lower()
    if value != "any" and not (value.isascii() and value.isdigit() and len(value) <= 6):
        raise typer.BadParameter(f"{text!r} is neither a number of faults nor the word any")
    return value


def _bytes(text: str) -> int:
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    value = int(float(match[1]) * 1024 ** " KMGT".index(match[2].upper() or " ")) if match else 0
    if value < 1 << 20:
        raise typer.BadParameter(f"{text!r} is not a size of at least a megabyte, such as 512M or 2G")
    return value


File = Annotated[
    Path | None,
    typer.Argument(
        metavar="PATH",
        help="A deployment in YAML, a configuration as it lies somewhere, a folder, or - for standard input.",
    ),
]
Kafka = Annotated[str | None, typer.Option(metavar="V", help="Release of the brokers, where no file says it.")]
Topic = Annotated[
    str | None, typer.Option(metavar="F|NAME", help="The topic's .properties file; beside PATH, the topic's name.")
]
Fill = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="What a placeholder such as ${NAME} stands for.")
]
Clients = Annotated[
    list[str] | None,
    typer.Option(
        "--client", metavar="[NAME=]V", help="Release of the clients: 2.8, or sarama=1.43, where no file says it."
    ),
]
PipelineNumber = Annotated[
    int | None, typer.Option("--pipeline", metavar="N", min=1, help="The one of several pipelines that is asked for.")
]
Partly = Annotated[
    bool, typer.Option("--partial", help="Check pipelines of which values were rejected as if nobody had said these.")
]
Environment = Annotated[bool, typer.Option("--env", help="Take placeholders from the environment of this command.")]
Broker = Annotated[Path | None, typer.Option(metavar="F", help="The brokers' .properties file.")]
Producer = Annotated[Path | None, typer.Option(metavar="F", help="The producer's .properties file.")]
Consumer = Annotated[Path | None, typer.Option(metavar="F", help="The consumer's .properties file.")]
Assume = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY=VALUE",
        help="What no file tells, such as processing=handed-off.",
        autocompletion=complete_assumption,
    ),
]
Faults = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        parser=_faults,
        help="Explore up to N faults, over all kinds; any: however many.",
        autocompletion=complete_faults,
    ),
]
Seconds = Annotated[
    float | None,
    typer.Option(
        "--time",
        metavar="SECONDS",
        parser=_seconds,
        help="Stop exploring after SECONDS (default: 10 without --faults, no limit with it).",
    ),
]
States = Annotated[int | None, typer.Option(metavar="N", min=1, help="Stop at so many states.")]
Memory = Annotated[int | None, typer.Option(metavar="SIZE", parser=_bytes, help="Stop at so much memory, such as 2G.")]
Threads = Annotated[int | None, typer.Option(metavar="N", min=1, max=256, help="Threads to explore with.")]
Require = Annotated[
    list[str] | None,
    typer.Option(metavar="P", help="A property that must hold; repeat for more.", autocompletion=complete_property),
]
Profile = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="What is required: at-least-once, exactly-once, ordered or all. --require names properties instead.",
        autocompletion=complete_profile,
    ),
]
FailOn = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-on",
        metavar="P",
        help="Let the exit status be about P alone, required or not; repeat for more. --require says what is asked, "
        "and what the answer and reports are about; this, what a script fails on.",
        autocompletion=complete_property,
    ),
]
FailOnKnownDefects = Annotated[
    bool,
    typer.Option(
        "--fail-on-known-defects",
        help="End with status 3 where a required property holds and a known defect of these releases, which the model "
        "does not have, could violate it.",
    ),
]
JsonFile = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="Write the result as JSON; - for standard output alone.")
]
ReportFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--report",
        metavar="PATH",
        help="A report: a file that ends in .html, .md, .pdf, .sarif, .xml (JUnit) or .bib, or a folder for pages "
        "of each pipeline; repeat for more.",
    ),
]
BundleFile = Annotated[
    Path | None,
    typer.Option("--bundle", metavar="FILE.zip", help="Write all that proofka verify needs to check it again."),
]
Details = Annotated[
    bool, typer.Option("--details", help="Print everything: more than one trace, notes, assumptions, versions.")
]
AllTraces = Annotated[bool, typer.Option("--all-traces", help="Print one trace for each smallest fault set.")]
AllFaultSets = Annotated[
    bool,
    typer.Option(
        "--all-fault-sets", help="Without --faults: search violated properties for larger fault sets as well."
    ),
]
AllProperties = Annotated[
    bool,
    typer.Option(
        "--all-properties",
        help="Without --faults: explore the properties that are not required too, however long that takes.",
    ),
]
NoSensitivity = Annotated[
    bool, typer.Option("--no-sensitivity", hidden=True, help="The same as --more 0, in commands of earlier versions.")
]
More = Annotated[
    float,
    typer.Option(
        "--more",
        metavar="SECONDS",
        parser=_seconds_or_none,
        help="After the answer, try other values of assumptions and durations for at most SECONDS; 0: do not.",
    ),
]
Explain = Annotated[
    bool, typer.Option("--explain", help="Say why each property breaks, and which change would have prevented it.")
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print the answer in one sentence, and what --explain finds.")]

WholeSeconds = Annotated[
    float | None, typer.Option("--time", metavar="SECONDS", parser=_seconds, help="Stop exploring then.")
]
Replicas = Annotated[int, typer.Option(metavar="N", help="Replicas of the partition.")]
LogSize = Annotated[int, typer.Option("--log-size", metavar="N", help="Slots of each log.")]
Records = Annotated[int, typer.Option(metavar="N", help="Records that may be written.")]
Epochs = Annotated[int, typer.Option(metavar="N", help="The largest leader epoch; the first is 0.")]


class EngineName(StrEnum):
    """Who explores: this process, Spark, or Spark once this process has used up the memory that it may take."""

    EMBEDDED = "embedded"
    SPARK = "spark"
    AUTO = "auto"


Engine = Annotated[
    EngineName,
    typer.Option(
        help="What explores: this process, Spark, or this process until its memory is used up, and then Spark.",
    ),
]
Master = Annotated[
    str | None, typer.Option(metavar="URL", help="Spark's master. All cores of this machine unless it is given.")
]
Stats = Annotated[
    bool, typer.Option("--stats", help="Print what came from the cache, and what each of Spark's supersteps cost.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")]
SwitchOn = Annotated[
    list[str] | None,
    typer.Option(
        "--with",
        metavar="R",
        help="Use ranked-epochs or symmetry.",
        autocompletion=complete_switch_on,
    ),
]
SwitchOff = Annotated[
    list[str] | None,
    typer.Option(
        "--without",
        metavar="R",
        help="Do not use cone-of-influence or covered-faults.",
        autocompletion=complete_switch_off,
    ),
]
CheckpointFolder = Annotated[
    Path | None,
    typer.Option(
        "--checkpoint",
        metavar="DIR",
        help="Write snapshots into DIR, and go on from what is there. Spark keeps all states in it.",
    ),
]
CheckpointEvery = Annotated[
    float, typer.Option("--checkpoint-every", metavar="SECONDS", parser=_seconds, help="Seconds between snapshots.")
]
Deployments = Annotated[
    Path, typer.Argument(metavar="SOURCE", help="A matrix (YAML), an inventory (CSV, JSON lines, Parquet) or a folder.")
]
Out = Annotated[Path, typer.Option(metavar="DIR", help="The folder to write into, and to go on from.")]
AuditKafka = Annotated[
    str | None,
    typer.Option("--kafka", metavar="V", help="Release of the brokers, where SOURCE describes a cluster without it."),
]


class OutgrownAre(StrEnum):
    """What becomes of systems that need more memory than one exploration may take."""

    UNKNOWN = "unknown"
    SPREAD = "spread"


Outgrown = Annotated[
    OutgrownAre,
    typer.Option(help="A system that needs more memory is left undecided, or explored by all executors together."),
]
SecondsEach = Annotated[
    float | None, typer.Option("--time", metavar="SECONDS", parser=_seconds, help="Stop exploring a system then.")
]
MemoryEach = Annotated[
    int | None,
    typer.Option("--memory", metavar="SIZE", parser=_bytes, help="Stop exploring a system at so much memory."),
]
NoFigures = Annotated[bool, typer.Option("--no-figures", help="Do not draw figures.")]
Verbose = Annotated[bool, typer.Option("--verbose", help="Let Spark say what it does.")]
Form = Annotated[Format, typer.Option("--format", help="For TLC, SPIN, a solver, or as a graph.")]
Folder = Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="The folder to write into.")]
MostStates = Annotated[
    int | None, typer.Option("--most-states", metavar="N", min=1, help="How large a graph may be (dot, graphml).")
]
