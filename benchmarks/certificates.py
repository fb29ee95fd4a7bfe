"""Costs of certificates: the seconds to explore, to write and to check, and the bytes of a state.

    python benchmarks/certificates.py --certcheck PATH [--plain STATES] [--tlc STATES] [EXAMPLE:FAULTS...]

``--certcheck PATH``: the built Rust checker. ``--plain STATES``: the checker in Python checks each certificate with at
most STATES states as well, 200,000 states in a minute. ``--tlc STATES``: TLC explores the exported system of each such
example, with one worker; this is TLC's way to check a result again. FAULTS can be ``any``: any number of faults of the
kinds of the example. Without examples: all of them, with one fault.

All seconds are those of the processor, of all threads together, so that other programs change them less. TLC's seconds
are those of the clock, without the start of Java.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from other_engines import run_tlc

from proofka.checker.budget import Budget
from proofka.checker.certificates.checkers import PLAIN
from proofka.checker.certificates.writing import write_certificate
from proofka.checker.check import explore
from proofka.checker.engine import EmbeddedEngine
from proofka.checker.export.exported import export_deployment
from proofka.checker.export.writing import Format, write
from proofka.checker.source import narrowed
from proofka.model.deployment import Deployment, read_deployment

EXAMPLES = Path(__file__).parent.parent / "examples"


def main() -> None:
    """Print a row for each example."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--certcheck", type=Path, required=True)
    parser.add_argument("--plain", type=int, default=0, metavar="STATES")
    parser.add_argument("--tlc", type=int, default=0, metavar="STATES")
    parser.add_argument("asked", nargs="*", metavar="EXAMPLE:FAULTS")
    options = parser.parse_args()
    heads = ("example", "faults", "claims", "states", "bytes a state", "explore s", "write s", "certcheck s")
    print("| " + " | ".join([*heads, "certcheck.py s", "TLC s", "TLC's states"]) + " |")
    print("|---" + "|--:" * 10 + "|")
    with tempfile.TemporaryDirectory() as folder:
        for asked in options.asked or [f"{one.stem}:1" for one in sorted(EXAMPLES.glob("*.yaml"))]:
            row = _row(
                asked, Path(folder) / "a.cert", options.certcheck, most_plain=options.plain, most_tlc=options.tlc
            )
            print(row, flush=True)


def _row(asked: str, file: Path, certcheck: Path, *, most_plain: int, most_tlc: int) -> str:
    name, _, faults = asked.partition(":")
    deployment = narrowed(read_deployment(EXAMPLES / f"{name}.yaml"), faults, None)
    began = time.process_time()
    run = explore(deployment, Budget(), engine=EmbeddedEngine(keeps_steps=True))
    run.verdicts()
    explored = time.process_time() - began
    began = time.process_time()
    written = write_certificate(run, file, tool="a benchmark")
    wrote = time.process_time() - began
    fast = _processor_seconds([str(certcheck), str(file), "--threads", "1"])
    plain = [sys.executable, str(PLAIN[0]), str(file)]
    slow = _processor_seconds(plain) if written.states <= most_plain else None
    claims = f"{len(written.certified)} of {len(written.certified) + len(written.left_out)}"
    size = f"{file.stat().st_size / written.states:.2f}"
    is_for_tlc = faults.isdigit() and written.states <= most_tlc
    tlc = _by_tlc(deployment, int(faults)) if is_for_tlc else " | "
    figures = f"{explored:.1f} | {wrote:.1f} | {fast:.2f} | {'' if slow is None else f'{slow:.0f}'} | {tlc}"
    return f"| {name} | {faults} | {claims} | {written.states:,} | {size} | {figures} |"


def _by_tlc(deployment: Deployment, faults: int) -> str:
    """Return the seconds and the states of TLC on the exported system, in which a state counts its faults."""
    with tempfile.TemporaryDirectory() as folder:
        write(export_deployment(deployment, total=faults), Format.TLA, Path(folder))
        measured = run_tlc(Path(folder))
    return f"{measured.run:.1f} | {measured.states:,}"


def _processor_seconds(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, check=True, capture_output=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


if __name__ == "__main__":
    main()
