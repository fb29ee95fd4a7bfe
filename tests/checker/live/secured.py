"""A throw-away cluster of three brokers with listeners of every protocol, an authorizer, and two users."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from proofka.checker.cluster import console
from proofka.checker.cluster.configuration import properties_text
from proofka.checker.cluster.jars import default_folder, jars_of, newest_patch, tools_of
from proofka.checker.cluster.java import java_command
from proofka.checker.cluster.node import Node, NodePorts
from proofka.checker.cluster.ports import Ports
from proofka.checker.cluster.prepared import copy_formatted, node_command, prepare
from proofka.checker.cluster.supervisor import Supervisor
from proofka.checker.cluster.waiting import until
from proofka.checker.cluster.wire import HOST

LISTENERS = {
    "PLAIN": "PLAINTEXT",
    "TLS": "SSL",
    "LOGIN": "SASL_PLAINTEXT",
    "BOTH": "SASL_SSL",
    "CONTROLLER": "PLAINTEXT",
}
USERS = {"reader": "reader-pass", "stranger": "stranger-pass"}
"""The users with their passwords: one may read everything, the other nothing."""
BROKERS = (1, 2, 3)
SECONDS = 120.0
_PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
_SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"


@dataclass
class Secured:
    """The cluster: the line of its release, its nodes, the ports of each listener by broker, and the certificate of its
    authority."""

    release: str
    nodes: dict[int, Node]
    ports: Mapping[str, Mapping[int, int]]
    authority: Path
    folder: Path
    clients: list[Any] = field(default_factory=list)

    def bootstrap(self, listener: str, brokers: tuple[int, ...] = BROKERS) -> str:
        """Return the addresses of a listener."""
        return ",".join(f"{HOST}:{self.ports[listener][broker]}" for broker in brokers)

    def client(self) -> Any:
        """Return an admin client that may do everything."""
        from kafka import KafkaAdminClient

        made = KafkaAdminClient(bootstrap_servers=self.bootstrap("PLAIN").split(","))
        self.clients.append(made)
        return made

    def tool(self, main: str, *words: str) -> str:
        """Return what a class of Kafka's tools prints."""
        release = newest_patch(self.release)
        classpath = (*tools_of(release), *jars_of(release))
        logging = Path(console.__file__).parent / "logging"
        properties = {
            "log4j.configuration": (logging / "tools-log4j.properties").as_uri(),
            "log4j2.configurationFile": (logging / "tools-log4j2.properties").as_uri(),
        }
        command = java_command(classpath, main, *words, properties=properties)
        return subprocess.run(command, cwd=self.folder, check=True, capture_output=True, text=True).stdout

    def command_config(self, listener: str, user: str = "reader", mechanism: str = "PLAIN", **more: str) -> Path:
        """Write a file of --command-config for a listener."""
        settings = {"security.protocol": LISTENERS[listener]}
        if "SSL" in LISTENERS[listener]:
            settings |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(self.authority)}
        if "SASL" in LISTENERS[listener]:
            module = _PLAIN if mechanism == "PLAIN" else _SCRAM
            password = USERS.get(user, "no-such-user")
            jaas = f'{module} required username="{user}" password="{password}";'
            settings |= {"sasl.mechanism": mechanism, "sasl.jaas.config": jaas}
        settings |= {key.replace("_", "."): value for key, value in more.items()}
        path = self.folder / f"command-{len(list(self.folder.glob('command-*')))}.properties"
        path.write_text(properties_text(settings), encoding="ascii")
        return path


@contextmanager
def secured(line: str, settings: Mapping[str, str] | None = None) -> Iterator[Secured]:
    """Start a cluster of the newest patch of a release line, and end it."""
    ports = Ports()
    with Supervisor() as supervisor:
        classpath = jars_of(newest_patch(line))
        prepared = prepare(classpath, features={}, cache=default_folder().parent / "nodes", supervisor=supervisor)
        taken = {name: {broker: ports.take() for broker in BROKERS} for name in LISTENERS}
        authority, key = certificates(supervisor.folder)
        nodes = {}
        for number in BROKERS:
            folder = supervisor.folder / f"broker-{number}"
            folder.mkdir()
            path = folder / "server.properties"
            given = {**_settings(number, folder, taken, key), **(settings or {})}
            path.write_text(properties_text(given), encoding="ascii")
            command = node_command(classpath, path, options=(f"-XX:SharedArchiveFile={prepared.archive}",))
            own = NodePorts(client=None, replica=None, harness=None, controller=None)
            nodes[number] = Node(number, folder=folder, ports=own, command=command, supervisor=supervisor)
            copy_formatted(prepared, nodes[number].data, node=number, is_controller=number == 1)
        made = Secured(line, nodes, taken, authority, supervisor.folder)
        try:
            for node in nodes.values():
                node.start()
            for node in nodes.values():
                node.wait_started(seconds=SECONDS)
            until(lambda: len(_brokers(made)) == len(BROKERS), what="three brokers", seconds=SECONDS)
            _grant(made)
            yield made
        finally:
            for client in made.clients:
                client.close()
            for node in nodes.values():
                if node.is_up:
                    node.kill()
            ports.close()


