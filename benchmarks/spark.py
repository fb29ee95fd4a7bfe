"""Costs and gains of Spark: an audit on one core, on two, and without Spark; a space on two cores and on one thread.

Run ``python benchmarks/spark.py`` on a quiet machine with two cores or more (about forty minutes). The speed of a
shared machine changes within minutes, so the script compares only runs of the same minutes. Two contenders that need
one core each run in parallel on one core each, and exchange the cores from run to run. A run on one core that is
compared with runs on both cores is alone, between two such runs, and is compared with their mean. Each run has its own
processes, and memory is that of the largest process. The script rewrites its section of ``RESULTS.md``; with
``--quick`` it measures smaller spaces and prints the section.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from pathlib import Path

from engines import RESULTS, machine

HERE = Path(__file__).parent
PROOFKA = (sys.executable, "-m", "proofka")
BEGIN, END = "<!-- spark: begin -->", "<!-- spark: end -->"
LARGE = ("kip-320", "--log-size", "3", "--records", "3", "--epochs", "3")
SMALL = ("kip-320", "--log-size", "3", "--records", "3", "--epochs", "2")
CORES, DEARER, TIMES = 1.7, 1.15, 1.0
"""The goals: two cores over one, an audit over a plain loop (at most), a space on two cores over one."""
BETWEEN_LOOKS = 0.25
"""Seconds between two measurements of the memory of a run's processes."""


@dataclass(frozen=True)
class Ran:
    """One run: seconds from start to end, memory of the largest process in bytes, and the output."""

    seconds: float
    peak: int
    said: str
    complained: str


def cores() -> list[int]:
    """Return the two cores that the benchmark uses."""
    return sorted(os.sched_getaffinity(0))[:2]


