"""Explorations and runs of the command line that keep snapshots, and what is read of them afterwards."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from proofka.checker.budget import Budget, Meter
from proofka.checker.checkpoint import MANIFEST, Checkpoint
from proofka.checker.embedded import EmbeddedExploration
from proofka.checker.exploration import Exploration, Question
from proofka.model.faults import Fault
from proofka.model.language import TransitionSystem
from tests.checker.test_cli import ROOT
from tests.checker.test_threads import MAZE_FAULTS, maze

Again = Callable[..., Exploration]
ONE_BY_ONE = pytest.mark.usefixtures("one_by_one")
AT_EVERY_LEVEL = ("--checkpoint-every", "1e-9")
"""Snapshots as often as there can be any, however fast the machine is."""
FIGURES = ("distinct", "transitions", "levels", "invariants", "stopped")
QUICK = ("published", "truncate-to-hw", "--replicas", "3", "--log-size", "2", "--epochs", "1", "--json")
DEPLOYMENT = """
kafka: "4.0"
topic: {replicas: 2, min.insync.replicas: 1}
producer: {acks: all, enable.idempotence: false, max.in.flight.requests.per.connection: 1}
consumer: {group.id: orders, auto.offset.reset: earliest, enable.auto.commit: false}
require: [no-acked-loss, replica-agreement]
assume: {faults: {total: 2, kill: 2, slow-follower: 2, lost-response: 2, power-loss: 1}}
bounds: {records: 1, log: 2, sends: 1}
"""
KILLING = """
import os, signal, sys
from proofka.checker import checkpoint, cli

signum, left = int(sys.argv.pop(1)), int(sys.argv.pop(1))
write = checkpoint.Checkpoint._write_manifest

def write_and_signal(self):
    global left
    write(self)
    left -= bool(self._saved)
    if left == 0:
        os.kill(os.getpid(), signum)

checkpoint.Checkpoint._write_manifest = write_and_signal
cli.main()
"""


def asked(
    folder: Path | None,
    system: TransitionSystem,
    question: Question,
    at_most: Mapping[Fault, int],
    total: int,
    *,
    budget: Budget | None = None,
    threads: int = 1,
    interval: float = 0,
) -> Exploration:
    """Explore up to ``total`` faults, with a snapshot wherever there may be one."""
    kept = None if folder is None else Checkpoint(folder, "the question", interval)
    meter = Meter(budget or Budget(), timed=False)
    found = EmbeddedExploration(system, question, at_most, meter, threads, checkpoint=kept)
    for _ in range(total + 1):
        if found.layers and found.layers[-1].stopped:
            break
        found.explore_layer()
    return found


def some_maze(seed: int, *, goal: bool = True, total: int = 2) -> Again:
    """Return a question that takes a thousand states without faults and five thousand with two, to be explored
    repeatedly."""
    system, question = maze(random.Random(seed), goal=goal)
    return lambda folder, **options: asked(folder, system, question, MAZE_FAULTS, total, **options)


def saved_states(folder: Path) -> int:
    """Return the number of states in the last whole snapshot."""
    shards = json.loads((folder / MANIFEST).read_text())["content"]["shards"]
    return sum(sum(sum(chunk) for chunk in shard["chunks"]) for shard in shards.values())


def signalled(signum: int, manifests: int, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the command line, and send it a signal after its first ``manifests`` snapshots."""
    command = [sys.executable, "-c", KILLING, str(int(signum)), str(manifests), *(str(part) for part in arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False, timeout=300)


def command(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    run = [sys.executable, "-m", "proofka", *(str(part) for part in arguments)]
    return subprocess.run(run, capture_output=True, text=True, cwd=ROOT, check=False, timeout=300)


def figures(printed: str) -> dict[str, Any]:
    found = json.loads(printed)
    return {name: found.get(name) for name in FIGURES}


def verdicts(file: Path) -> dict[str, Any]:
    """Return a result without what differs from run to run."""
    document: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    for name in ("seconds", "compile_seconds"):
        del document["engine"][name]
    del document["checksum"]
    return document
