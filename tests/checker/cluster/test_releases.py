"""The jars of releases: a node starts from them, on this machine, and writes its log."""

from __future__ import annotations

import re
import socket
from pathlib import Path

import pytest

from proofka.checker.cluster.errors import JarsUnavailable, MissingProgram
from proofka.checker.cluster.jars import jars_of
from proofka.checker.cluster.java import compile_java, java_command, java_home
from proofka.checker.cluster.supervisor import Supervisor
from proofka.checker.cluster.waiting import until

pytestmark = pytest.mark.cluster

PATIENCE = 180.0
"""Seconds that a program of Java has on a loaded machine."""
RELEASES = ["3.3.2", "3.6.2", "3.9.2", "4.0.2", "4.1.2", "4.4.0"]

LOGGING = {
    "log4j": "log4j.rootLogger=INFO, out\nlog4j.appender.out=org.apache.log4j.ConsoleAppender\n"
    "log4j.appender.out.layout=org.apache.log4j.PatternLayout\nlog4j.appender.out.layout.ConversionPattern=%p %m%n\n",
    "log4j2": "appender.out.type=Console\nappender.out.name=out\nappender.out.layout.type=PatternLayout\n"
    "appender.out.layout.pattern=%p %m%n\nrootLogger.level=info\nrootLogger.appenderRef.out.ref=out\n",
}

COMPRESSES = """
public class Compresses {
    public static void main(String[] given) throws Exception {
        byte[] record = "record-1".getBytes("UTF-8");
        if (!"record-1".equals(org.xerial.snappy.Snappy.uncompressString(org.xerial.snappy.Snappy.compress(record))))
            System.exit(2);
        if (com.github.luben.zstd.Zstd.compress(record).length == 0)
            System.exit(3);
        if (net.jpountz.lz4.LZ4Factory.nativeInstance().fastCompressor().compress(record).length == 0)
            System.exit(4);
        System.out.println("ready");
        System.in.read();
    }
}
"""


def jars(release: str) -> tuple[Path, ...]:
    """Return the jars of a release; skip the test where there are none, or where Java is missing."""
    try:
        java_home()
        return jars_of(release)
    except (MissingProgram, JarsUnavailable) as missing:
        pytest.skip(f"NOT RUN: {missing}")


@pytest.mark.parametrize("release", RELEASES)
def test_a_node_starts_from_the_jars_of_a_release_and_writes_its_log(release: str) -> None:
    classpath = jars(release)
    with Supervisor() as supervisor:
        folder = supervisor.folder
        properties = folder / "node.properties"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        properties.write_text(
            f"process.roles=broker,controller\nnode.id=1\ncontroller.quorum.voters=1@127.0.0.1:{port}\n"
            f"listeners=BROKER://127.0.0.1:0,CONTROLLER://127.0.0.1:{port}\ncontroller.listener.names=CONTROLLER\n"
            "inter.broker.listener.name=BROKER\nadvertised.listeners=BROKER://127.0.0.1:9\n"
            f"listener.security.protocol.map=BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT\nlog.dirs={folder}/data\n",
            encoding="utf-8",
        )
        for name, content in LOGGING.items():
            (folder / f"{name}.properties").write_text(content, encoding="utf-8")
        logging = {
            "log4j.configuration": f"file:{folder}/log4j.properties",
            "log4j2.configurationFile": f"{folder}/log4j2.properties",
        }
        log = folder / "format.log"
        arguments = ("format", "-t", "AAAAAAAAAAAAAAAAAAAAAA", "-c", str(properties))
        command = java_command(classpath, "kafka.tools.StorageTool", *arguments, heap="128m", properties=logging)
        assert supervisor.start("format", command, log=log).wait(PATIENCE) == 0, log.read_text(encoding="utf-8")
        log = folder / "node.log"
        command = java_command(classpath, "kafka.Kafka", str(properties), properties=logging)
        node = supervisor.start("node", command, log=log)

        def is_up() -> bool:
            text = log.read_text(encoding="utf-8", errors="replace")
            assert node.is_alive, text[-3000:]
            return "INFO [KafkaRaftServer nodeId=1] Kafka Server started" in text

        until(is_up, what=f"Kafka {release}", seconds=PATIENCE)
        assert f"INFO Kafka version: {release}" in log.read_text(encoding="utf-8", errors="replace")


@pytest.mark.parametrize("release", [RELEASES[0], RELEASES[-1]])
def test_native_libraries_are_unpacked_into_the_folder_of_the_supervisor(release: str, tmp_path: Path) -> None:
    classpath = jars(release)
    source = tmp_path / "Compresses.java"
    source.write_text(COMPRESSES, encoding="utf-8")
    classes = compile_java(source, classpath, tmp_path / "classes")
    with Supervisor() as supervisor:
        log = supervisor.folder / "log"
        child = supervisor.start(
            "compresses", java_command([classes, *classpath], "Compresses"), log=log, stdin=True, stdout=True
        )
        assert child.stdout.readline() == b"ready\n", log.read_text(encoding="utf-8")
        mapped = Path(f"/proc/{child.pid}/maps").read_text(encoding="utf-8")
        unpacked = {Path(line.split()[5]) for line in mapped.splitlines() if re.search("snappy|zstd|lz4.*[.]so", line)}
        unpacked = {path for path in unpacked if path not in classpath}
        assert {path.name.split("-")[0] for path in unpacked} == {"snappy", "libzstd", "liblz4"}
        assert {path.parent for path in unpacked} == {supervisor.folder}
    assert not supervisor.folder.exists()