def run(*command: str | Path, statuses: Sequence[int] = (0,), on: Sequence[int] | None = None) -> Ran:
    """Run a command to its end, and measure the memory of its processes; a failure ends the benchmark.

    All processes run ``on`` these cores; without this limit, Java and compilation would use another core as well.
    """
    started = time.perf_counter()
    pinned = ["taskset", "--cpu-list", ",".join(map(str, on or cores())), *map(str, command)]
    process = subprocess.Popen(pinned, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    peak = 0
    ended = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not ended.wait(BETWEEN_LOOKS):
            peak = max([peak, *(_memory(pid) for pid in _family(process.pid))])

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        said, complained = process.communicate()
    finally:
        ended.set()
        watching.join()
    if process.returncode not in statuses:
        sys.exit(f"{' '.join(map(str, command))} ended with {process.returncode}:\n{said}{complained}")
    return Ran(time.perf_counter() - started, peak, said, complained)


def _family(root: int) -> list[int]:
    """Return a process and all its descendants."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
            except OSError:
                continue
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
    family = [root]
    for one in family:
        family += parents.get(one, [])
    return family


def _memory(pid: int) -> int:
    """Return the peak memory of a process in bytes, with pages of mapped files; 0 after its end."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) * 1024 if found else 0


def audited(matrix: Path, on: Sequence[int]) -> Ran:
    """Run an audit without earlier results."""
    with tempfile.TemporaryDirectory() as folder:
        command = (*PROOFKA, "audit", matrix, "--out", Path(folder) / "out", "--master", f"local[{len(on)}]")
        return run(*command, "--no-figures", statuses=(0, 1, 3, 4), on=on)


def looped(matrix: Path, on: Sequence[int]) -> Ran:
    """Run the same explorations one after the other in one process on one core."""
    return run(sys.executable, __file__, "--plain", matrix, on=on)


def beside_each_other(matrix: Path, turn: int) -> tuple[Ran, Ran]:
    """Run an audit on one core and a plain loop on the other."""
    mine, others = cores()[turn % 2], cores()[1 - turn % 2]
    with ThreadPoolExecutor() as pool:
        audit, plain = pool.submit(audited, matrix, [mine]), pool.submit(looped, matrix, [others])
        return audit.result(), plain.result()


def plain_loop(matrix: Path) -> None:
    """Read, normalise, sign and explore as an audit does, without Spark; print the number of systems."""
    import pandas as pd

    from proofka.checker.spark.exploring import DEFAULT_LIMITS, explore, sign
    from proofka.checker.spark.folder import claimed
    from proofka.checker.spark.normalising import normalise
    from proofka.checker.spark.sources import MatrixSource, find_source

    source = find_source(matrix, {})
    assert isinstance(source, MatrixSource)
    rows = pd.DataFrame({"number": range(source.matrix.size), "place": str(matrix), "text": ""})
    (normalised,) = normalise(source, iter([rows]))
    questions = dict(zip(normalised["question"], normalised["document"], strict=True))
    with tempfile.TemporaryDirectory() as folder, claimed(Path(folder) / "out") as kept:
        for question, document in sorted(questions.items()):
            sign(question, document, kept)
        systems = {signature: questions[question] for question, signature in sorted(kept.signatures().items())}
        for signature, document in systems.items():
            explore(signature, document, kept, DEFAULT_LIMITS)
    print(f"{len(normalised)} deployments, {len(systems)} systems")


def explored(*options: str, protocol: Sequence[str]) -> Ran:
    """Explore a published protocol completely."""
    return run(*PROOFKA, "published", *protocol, "--json", *options)


def median(runs: Sequence[Ran], of: Callable[[Ran], float] = lambda ran: ran.seconds) -> float:
    """Return the median of a figure over some runs."""
    return statistics.median(map(of, runs))


def exploring(ran: Ran) -> float:
    """Return the seconds of exploration in a run, including the starts of workers."""
    return float(json.loads(ran.said)["seconds"])


def goal(what: str, met: bool, figure: str) -> str:
    """Return a row of the table of goals."""
    return f"| {what} | {'met' if met else 'not met'} | {figure} |"


def section(quick: bool, runs: int, distributed_runs: int) -> str:
    """Measure everything, and return the section of the results."""
    matrix, protocol = HERE / "audit.yaml", SMALL if quick else LARGE
    pairs = [beside_each_other(matrix, turn) for turn in range(runs)]
    beside, plain = [audit for audit, _ in pairs], [loop for _, loop in pairs]
    two, one = [audited(matrix, cores())], []
    for turn in range(runs):
        one.append(audited(matrix, [cores()[turn % 2]]))
        two.append(audited(matrix, cores()))
    memory, spark = [], []
    for _ in range(distributed_runs):
        memory.append(explored("--threads", "1", protocol=protocol))
        spark.append(explored("--engine", "spark", "--master", "local[2]", "--stats", protocol=protocol))
    documents = [json.loads(ran.said) for ran in (*memory, *spark)]
    if len({json.dumps([d["distinct"], d["transitions"], d["levels"], d["invariants"]]) for d in documents}) != 1:
        sys.exit("the engines did not find the same")
    states = documents[0]["distinct"]
    faster = statistics.median(
        alone.seconds / statistics.mean((before.seconds, after.seconds))
        for alone, (before, after) in zip(one, pairwise(two), strict=True)
    )
    dearer = statistics.median(audit.seconds / loop.seconds for audit, loop in pairs)
    times = median(memory, exploring) / median(spark, exploring)
    whole = median(memory) / median(spark)
    lines = [
        f"Measured on {date.today().isoformat()}: {machine()}; pyspark {version_of_spark()}. Medians of {runs} audits "
        f"on one core, each between two on both cores, of {runs} more beside a plain loop on the other core, and of "
        f"{distributed_runs} explorations, in turns.",
        "",
        "| goal | | measured |",
        "| --- | --- | --- |",
        goal("an audit on two cores at least 1.7 times as fast as on one", faster >= CORES, f"{faster:.2f}"),
        goal("an audit at most 15 % dearer than a plain loop", dearer <= DEARER, f"{(dearer - 1) * 100:+.1f} %"),
        goal(
            f"{states:,} states on `local[2]` at least as fast as on one embedded thread",
            times >= TIMES,
            f"{times:.2f} exploring, {whole:.2f} from start to end of the process",
        ),
        "",
        "| audit of benchmarks/audit.yaml | seconds | largest process MB |",
        "| --- | --- | --- |",
        row("two cores", two),
        row("one core, between them", one),
        row("one core, beside a plain loop", beside),
        row("a plain loop on the other core", plain),
        "",
        plain[0].said.strip() + ".",
        "",
        f"| {' '.join(protocol)} | whole process s | exploring s | largest process MB |",
        "| --- | --- | --- | --- |",
        row("embedded, one thread", memory, exploring),
        row("Spark, local[2]", spark, exploring),
        "",
        "The supersteps of one run:",
        "",
        "```",
        *(line.rstrip() for line in spark[0].complained.splitlines()),
        "```",
    ]
    return "\n".join(lines)


def row(name: str, runs: Sequence[Ran], *figures: Callable[[Ran], float]) -> str:
    """Return a row of a table: median, smallest and largest seconds, other figures, and the largest process."""
    seconds = sorted(ran.seconds for ran in runs)
    others = "".join(f" {median(runs, figure):.2f} |" for figure in figures)
    peak = max(ran.peak for ran in runs) / 1e6
    return f"| {name} | {median(runs):.1f} ({seconds[0]:.1f} to {seconds[-1]:.1f}) |{others} {peak:,.0f} |"


def version_of_spark() -> str:
    """Return the version of Spark's Python package."""
    from importlib.metadata import version

    return version("pyspark")


def main() -> None:
    """Measure, and write the section of the results of this script."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--runs", type=int, default=3, help="runs of each exploration")
    options.add_argument("--audits", type=int, default=3, help="runs of each audit")
    options.add_argument("--quick", action="store_true", help="one run on a smaller space, printed only")
    options.add_argument("--plain", type=Path, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.plain is not None:
        plain_loop(chosen.plain)
        return
    found = section(chosen.quick, 1 if chosen.quick else chosen.audits, 1 if chosen.quick else chosen.runs)
    if chosen.quick:
        print(found)
        return
    text = RESULTS.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    RESULTS.write_text(f"{before}{BEGIN}\n{found}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
