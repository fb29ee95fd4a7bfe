"""Options and arguments of the commands: type, metavariable, help text and parser of each."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from proofka.checker.cli.completing import (
    complete_assumption,
    complete_faults,
    complete_profile,
    complete_property,
    complete_switch_off,
    complete_switch_on,
)
from proofka.checker.export.writing import Format


def seconds_of(text: str) -> float:
    """Return a number of seconds above 0. Raise typer.BadParameter."""
    value = _number(text)
    if not 0 < value < math.inf:
        raise typer.BadParameter(f"{text!r} is not a number of seconds above 0")
    return value


def _seconds_or_none(text: str | float) -> float:
    value = _number(str(text))
    if not 0 <= value < math.inf:
        raise typer.BadParameter(f"'{text}' is neither a number of seconds nor 0")
    return value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _faults(text: str) -> str:
    value = text.strip().lower()
    if value != "any" and not (value.isascii() and value.isdigit() and len(value) <= 6):
        raise typer.BadParameter(f"{text!r} is neither a number of faults nor any")
    return value


def _count(noun: str, most: int | None = None) -> Callable[[str | int], int]:
    """Return a parser of numbers from 1 to ``most``. ``noun``: words for such a number."""
    allowed = "above 0" if most is None else f"from 1 to {most}"

    def parse(given: str | int) -> int:
        text = str(given)
        value = int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else 0
        if value < 1 or (most is not None and value > most):
            raise typer.BadParameter(f"'{text}' is not a {noun} {allowed}")
        return value

    return parse


def bytes_of(text: str) -> int:
    """Return the number of bytes that a size such as 512M means. Raise typer.BadParameter."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    value = int(float(match[1]) * 1024 ** " KMGT".index(match[2].upper() or " ")) if match else 0
    if value < 1 << 20:
        raise typer.BadParameter(f"{text!r} is not a size of at least a megabyte, such as 512M or 2G")
    return value


File = Annotated[
    Path | None,
    typer.Argument(
        metavar="PATH",
        help="A deployment in YAML, an existing configuration file, a folder, or - for standard input.",
    ),
]
Kafka = Annotated[
    str | None,
    typer.Option(
        metavar="V",
        help="Release of the brokers, such as 4.0; needed with .properties files (default: the release in the files, "
        "else the newest known).",
    ),
]
Topic = Annotated[
    str | None,
    typer.Option(
        metavar="F|NAME",
        help="The topic's .properties file; with PATH, the topic's name (default: topics named in the files).",
    ),
]
Topics = Annotated[
    list[str] | None,
    typer.Option(
        "--topic",
        metavar="F|NAME",
        help="The topic's .properties file; with PATH, the topic's name; with --bootstrap, a topic (repeat for more) "
        "(default: topics named in the files, else all topics of the cluster).",
    ),
]
Fill = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="The value of a placeholder such as ${NAME}; repeat for more (default: none).",
    ),
]
Clients = Annotated[
    list[str] | None,
    typer.Option(
        "--client",
        metavar="[NAME=]V",
        help="Release of the clients, such as 2.8 or sarama=1.43; repeat for more (default: the release in the files).",
    ),
]
PipelineNumber = Annotated[
    int | None,
    typer.Option(
        "--pipeline",
        metavar="N",
        parser=_count("pipeline number"),
        help="Check only pipeline number N of proofka show (default: all).",
    ),
]
Partly = Annotated[
    bool,
    typer.Option(
        "--partial", help="Check a pipeline even if some of its values were rejected, ignoring those (default: off)."
    ),
]
Environment = Annotated[
    bool, typer.Option("--env", help="Fill placeholders from this command's environment variables (default: off).")
]
Broker = Annotated[Path | None, typer.Option(metavar="F", help="The brokers' .properties file (default: none).")]
Producer = Annotated[Path | None, typer.Option(metavar="F", help="The producer's .properties file (default: none).")]
Consumer = Annotated[Path | None, typer.Option(metavar="F", help="The consumer's .properties file (default: none).")]
Assume = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY=VALUE",
        help="An assumption about the application, such as processing=handed-off; repeat for more "
        "(default: the documented value of each).",
        autocompletion=complete_assumption,
    ),
]


def _faults_option(words: str) -> Any:
    """Return the option ``--faults`` of a command. ``words``: its help."""
    return typer.Option(metavar="N", parser=_faults, help=words, autocompletion=complete_faults)


