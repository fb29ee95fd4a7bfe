"""Time of a check in a pull request: `python benchmarks/changes.py [RUNS]`.

A git repository is generated with 40 pipelines that all differ: 28 deployments and 12 folders of .properties files. Two
are changed (acks=all becomes acks=1 in a deployment, and in the producer's file of a folder), and the command
`proofka check --changed-since main` runs on them with a budget of any one fault, with an empty cache and with the cache
of the run before.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import product
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = """\
pipelines: ["deploy/*.yaml", "services/*/"]
kafka: "4.0"
assume: {replicas: 3}
budget: every-fault
budgets: {every-fault: {total: 1}}
"""
DEPLOYMENT = """\
kafka: "4.{minor}"
topic: {{replicas: 3, settings: {{min.insync.replicas: 2}}}}
producer:
  settings: {{acks: all, enable.idempotence: {idempotence}}}
  on_restart: {restart}
consumer:
  settings: {{group.id: g{minor}, enable.auto.commit: false}}
  commit: {commit}
"""


def repository(folder: Path) -> None:
    """Generate the repository on the branch main, and the two changes on the branch change."""
    (folder / "deploy").mkdir(parents=True)
    choices = product(range(4), ("true", "false"), ("forget", "resend"), ("before", "after"))
    for number, (minor, idempotence, restart, commit) in enumerate(list(choices)[:28]):
        text = DEPLOYMENT.format(minor=minor, idempotence=idempotence, restart=restart, commit=commit)
        (folder / "deploy" / f"pipeline-{number:02}.yaml").write_text(text, encoding="utf-8")
    for number in range(12):
        client = folder / "services" / f"service-{number:02}"
        client.mkdir(parents=True)
        producer = f"bootstrap.servers=b:9092\nacks=all\nretries={number + 1}\nenable.idempotence=false\n"
        (client / "producer.properties").write_text(producer, encoding="utf-8")
        consumer = "bootstrap.servers=b:9092\ngroup.id=g\nenable.auto.commit=true\n"
        (client / "consumer.properties").write_text(consumer, encoding="utf-8")
        (client / "topic.properties").write_text("min.insync.replicas=2\n", encoding="utf-8")
    (folder / "proofka.yaml").write_text(PROJECT, encoding="utf-8")
    _git(folder, "init", "--quiet", "--initial-branch=main")
    _commit(folder)
    _git(folder, "checkout", "--quiet", "-b", "change")
    for file in ("deploy/pipeline-05.yaml", "services/service-03/producer.properties"):
        path = folder / file
        text = path.read_text(encoding="utf-8").replace("acks: all", "acks: 1").replace("acks=all", "acks=1")
        path.write_text(text, encoding="utf-8")
    _commit(folder)


def _commit(folder: Path) -> None:
    _git(folder, "add", "--all")
    _git(folder, "commit", "--quiet", "-m", "pipelines")


def _git(folder: Path, *arguments: str) -> None:
    who = {f"GIT_{role}_{what}": "b@b" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    subprocess.run(["git", *arguments], cwd=folder, check=True, env={**os.environ, **who})


def measure(folder: Path, cache: Path) -> tuple[float, float, int, str]:
    """Run the command; return its seconds of the clock and the processor, its status and what it says of changes."""
    environment = {**os.environ, "PROOFKA_CACHE": str(cache), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "proofka", "check", "--changed-since", "main", "--report", str(cache / "r.sarif")]
    began, used = time.monotonic(), _processor()
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    seconds, of_processor = time.monotonic() - began, _processor() - used
    said = " ".join(run.stdout.split())
    start = said.find("2 of 40 pipelines")
    return seconds, of_processor, run.returncode, said[start : start + 90] if start >= 0 else run.stderr[-300:]


def _processor() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main(runs: int) -> None:
    """Print a row for each run."""
    print("| run | cache | clock s | processor s | status | said |")
    print("|---|---|--:|--:|--:|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "repository"
        repository(folder)
        for number in range(1, runs + 1):
            cache = Path(name) / "cache"
            shutil.rmtree(cache, ignore_errors=True)
            cache.mkdir()
            for state in ("empty", "kept"):
                seconds, processor, status, said = measure(folder, cache)
                print(f"| {number} | {state} | {seconds:.1f} | {processor:.1f} | {status} | {said} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
