"""A Spark session for this interpreter, and what is wrong with the machine's Java in one line."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from checker.interruption import handling
from model.input_error import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OLDEST_JAVA = 17
"""The oldest Java that Spark 4 runs on."""

ATTEMPTS = 4
"""How often a task is tried: a process that dies takes its task with it, but not the job."""

SETTINGS: Mapping[str, str] = {
    "spark.app.name": "proofka",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.adaptive.enabled": "true",
}


NOT_INSTALLED = 'Spark is not installed: pip install "proofka[spark]"'


class NoSpark(InputError):
    """Spark cannot run here; the message says what to install."""


@contextmanager
def spark_session(master: str | None = None, *, verbose: bool = False) -> Iterator[SparkSession]:
    """A session on ``master`` (default: every core of this machine), stopped at the end.

    Executors run this interpreter. Without ``verbose`` Spark says nothing. Raises :class:`NoSpark`.
    """
    try:
        from pyspark import SparkConf, SparkContext
        from pyspark.java_gateway import launch_gateway
        from pyspark.sql import SparkSession
    except ImportError:
        raise NoSpark(NOT_INSTALLED) from None
    check_java()
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    # Workers find this very checkout or installation, not another one.
    root = str(Path(__file__).parents[2])
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    conf = SparkConf().setAll(list(SETTINGS.items())).setMaster(_with_attempts(master or "local[*]"))
    with Path(os.devnull).open("w") as nowhere:
        silent = None if verbose else {"stderr": nowhere, "stdout": nowhere}
        gateway = launch_gateway(conf, silent)  # type: ignore[no-untyped-call]
    with handling(signal.getsignal(signal.SIGINT)):  # Spark puts its own in the place of it, for good
        context = SparkContext(gateway=gateway, conf=conf)
        try:
            if not verbose:
                context.setLogLevel("OFF")
            yield SparkSession(context)
        finally:
            context.stop()
            gateway.shutdown()
            SparkContext._gateway = SparkContext._jvm = None


def _with_attempts(master: str) -> str:
    """A local master gives a task up at its first failure unless it is told otherwise; a cluster does not."""
    threads = {"local": "1"}.get(master) or (re.fullmatch(r"local\[(\*|\d+)\]", master) or ["", ""])[1]
    return f"local[{threads},{ATTEMPTS}]" if threads else master


def check_java() -> None:
    """Raise :class:`NoSpark` where Spark would not find a Java that it runs on."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    wanted = f"Spark needs Java {OLDEST_JAVA} or later"
    how = f"install it (Debian and Ubuntu: apt install openjdk-{OLDEST_JAVA}-jre-headless)"
    if java is None or not Path(java).exists():
        where = f"JAVA_HOME={home} holds none" if home else "there is none here"
        raise NoSpark(f"{wanted}, and {where}: {how}")
    found = java_version(java)
    if found is None or found < OLDEST_JAVA:
        has = "cannot be asked for its version" if found is None else f"is Java {found}"
        raise NoSpark(f"{wanted}, and {java} {has}: {how}, or set JAVA_HOME to a newer one")


def java_version(java: str) -> int | None:
    """The feature release of a Java, 8 for 1.8; None if it does not say."""
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False).stderr
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = re.search(r'version "(?:1\.)?(\d+)', said)
    return int(version[1]) if version else None