_FAULTS = "Explore up to N faults over all kinds, or any number of faults with any"
Faults = Annotated[
    str | None,
    _faults_option(
        f"{_FAULTS} (default: the total in the file, else every single fault, then larger sets until the time limit)."
    ),
]
FaultsOfBoth = Annotated[
    str | None,
    _faults_option(
        f"{_FAULTS} (default: the total of the result on the other side, else the larger total in the files, else 1)."
    ),
]
FaultsOfPolicy = Annotated[str | None, _faults_option(f"{_FAULTS} (default: the total of the matrix, else 2).")]
FaultsToRepair = Annotated[
    str | None,
    _faults_option(
        "Repair up to N faults over all kinds (default: the total in the file, else single faults, and larger sets "
        "only if single faults violate nothing)."
    ),
]
FaultsExported = Annotated[
    str | None,
    _faults_option("Largest number of faults over all kinds (default: the total in the file, else 2)."),
]
Seconds = Annotated[
    float | None,
    typer.Option(
        "--time",
        metavar="SECONDS",
        parser=seconds_of,
        help="Stop exploring after SECONDS (default: 10 without --faults, no limit with it).",
    ),
]
States = Annotated[
    int | None,
    typer.Option(
        metavar="N", parser=_count("number of states"), help="Stop exploring after N states (default: no limit)."
    ),
]
Memory = Annotated[
    int | None,
    typer.Option(
        metavar="SIZE",
        parser=bytes_of,
        help="Stop exploring when the process uses SIZE bytes, such as 512M or 2G (default: 60% of the machine's "
        "memory).",
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        parser=_count("number of threads", 256),
        help="Number of threads that explore, 1 to 256 (default: the processors available to this process).",
    ),
]
Require = Annotated[
    list[str] | None,
    typer.Option(
        metavar="P",
        help="A property that must hold; repeat for more (default: those of --profile).",
        autocompletion=complete_property,
    ),
]
Profile = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The required properties: at-least-once, exactly-once, ordered or all (default: the profile in the file, "
        "else at-least-once and the promises of the producer's settings). --require names properties instead.",
        autocompletion=complete_profile,
    ),
]
FailOn = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-on",
        metavar="P",
        help="A property that determines the exit status, required or not; repeat for more (default: the required "
        "properties). The answer and the reports still follow --require.",
        autocompletion=complete_property,
    ),
]
FailOnKnownDefects = Annotated[
    bool,
    typer.Option(
        "--fail-on-known-defects",
        help="End with status 3 if a required property holds and a known defect of these releases, which is not "
        "modelled, could violate the property (default: off).",
    ),
]
ResultOrPath = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="A result (--json), a bundle, or a PATH of proofka check, which is checked first."
    ),
]
KafkaHome = Annotated[
    Path | None,
    typer.Option(
        "--kafka-home",
        metavar="DIR",
        help="The folder of an unpacked Apache Kafka (default: jars from Maven Central, kept in the cache).",
    ),
]
JsonFile = Annotated[
    Path | None,
    typer.Option(
        "--json",
        metavar="FILE",
        help="Write the result as JSON into FILE; - writes only JSON to standard output (default: none).",
    ),
]
ReportFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--report",
        metavar="PATH",
        help="Write a report: a file that ends in .html, .md, .pdf, .sarif, .xml (JUnit) or .bib, or a folder with "
        "pages for each pipeline; repeat for more (default: none).",
    ),
]
BundleFile = Annotated[
    Path | None,
    typer.Option(
        "--bundle",
        metavar="FILE.zip",
        help="Write a bundle: the result and everything that proofka verify needs to check it (default: none).",
    ),
]
Details = Annotated[
    bool, typer.Option("--details", help="Print also further traces, notes, assumptions and versions (default: off).")
]
AllTraces = Annotated[
    bool,
    typer.Option("--all-traces", help="Print one trace for each smallest fault set (default: one for each property)."),
]
AllFaultSets = Annotated[
    bool,
    typer.Option(
        "--all-fault-sets",
        help="Without --faults: also search violated properties for larger fault sets (default: off).",
    ),
]
AllProperties = Annotated[
    bool,
    typer.Option(
        "--all-properties",
        help="Without --faults: also explore the properties that are not required, without a time limit "
        "(default: off).",
    ),
]
NoSensitivity = Annotated[
    bool, typer.Option("--no-sensitivity", hidden=True, help="Same as --more 0; kept for commands of earlier versions.")
]
More = Annotated[
    float,
    typer.Option(
        "--more",
        metavar="SECONDS",
        parser=_seconds_or_none,
        help="After the answer, try single changes and other values for at most SECONDS; 0 skips this search.",
    ),
]
Stability = Annotated[
    bool,
    typer.Option(
        "--stability",
        help="After the answer, check the required properties with 1 to 3 records, 2 to 4 log slots and 3 to 5 "
        "replicas (default: off).",
    ),
]
StabilityTime = Annotated[
    float,
    typer.Option(
        "--stability-time", metavar="SECONDS", parser=seconds_of, help="Limit of --stability, for all sizes together."
    ),
]
Explain = Annotated[
    bool,
    typer.Option(
        "--explain", help="Explain each violation, and name the changes that would have prevented it (default: off)."
    ),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet",
        help="Print the answer in one sentence, and the result of --explain. The command explores only the properties "
        "of the sentence, unless a file or another option asks for more (default: off).",
    ),
]

