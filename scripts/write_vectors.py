"""Write random bodies of messages with Kafka's own reading of them, for ``tests/checker/cluster/test_messages.py``.

    python scripts/write_vectors.py FOLDER-OF-JARS-4.4.0 FOLDER-OF-JARS-3.9.2

Give folders with the jars of a release (kafka-clients, jackson and slf4j-api) from new to old: an older release has the
versions that newer ones lack. The script needs a JDK.
"""

from __future__ import annotations

import csv
import io
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from proofka.checker.cluster.messages import fields_of
from scripts.write_messages import NAMES

PROGRAM = Path(__file__).parent / "vectors" / "MessageVectors.java"
VECTORS = Path(__file__).parent.parent / "tests" / "checker" / "cluster" / "messages.csv"
LAST_VERSION = 99
"""A version above those of all messages."""


def printed(classpath: str, names: Sequence[str]) -> list[list[str]]:
    """Return message, version, body and reading of every version that a release has of messages."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["javac", "-cp", classpath, "-d", folder, str(PROGRAM)], check=True)
        command = ["java", "-cp", f"{folder}:{classpath}", PROGRAM.stem, *names]
        run = subprocess.run(command, check=True, capture_output=True, text=True)
    return [line.split("\t") for line in run.stdout.splitlines()]


def text_of(classpaths: Sequence[str]) -> str:
    """Return the table of vectors from classpaths of releases, from new to old."""
    messages = sorted(name + side for name in NAMES for side in ("Request", "Response"))
    missing = {(name, version) for name in messages for version in range(LAST_VERSION) if fields_of(name, version)}
    found: dict[tuple[str, int], tuple[str, str]] = {}
    for classpath in classpaths:
        names = sorted({name for name, _ in missing})
        for name, version, body, reading in printed(classpath, names) if names else ():
            if (name, int(version)) in missing:
                found[name, int(version)] = body, reading
        missing -= set(found)
    if missing:
        raise SystemExit(f"no release has {sorted(missing)}")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("message", "version", "body", "kafka_reads"))
    writer.writerows((name, version, *found[name, version]) for name, version in sorted(found))
    return text.getvalue()


if __name__ == "__main__":
    VECTORS.write_text(text_of([f"{folder}/*" for folder in sys.argv[1:]]), encoding="utf-8")
