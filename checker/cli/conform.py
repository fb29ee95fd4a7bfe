"""``proofka conform``: random runs of a real cluster are behaviours of the model."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from proofka.checker.cli.checked_options import check_home
from proofka.checker.cli.endings import EXIT_BAD_INPUT, EXIT_HOLDS, EXIT_UNDECIDED, EXIT_VIOLATED
from proofka.checker.cli.errors import fail, one_line_errors
from proofka.checker.cli.options import Assume, Clients, Kafka, KafkaHome
from proofka.checker.cli.source_options import source_of
from proofka.checker.conformance.arguments import MOST_RECORDS

if TYPE_CHECKING:
    from proofka.checker.conformance.coverage import CheckedRun, Coverage
    from proofka.checker.conformance.events import Recording
    from proofka.checker.conformance.lab import Asked

MOST_PRODUCERS = 12
"""The largest number of producers of a run; each is a process of its own."""

_OF_RUNS = {
    "runs": "--runs",
    "seed": "--seed",
    "records": "--records",
    "steps": "--steps",
    "faults": "--faults",
    "producers": "--producers",
    "consumers": "--consumers",
    "keep": "--keep",
    "kafka_home": "--kafka-home",
    "kafka": "--kafka",
    "clients": "--client",
    "assume": "--assume",
}
"""The options that only new runs have, by parameter."""


def conform(
    context: typer.Context,
    deployment: Annotated[
        Path | None,
        typer.Argument(metavar="[DEPLOYMENT]", help="The deployment to run, as for proofka check (default: none)."),
    ] = None,
    runs: Annotated[int, typer.Option("--runs", metavar="N", min=1, help="Number of random runs (default: 5).")] = 5,
    seed: Annotated[
        int, typer.Option("--seed", metavar="S", min=0, help="Seed of the first run; later runs add 1 (default: 1).")
    ] = 1,
    records: Annotated[
        int | None,
        typer.Option(
            "--records",
            metavar="N",
            min=1,
            max=MOST_RECORDS,
            help="Number of records that each producer sends (default: 2, with transactions 3).",
        ),
    ] = None,
    steps: Annotated[
        int, typer.Option("--steps", metavar="N", min=1, help="Number of random controls in a run (default: 24).")
    ] = 24,
    faults: Annotated[
        int, typer.Option("--faults", metavar="N", min=0, help="Largest number of faults in a run (default: 3).")
    ] = 3,
    producers: Annotated[
        int,
        typer.Option(
            "--producers",
            metavar="N",
            min=1,
            max=MOST_PRODUCERS,
            help="Number of producers in a run, each with a topic and a recording of its own (default: 4).",
        ),
    ] = 4,
    consumers: Annotated[
        bool,
        typer.Option(
            "--consumers/--no-consumers",
            help="Run a consumer beside each producer, if the lab has one for the deployment (default: --consumers).",
        ),
    ] = True,
    recorded: Annotated[
        list[Path] | None,
        typer.Option(
            "--recorded",
            metavar="PATH",
            help="Check the recordings in PATH, a file, an archive (.tar.xz) or a folder of these, and start no "
            "cluster; repeat for more (default: none).",
        ),
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option("--keep", metavar="DIR", help="Write each recording as a JSON file into DIR (default: none)."),
    ] = None,
    kafka_home: KafkaHome = None,
    kafka: Kafka = None,
    clients: Clients = None,
    assume: Assume = None,
) -> None:
    """Tell whether random runs of a throw-away cluster with a real producer are behaviours of the model.

    A run gives a recording for each of its producers. Needs Java; clients other than Java's need their library.

    Exit status: 0 every recording is a behaviour of the model, 1 some recording is not, 2 the input is wrong or the
    cluster did not start, 3 some recording could not be decided, 130 Ctrl-C.
    """
    from proofka.checker.cluster.errors import ClusterError
    from proofka.checker.conformance.coverage import Coverage, checked, checked_together
    from proofka.checker.conformance.lab import Asked

    with one_line_errors():
        if (deployment is None) == (not recorded):
            fail("name a DEPLOYMENT to run, or the recorded runs with --recorded, and not both")
        if recorded:
            _refuse_options_of_runs(context)
        if keep is not None and keep.exists() and not keep.is_dir():
            fail(f"--keep {keep}: is a file; name a folder")
        if kafka_home is not None:
            check_home(kafka_home)
        found = _recordings(recorded or []) if deployment is None else None
        asked = None
        if deployment is not None:
            asked = source_of(deployment, kafka, None, assume=assume, clients=clients).read()
    coverage = Coverage()
    if asked is not None:
        chosen = Asked(
            asked,
            range(seed, seed + runs),
            records=records,
            steps=steps,
            faults=faults,
            producers=producers,
            consumers=consumers,
            kafka_home=kafka_home,
        )
        found = _runs(chosen, keep)
    assert found is not None
    try:
        with one_line_errors():
            for run in checked_together(found) if asked is None else map(checked, found):
                coverage.add(run)
                for line in _in_words(run):
                    print(line, flush=True)
    except ClusterError as error:
        fail(str(error))
    for line in summary(coverage):
        print(line)
    raise typer.Exit(_status(coverage))


def _refuse_options_of_runs(context: typer.Context) -> None:
    """Refuse options of new runs beside ``--recorded``, which starts no runs."""
    for name, option in _OF_RUNS.items():
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            fail(f"{option}: has no effect on recorded runs; leave the option out, or name a DEPLOYMENT")


def _recordings(paths: list[Path]) -> Iterator[Recording]:
    from proofka.checker.conformance.archives import recordings_in

    for path in paths:
        found = False
        with one_line_errors():
            for _, recording in recordings_in(path):
                found = True
                yield recording
        if not found:
            fail(f"{path}: has no recordings; proofka conform DEPLOYMENT --keep DIR writes some")


def _runs(asked: Asked, keep: Path | None) -> Iterator[Recording]:
    from proofka.checker.conformance.events import to_json
    from proofka.checker.conformance.lab import record_runs
    from proofka.model.input.whole_file import write_whole

    for recording in record_runs(asked, lambda line: print(line, file=sys.stderr, flush=True)):
        if keep is not None:
            about = recording.about
            keep.mkdir(parents=True, exist_ok=True)
            named = re.sub(r"[^A-Za-z0-9._-]+", "-", asked.deployment.name).strip(".-") or "deployment"
            name = f"{named}-{about['kafka']}-{about['seed']}-{about['producer']}.json"
            write_whole(keep / name, to_json(recording))
        yield recording


def _in_words(run: CheckedRun) -> Iterator[str]:
    """Yield the lines about one recording."""
    from proofka.checker.conformance.tracker import Answer
    from proofka.reports.wording import plain

    client, brokers = run.group
    outcome, about, events = run.outcome, run.recording.about, run.recording.events
    number = f", producer {about['producer']}" if "producer" in about else ""
    name = plain(f"seed {about.get('seed', '?')}{number} ({client}, Apache Kafka {brokers})")
    if outcome.answer is Answer.ACCEPTED:
        yield f"{name}: {len(events)} events, a behaviour of the model; at most {max(outcome.sizes)} states fit"
    else:
        assert outcome.event is not None
        where = f"event {outcome.event + 1} of {len(events)}: {events[outcome.event]}"
        why = {
            Answer.REJECTED: f"NOT a behaviour of the model; {where}",
            Answer.BOUND: f"undecided, as the bound {', '.join(outcome.bounds)} is reached; {where}",
            Answer.TOO_MANY: f"undecided, as too many states fit; {where}",
        }[outcome.answer]
        yield f"{name}: {why}"
        yield from _states(run)
    if "unfinished" in about:
        yield plain(f"  the run was ended: {about['unfinished']}")


def _states(run: CheckedRun) -> Iterator[str]:
    """Yield the model's words for states before the event that no state allows, and the actions that were possible."""
    from proofka.checker.conformance.coverage import in_words

    for state in in_words(run):
        yield "  the model was here: " + "; ".join(f"{what}: {value}" for what, value in state.items())
    if run.outcome.enabled:
        yield f"  possible there: {', '.join(run.outcome.enabled)}"


