"""A Spark session for this interpreter, and one-line messages about problems with Java."""

from __future__ import annotations

import logging
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proofka.checker.interruption import handling
from proofka.checker.spark.class_archive import ClassArchive, class_archive
from proofka.model.input.input_error import InputError

if TYPE_CHECKING:
    from pyspark import SparkConf
    from pyspark.sql import SparkSession

PARTS_ON_ONE_MACHINE = 8
"""Number of parts of a table on one machine. Spark's default of 200 suits a cluster, and costs more here than all joins
of an audit."""

MASTERS = r"(local|local\[(\*|[1-9]\d*)(,\s*[1-9]\d*)?\]|yarn|(spark|k8s|mesos)://.+)$"
"""Pattern of the masters that Spark accepts."""
LITTLE_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options for a Java that does little work, because the work is done in Python: half of Java's time for an audit would
go into optimising its own code."""

TASK_ATTEMPTS = 3
"""Number of attempts of a task whose Python process dies. Spark's own setting has no effect on one machine."""

OLDEST_JAVA = 17
"""The oldest Java on which Spark 4 runs."""

SETTINGS: Mapping[str, str] = {
    "spark.app.name": "proofka",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.adaptive.enabled": "true",
    # Generating code for a query takes longer than an audit's small queries save.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    # If this setting differs between Spark's two ways to call Python, each way starts Python processes of its own.
    "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": "false",
    "spark.hadoop.parquet.page.verify-checksum.enabled": "true",
}


NOT_INSTALLED = 'Spark is not installed: pip install "proofka[spark]"'


class NoSpark(InputError):
    """Spark cannot run here; the message names what to install."""


class SparkFailed(Exception):
    """Spark failed; the message is the line of Spark's output that gives the reason."""


@contextmanager
def spark_errors() -> Iterator[None]:
    """Turn Spark's exceptions within the block into :class:`SparkFailed`."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise SparkFailed(one_line(_said_by(error))) from error
    except ConnectionError as error:
        raise SparkFailed("its Java process has ended") from error


def _said_by(error: Exception) -> str:
    """Return an error's text, or a substitute if the Java process behind the error is gone."""
    try:
        return str(error)
    except Exception:
        return "it ended while it was asked"


def one_line(said: str) -> str:
    """Return the most telling line of a Spark error: the last line of a Python traceback, or the first line
    otherwise.
    """
    lines = [line.strip() for line in said.splitlines() if line.strip()] or ["it does not say why"]
    raised = [line for line in lines if re.match(r"[A-Za-z_][\w.]*: ", line) and not line.startswith("Caused by")]
    return raised[-1] if "Traceback (most recent call last):" in lines and raised else lines[0]


@contextmanager
def spark_session(
    master: str | None = None, *, verbose: bool = False, java_options: str = LITTLE_JAVA
) -> Iterator[SparkSession]:
    """Yield a session on ``master`` (default: every core of this machine), and stop it at the end.

    Executors run this interpreter. Without ``verbose`` Spark prints nothing. ``java_options`` are for the Java of a
    session on this machine; a cluster has its own. Raise :class:`NoSpark`.
    """
    try:
        from py4j.protocol import Py4JError
        from pyspark import SparkConf, SparkContext
        from pyspark.sql import SparkSession
    except ImportError:
        raise NoSpark(NOT_INSTALLED) from None
    java = check_java()
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    # Workers must import this checkout or installation, not another one.
    root = str(Path(__file__).parents[3])
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    if master is not None and not re.match(MASTERS, master):
        raise NoSpark(f"--master {master}: is no Spark master, such as local[2], spark://host:7077 or yarn")
    conf = SparkConf().setAll(list(SETTINGS.items())).setMaster(_patient(master or "local[*]"))
    archive = None
    if conf.get("spark.master", "").startswith("local"):
        archive = class_archive(java)
        conf.set("spark.driver.extraJavaOptions", java_options)
        conf.set("spark.sql.shuffle.partitions", str(PARTS_ON_ONE_MACHINE))
    with (
        _hushed(verbose=verbose),
        _gateway(conf, archive, verbose=verbose) as gateway,
        # Spark replaces the interrupt handler permanently.
        handling(signal.getsignal(signal.SIGINT)),
    ):
        try:
            with spark_errors():
                context = SparkContext(gateway=gateway, conf=conf)
                session = SparkSession(context)
        except SparkFailed as error:
            whom = f"--master {master}" if master is not None else "Spark"
            raise NoSpark(f"{whom}: cannot start a session: {error}") from None
        try:
            if not verbose:
                context.setLogLevel("OFF")
                accumulators: Any = context._accumulatorServer
                accumulators.handle_error = lambda *_: None  # the default prints a traceback after the end of Java
            yield session
        finally:
            with suppress(ConnectionError, Py4JError):  # Java may have ended before
                context.stop()


