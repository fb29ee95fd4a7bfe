"""Costs of certificates: the seconds to explore, to write and to check, and the bytes of a state.

    python benchmarks/certificates.py --certcheck PATH [--plain STATES] [EXAMPLE:FAULTS...]

``--certcheck PATH``: the built Rust checker. ``--plain STATES``: the checker in Python checks each certificate with at
most STATES states as well, 200,000 states in a minute. Without examples: all of them, with one fault.

All seconds are those of the processor, of all threads together, so that other programs change them less.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from proofka.checker.budget import Budget
from proofka.checker.certificates.checkers import PLAIN
from proofka.checker.certificates.writing import write_certificate
from proofka.checker.check import explore
from proofka.checker.engine import EmbeddedEngine
from proofka.model.deployment import read_deployment

EXAMPLES = Path(__file__).parent.parent / "examples"


def main() -> None:
    """Print a row for each example."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--certcheck", type=Path, required=True)
    parser.add_argument("--plain", type=int, default=0, metavar="STATES")
    parser.add_argument("asked", nargs="*", metavar="EXAMPLE:FAULTS")
    options = parser.parse_args()
    print("| example | faults | claims | states | bytes a state | explore s | write s | certcheck s | certcheck.py s |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        for asked in options.asked or [f"{one.stem}:1" for one in sorted(EXAMPLES.glob("*.yaml"))]:
            print(_row(asked, Path(folder) / "a.cert", options.certcheck, most_plain=options.plain), flush=True)


def _row(asked: str, file: Path, certcheck: Path, *, most_plain: int) -> str:
    name, _, faults = asked.partition(":")
    deployment = read_deployment(EXAMPLES / f"{name}.yaml")
    deployment = replace(deployment, faults=deployment.faults.up_to(int(faults)))
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
    figures = f"{explored:.1f} | {wrote:.1f} | {fast:.2f} | {'' if slow is None else f'{slow:.0f}'}"
    return f"| {name} | {faults} | {claims} | {written.states:,} | {size} | {figures} |"


def _processor_seconds(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, check=True, capture_output=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


if __name__ == "__main__":
    main()