def summary(coverage: Coverage) -> Iterator[str]:
    """Yield the lines about all recordings together."""
    from proofka.checker.conformance.coverage import MOST_EXAMINED, passed
    from proofka.checker.conformance.tracker import Answer
    from proofka.reports.wording import plain

    yield ""
    for (client, brokers), answers in sorted(coverage.answers.items()):
        accepted, decided = passed(answers)
        undecided = sum(answers.values()) - decided
        rest = f", {undecided} undecided" if undecided else ""
        group = plain(f"{client}, Apache Kafka {brokers}")
        yield f"{group}: {accepted} of {decided} recordings are behaviours of the model{rest}"
    if not any(Answer.ACCEPTED in answers for answers in coverage.answers.values()):
        return
    yield ""
    examined = sum(answers.get(Answer.ACCEPTED, 0) for answers in coverage.answers.values()) - coverage.unexamined
    if coverage.unexamined:
        yield (
            f"{coverage.unexamined} of the accepted recordings: not examined for actions that they need and for "
            f"mutated models, as more than {MOST_EXAMINED:,} states fit at once"
        )
    if not examined:
        return
    yield "action, and the number of recordings that are no behaviour of a model without the action:"
    for name, row in sorted(coverage.needed.items()):
        groups = ", ".join(f"{client} with {brokers}: {count}" for (client, brokers), count in sorted(row.items()))
        yield f"  {name}: {sum(row.values())} ({groups})"
    needless = ", ".join(coverage.unexercised) or "all actions are needed by some recording"
    yield f"none of the {examined} recordings needs: {needless}"
    yield ""
    yield "mutated model, and the number of recordings that the mutated model rejects:"
    for name, row in sorted(coverage.rejected_by.items()):
        yield f"  {name}: {sum(row.values())}"
    yield f"mutated models that reject none of the {examined} recordings: {', '.join(coverage.unrejected) or 'none'}"


def _status(coverage: Coverage) -> int:
    from proofka.checker.conformance.tracker import Answer

    answers = {answer for row in coverage.answers.values() for answer in row}
    if Answer.REJECTED in answers:
        return EXIT_VIOLATED
    if not answers:
        return EXIT_BAD_INPUT
    return EXIT_UNDECIDED if answers - {Answer.ACCEPTED} else EXIT_HOLDS