@contextmanager
def _hushed(*, verbose: bool) -> Iterator[None]:
    """Silence the log messages of Spark's client that have no handler, such as a traceback after the end of Java."""
    root, silence = logging.getLogger(), logging.NullHandler()
    hushes = not verbose and not root.handlers
    if hushes:
        root.addHandler(silence)
    try:
        yield
    finally:
        if hushes:
            root.removeHandler(silence)


@contextmanager
def _gateway(conf: SparkConf, archive: ClassArchive | None, *, verbose: bool) -> Iterator[Any]:
    """Yield Java's gateway until the end of the block; Java then writes an archive of its classes if none exists."""
    from py4j.protocol import Py4JError
    from pyspark import SparkContext

    with Path(os.devnull).open("w") as nowhere:
        gateway = _launched(conf, None if verbose else {"stderr": nowhere, "stdout": nowhere}, archive)
    try:
        yield gateway
    finally:
        with suppress(ConnectionError, Py4JError):
            gateway.shutdown()
        SparkContext._gateway = SparkContext._jvm = None
        gateway.proc.stdin.close()  # ends Java
        if archive is not None:
            archive.keep(gateway.proc)


def _launched(conf: SparkConf, silent: Mapping[str, Any] | None, archive: ClassArchive | None) -> Any:
    """Start Java, with the archive of its classes if Java accepts one."""
    from pyspark.errors import PySparkRuntimeError
    from pyspark.java_gateway import launch_gateway

    if archive is not None:
        options = conf.get("spark.driver.extraJavaOptions")
        conf.set("spark.driver.extraJavaOptions", f"{options} {archive.java_option()}")
        try:
            with _none_left_behind():
                return launch_gateway(conf, silent)  # type: ignore[no-untyped-call]
        except PySparkRuntimeError:
            archive.forget()
            conf.set("spark.driver.extraJavaOptions", options or "")
    with _none_left_behind():
        return launch_gateway(conf, silent)  # type: ignore[no-untyped-call]


@contextmanager
def _none_left_behind() -> Iterator[None]:
    """End a Java that begins within the block if the block ends early, for example by an interrupt.

    Otherwise Java would stay: it finds no folder in which to write its port, and keeps listening, even after its
    standard input ends.
    """
    from pyspark import java_gateway

    client: Any = java_gateway
    begun: list[subprocess.Popen[bytes]] = []
    as_ever = client.Popen

    def begin(*words: Any, **how: Any) -> subprocess.Popen[bytes]:
        begun.append(as_ever(*words, **how))
        return begun[-1]

    client.Popen = begin
    try:
        yield
    except BaseException:
        for java in begun:
            java.kill()
            java.wait()
        raise
    finally:
        client.Popen = as_ever


def _patient(master: str) -> str:
    """Return a master on this machine that repeats failed tasks, as a cluster does."""
    local = re.fullmatch(r"local(?:\[(\d+|\*)\])?", master)
    return f"local[{local[1] or 1},{TASK_ATTEMPTS}]" if local else master


def check_java() -> Path:
    """Return the Java that Spark finds. Raise :class:`NoSpark` if Spark would find no suitable Java."""
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
    return Path(java)


def java_version(java: str) -> int | None:
    """Return the feature release of a Java, 8 for 1.8; None if unknown."""
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False).stderr
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = re.search(r'version "(?:1\.)?(\d+)', said)
    return int(version[1]) if version else None
