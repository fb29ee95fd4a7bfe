"""The program of a script: replays the plan beside it, and prints the outcome. The script has this file's copy.

A script is a folder that replays one trace without Proofka (``proofka reproduce --script``).
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

from proofka.checker.cluster.errors import ClusterError
from proofka.checker.reproduction.errors import ReproductionError
from proofka.checker.reproduction.keeping import wait_for_an_end
from proofka.checker.reproduction.plan import Plan, from_json
from proofka.checker.reproduction.session import replay_all
from proofka.properties.reproduced import Outcome, to_document
from proofka.properties.reproduced_in_words import in_words

PLAN = Path(__file__).with_name("plan.json")
"""The plan of the trace."""
EXIT_CANNOT_RUN = 2
"""Exit status where the cluster does not start, or where something is missing; see ``EXIT_STATUS`` for outcomes."""
EXIT_INTERRUPTED = 130
"""Exit status after Ctrl-C; shells use the same status."""
WIDEST_LINE = 100
"""Largest number of characters in a line of the outcome."""


def main(arguments: Sequence[str]) -> int:
    """Replay the plan, print the outcome, and return the exit status."""
    given = _parser().parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        plan = from_json(PLAN.read_text(encoding="utf-8"))
        outcome = _replayed(plan, given.kafka_home, keep=given.keep)
        if given.json is not None:
            given.json.write_text(json.dumps(to_document(outcome), indent=1) + "\n", encoding="utf-8")
    except (ClusterError, ReproductionError, OSError) as error:
        _tell(str(error))
        return EXIT_CANNOT_RUN
    except KeyboardInterrupt:
        _tell("interrupted")
        return EXIT_INTERRUPTED
    return outcome.exit_status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="run.sh",
        description="Replay the trace that README.md tells, on a throw-away Kafka cluster on this machine.",
        epilog="Exit status: 0 reproduced, 2 something is missing or the cluster did not start, 3 the cluster diverged "
        "from the trace or the failure was not observed, 4 a step of the trace cannot be steered, 130 Ctrl-C.",
    )
    parser.add_argument(
        "--kafka-home",
        metavar="DIR",
        type=Path,
        help="the folder of an unpacked Apache Kafka (default: jars from Maven Central, kept in the user's cache)",
    )
    parser.add_argument("--keep", action="store_true", help="let the cluster run at the end, until Ctrl-C")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the outcome as JSON into FILE")
    return parser


def _replayed(plan: Plan, kafka_home: Path | None, *, keep: bool) -> Outcome:
    """Replay the plan, and print its outcome before a kept cluster waits."""
    outcomes = []
    for _, outcome in replay_all(
        [plan], kafka_home=kafka_home, tell=_tell, keep=keep, kept=lambda lines: wait_for_an_end(lines, _tell)
    ):
        _print(plan, outcome)
        outcomes.append(outcome)
    return outcomes[0]


def _print(plan: Plan, outcome: Outcome) -> None:
    width = min(shutil.get_terminal_size().columns, WIDEST_LINE)
    for line in in_words(plan.name, outcome, {step.number: step.text for step in plan.steps}):
        for part in textwrap.wrap(
            line.text,
            width,
            initial_indent=line.first,
            subsequent_indent=line.rest,
            break_long_words=False,
            break_on_hyphens=False,
        ):
            print(part)
    sys.stdout.flush()


def _tell(line: str) -> None:
    """Print a line of progress, or of an error, to standard error."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