WholeSeconds = Annotated[
    float | None,
    typer.Option(
        "--time",
        metavar="SECONDS",
        parser=seconds_of,
        help="Stop exploring after SECONDS (default: no limit).",
    ),
]
RepairSeconds = Annotated[
    float | None,
    typer.Option("--time", metavar="SECONDS", parser=seconds_of, help="Stop the search for repairs after SECONDS."),
]
Replicas = Annotated[int, typer.Option(metavar="N", help="Number of replicas of the partition.")]
LogSize = Annotated[int, typer.Option("--log-size", metavar="N", help="Number of records that each log can hold.")]
Records = Annotated[int, typer.Option(metavar="N", help="Largest number of records that are written.")]
Epochs = Annotated[int, typer.Option(metavar="N", help="Largest leader epoch; the first epoch is 0.")]


class EngineName(StrEnum):
    """The engine that explores: this process, Spark, or Spark after this process has reached its memory limit."""

    EMBEDDED = "embedded"
    SPARK = "spark"
    AUTO = "auto"


Engine = Annotated[
    EngineName,
    typer.Option(
        help="The engine that explores: this process (embedded), Spark, or this process until the memory limit, "
        "then Spark (auto).",
    ),
]
Master = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Spark's master, such as local[2] or spark://host:7077 (default: all cores of this machine).",
    ),
]
Stats = Annotated[
    bool, typer.Option("--stats", help="Print cache hits, and the cost of each superstep of Spark (default: off).")
]
Json = Annotated[bool, typer.Option("--json", help="Print the answer as JSON (default: as text).")]
SwitchOn = Annotated[
    list[str] | None,
    typer.Option(
        "--with",
        metavar="R",
        help="A reduction to use: ranked-epochs or symmetry; repeat for more (default: none of these).",
        autocompletion=complete_switch_on,
    ),
]
SwitchOff = Annotated[
    list[str] | None,
    typer.Option(
        "--without",
        metavar="R",
        help="A reduction to leave out: cone-of-influence or covered-faults; repeat for more (default: both are used).",
        autocompletion=complete_switch_off,
    ),
]
CheckpointFolder = Annotated[
    Path | None,
    typer.Option(
        "--checkpoint",
        metavar="DIR",
        help="Write snapshots into the folder DIR, and continue from the snapshot there (default: none). Spark "
        "keeps all states in DIR.",
    ),
]
CheckpointEvery = Annotated[
    float,
    typer.Option("--checkpoint-every", metavar="SECONDS", parser=seconds_of, help="Seconds between two snapshots."),
]
Deployments = Annotated[
    Path | None,
    typer.Argument(
        metavar="SOURCE",
        help="A matrix (YAML), an inventory (CSV, JSON lines, Parquet) or a folder; none with --bootstrap.",
    ),
]
Out = Annotated[
    Path,
    typer.Option(
        metavar="DIR", help="The folder for the results; an audit continues from results that are already there."
    ),
]
AuditKafka = Annotated[
    str | None,
    typer.Option(
        "--kafka", metavar="V", help="Release of the brokers, such as 3.9, if SOURCE does not name it (default: none)."
    ),
]


class OutgrownAre(StrEnum):
    """The treatment of systems that need more memory than one exploration may use."""

    UNKNOWN = "unknown"
    SPREAD = "spread"


Outgrown = Annotated[
    OutgrownAre,
    typer.Option(help="A system that needs more memory is undecided (unknown), or explored by all executors (spread)."),
]
SecondsEach = Annotated[
    float | None,
    typer.Option(
        "--time",
        metavar="SECONDS",
        parser=seconds_of,
        help="Stop exploring a system after SECONDS (default: no limit).",
    ),
]
MemoryEach = Annotated[
    int | None,
    typer.Option(
        "--memory",
        metavar="SIZE",
        parser=bytes_of,
        help="Stop exploring a system when it uses SIZE bytes, such as 2G (default: 60% of the machine's "
        "memory, divided by its processors).",
    ),
]
NoFigures = Annotated[bool, typer.Option("--no-figures", help="Do not draw figures (default: figures are drawn).")]
Verbose = Annotated[bool, typer.Option("--verbose", help="Print Spark's log (default: off).")]
Form = Annotated[
    Format,
    typer.Option("--format", help="For TLC (tla), SPIN (promela), a solver (smt2), or as a graph (dot, graphml)."),
]
Folder = Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="The folder for the written files.")]
MostStates = Annotated[
    int | None,
    typer.Option(
        "--most-states",
        metavar="N",
        parser=_count("number of states"),
        help="Largest number of states of a graph (dot, graphml; default: 2000).",
    ),
]