def _brokers(made: Secured) -> list[Any]:
    client = made.client()
    found: list[Any] = client.describe_cluster()["brokers"]
    made.clients.remove(client)
    client.close()
    return found


def _settings(number: int, folder: Path, ports: Mapping[str, Mapping[int, int]], key: Path) -> dict[str, str]:
    names = [name for name in LISTENERS if name != "CONTROLLER" or number == 1]
    users = " ".join(f'user_{user}="{password}"' for user, password in USERS.items())
    return {
        "process.roles": "broker,controller" if number == 1 else "broker",
        "node.id": str(number),
        "broker.rack": f"rack-{number}",
        "log.dirs": str(folder / "data"),
        "listeners": ",".join(f"{name}://{HOST}:{ports[name][number]}" for name in names),
        "advertised.listeners": ",".join(
            f"{name}://{HOST}:{ports[name][number]}" for name in names if name != "CONTROLLER"
        ),
        "inter.broker.listener.name": "PLAIN",
        "listener.security.protocol.map": ",".join(f"{name}:{protocol}" for name, protocol in LISTENERS.items()),
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": f"1@{HOST}:{ports['CONTROLLER'][1]}",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
        **{
            f"listener.name.{name}.{mechanism}.sasl.jaas.config": f"{module} required {options};"
            for name in ("login", "both")
            for mechanism, module, options in (("plain", _PLAIN, users), ("scram-sha-512", _SCRAM, ""))
        },
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(key),
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
        "default.replication.factor": "3",
        "min.insync.replicas": "2",
        "offsets.topic.num.partitions": "1",
        "offsets.topic.replication.factor": "3",
        "broker.session.timeout.ms": "3000",
        "broker.heartbeat.interval.ms": "500",
        "group.initial.rebalance.delay.ms": "0",
        "log.cleaner.dedupe.buffer.size": "2097152",
        "log.index.size.max.bytes": "65536",
    }


def _grant(made: Secured) -> None:
    """Let the reader describe everything, and give both users a login by SCRAM."""
    from kafka.admin import (
        ACL,
        ACLOperation,
        ACLPermissionType,
        ResourcePattern,
        ResourceType,
        UserScramCredentialUpsertion,
    )

    client = made.client()
    client.alter_user_scram_credentials(
        [UserScramCredentialUpsertion(user, "SCRAM_SHA_512", password) for user, password in USERS.items()]
    )
    client.create_acls(
        [
            ACL("User:reader", "*", operation, ACLPermissionType.ALLOW, ResourcePattern(kind, name))
            for kind, name in (
                (ResourceType.TOPIC, "*"),
                (ResourceType.GROUP, "*"),
                (ResourceType.CLUSTER, "kafka-cluster"),
            )
            for operation in (ACLOperation.DESCRIBE, ACLOperation.DESCRIBE_CONFIGS)
        ]
    )


def certificates(folder: Path) -> tuple[Path, Path]:
    """Make an authority and a certificate of 127.0.0.1; return the authority's, and the file of key and certificate."""
    authority, key, request = folder / "authority.pem", folder / "key.pem", folder / "request.pem"
    names = folder / "names.txt"
    names.write_text(f"subjectAltName=IP:{HOST},DNS:localhost\n")
    new = ("openssl", "req", "-newkey", "rsa:2048", "-nodes")
    _run(*new, "-x509", "-subj", "/CN=authority", "-keyout", "authority.key", "-out", str(authority), cwd=folder)
    _run(*new, "-subj", f"/CN={HOST}", "-keyout", "server.key", "-out", str(request), cwd=folder)
    signed = ("-CA", str(authority), "-CAkey", "authority.key", "-CAcreateserial", "-extfile", str(names))
    _run("openssl", "x509", "-req", "-in", str(request), *signed, "-out", "server.pem", cwd=folder)
    key.write_text((folder / "server.key").read_text() + (folder / "server.pem").read_text())
    return authority, key


def _run(*command: str, cwd: Path) -> None:
    subprocess.run(command, cwd=cwd, check=True, capture_output=True)
