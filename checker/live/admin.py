"""Requests to a live cluster, through the admin client of kafka-python; nothing is changed in the cluster.

kafka-python reads all that a check needs: the levels of features, reassignments that are under way, and the settings
of each broker with their sources (docs/decisions/2026-11-28-admin-client-of-live-clusters.md). Its public methods drop
the errors of single resources, so the requests themselves are sent here.
"""

from __future__ import annotations

import logging
import signal
import socket
import ssl
import threading
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, Protocol

from proofka.checker.live.command_config import Connection
from proofka.checker.live.errors import NoAnswer, NoRights, NotAdmitted, NotInstalled
from proofka.checker.live.facts import Feature, Features, Partition, Synonym, Value, value_of

INSTALL = 'pip install "proofka[live]"'

TOPIC, BROKER, GROUP = 2, 4, 32
"""The kinds of resources that have settings, as the protocol numbers them."""

_SOURCES = {
    1: "DYNAMIC_TOPIC_CONFIG",
    2: "DYNAMIC_BROKER_CONFIG",
    3: "DYNAMIC_DEFAULT_BROKER_CONFIG",
    4: "STATIC_BROKER_CONFIG",
    5: "DEFAULT_CONFIG",
    8: "DYNAMIC_GROUP_CONFIG",
}
_NO_EPOCH = -1
FIRST_ATTEMPT = 2.0
"""Seconds after which the first attempt to connect ends; each later one takes twice as long."""
_TLS = (
    "TLS fails; check security.protocol, ssl.truststore.* and, if the brokers ask for it, ssl.keystore.* in "
    "--command-config, and that the port is one with TLS"
)


@dataclass(frozen=True)
class Node:
    """A broker that the cluster lists: its number, its address, its rack."""

    number: int
    address: str
    rack: str | None


@dataclass(frozen=True)
class Refusal:
    """The error of one resource: its name in the protocol, such as ``TOPIC_AUTHORIZATION_FAILED``."""

    error: str

    @property
    def is_of_rights(self) -> bool:
        """Tell whether the user lacks a right."""
        return self.error.endswith("AUTHORIZATION_FAILED")


@dataclass(frozen=True)
class Listed:
    """A topic that the cluster lists, with its identity if the cluster has identities."""

    name: str
    identity: str | None
    partitions: tuple[Partition, ...]


@dataclass(frozen=True)
class Coordinated:
    """A group as its coordinator reports it."""

    protocol: str
    state: str
    assignor: str


class Admin(Protocol):
    """The questions that a reading asks. Each method can raise NoAnswer, NotAdmitted and NoRights."""

    def nodes(self) -> tuple[str, tuple[Node, ...]]:
        """Return the id of the cluster, and its brokers that are up."""

    def features(self, broker: int) -> Features:
        """Return the features as a broker reports them."""

    def broker_settings(self, broker: int) -> tuple[Value, ...] | Refusal:
        """Return every setting of a broker, asked of this broker."""

    def topics(self, names: Sequence[str] | None) -> Mapping[str, Listed | Refusal]:
        """Return these topics, or every topic that the user may see."""

    def settings(self, kind: int, names: Sequence[str]) -> Mapping[str, tuple[Value, ...] | Refusal]:
        """Return every setting of topics or groups."""

    def moving(self) -> Mapping[tuple[str, int], tuple[tuple[int, ...], tuple[int, ...]]]:
        """Return the partitions that are being reassigned, with the replicas that are added and removed."""

    def group(self, name: str, brokers: Iterable[int]) -> Coordinated | Refusal:
        """Return a group."""

    def topics_of_group(self, name: str) -> tuple[str, ...] | Refusal:
        """Return the topics for which a group has committed offsets."""


@contextmanager
def connected(to: Connection) -> Iterator[Admin]:
    """Connect to a cluster, and close the connection at the end. Raises LiveError."""
    if find_spec("kafka") is None:
        raise NotInstalled(f"reading a live cluster needs kafka-python: {INSTALL}")
    with _broken_pipes_as_errors(), _quiet() as log:
        _check_reachable(to)
        client = _client(to, log)
        try:
            yield KafkaPython(client, to)
        finally:
            client.close()


@contextmanager
def _broken_pipes_as_errors() -> Iterator[None]:
    """Let a broken connection be an error, also in a program that a broken pipe would end."""
    if not hasattr(signal, "SIGPIPE") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGPIPE, before)


@contextmanager
def _quiet() -> Iterator[_LastError]:
    """Keep the messages of the library from standard error, and the last error for a message of ours."""
    log = _LastError()
    logger = logging.getLogger("kafka")
    before = logger.propagate, logger.level
    logger.addHandler(log)
    # Lower levels of this logger contain the configuration with its passwords.
    logger.propagate = False
    logger.setLevel(logging.WARNING)
    try:
        yield log
    finally:
        logger.removeHandler(log)
        logger.propagate, level = before
        logger.setLevel(level)


class _LastError(logging.Handler):
    """Keeps the last error that the library logs, which is the reason of a failed connection."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.last: Exception | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the error in a record, unless the error is that of the whole connection."""
        arguments = record.args if isinstance(record.args, tuple) else ()
        for one in arguments:
            if isinstance(one, Exception) and type(one).__name__ != "KafkaTimeoutError":
                self.last = one


def _check_reachable(to: Connection) -> None:
    """Raise NoAnswer or NotAdmitted unless one of the addresses takes a connection, with TLS if that is asked for."""
    failed: list[tuple[str, Exception]] = []
    for address in to.bootstrap:
        host, _, port = address.rpartition(":")
        try:
            with socket.create_connection((host.strip("[]"), int(port)), timeout=to.seconds) as plain:
                if to.tls is not None:
                    with to.tls.wrap_socket(plain, server_hostname=host.strip("[]")):
                        pass
            return
        except OSError as error:  # SSLError and gaierror are among them
            failed.append((address, error))
    told = "; ".join(f"{address}: {_reason(error)}" for address, error in failed)
    if any(isinstance(error, ssl.SSLError) for _, error in failed):
        raise NotAdmitted(f"{told}: {_TLS}")
    raise NoAnswer(f"{told}: the cluster is not reached; check --bootstrap, and that a broker listens there")


def _reason(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the certificate is not trusted: {error.verify_message}"
    if isinstance(error, ssl.SSLError) and error.reason:
        return error.reason.replace("_", " ").lower()
    if isinstance(error, TimeoutError):
        return "no answer in time"
    reason = error.strerror if isinstance(error, OSError) else None
    return (reason or str(error) or type(error).__name__).strip().rstrip(".")


def _client(to: Connection, log: _LastError) -> Any:
    """Return a connected client of kafka-python. Raises NoAnswer, NotAdmitted.

    The library repeats a refused login until the time is over, so the first attempts are short.
    """
    from kafka import KafkaAdminClient, errors

    login = {} if to.login is None else {"sasl_plain_username": to.login.user, "sasl_plain_password": to.login.password}
    until, waits = time.monotonic() + to.seconds, FIRST_ATTEMPT
    with _told(to, log):
        while True:
            left = until - time.monotonic()
            try:
                return KafkaAdminClient(
                    bootstrap_servers=list(to.bootstrap),
                    client_id=to.client,
                    client_dns_lookup=to.lookup,
                    security_protocol=to.protocol,
                    ssl_context=to.tls,
                    sasl_mechanism=to.mechanism,
                    request_timeout_ms=int(to.seconds * 1000),
                    bootstrap_timeout_ms=int(min(waits, max(left, 0.1)) * 1000),
                    reconnect_backoff_ms=500,
                    **login,
                )
            except errors.KafkaTimeoutError:
                if log.last is not None and _is_refused(log.last):
                    raise log.last from None
                if left <= waits:
                    raise
                waits *= 2


def _is_refused(error: Exception) -> bool:
    """Tell whether the login fails, or TLS, or whether the broker ends the connection, which the library tells in
    words only."""
    from kafka import errors

    refused = (errors.SaslAuthenticationFailedError, errors.UnsupportedSaslMechanismError)
    return isinstance(error, refused) or _is_of_tls(error) or _is_ended(error)


def _is_ended(error: Exception) -> bool:
    return "disconnected" in str(error)


def _is_of_tls(error: Exception) -> bool:
    return isinstance(error, ssl.SSLError) or "SSL" in str(error) or "CERTIFICATE" in str(error).upper()


@contextmanager
def _told(to: Connection, log: _LastError | None = None, broker: int | None = None) -> Iterator[None]:
    """Turn the errors of the library into errors that say what to do."""
    from kafka import errors

    where = to.place if broker is None else f"broker {broker} of {to.place}"
    try:
        yield
    except (errors.SaslAuthenticationFailedError, errors.UnsupportedSaslMechanismError) as error:
        what = "the cluster refuses the login"
        if isinstance(error, errors.UnsupportedSaslMechanismError):
            what = f"the listener has no {to.mechanism}"
        raise NotAdmitted(f"{where}: {what}; check sasl.mechanism and sasl.jaas.config in --command-config") from None
    except errors.AuthorizationError as error:
        raise NoRights(f"{where}: {rights_for(_name(error))}") from None
    except errors.IncompatibleBrokerVersion:
        raise NoAnswer(
            f"{where}: the brokers lack a request that this reading needs (Kafka 2.4 or later has all); dump the "
            "cluster with its own tools (docs/live.md)"
        ) from None
    except (errors.KafkaError, OSError, TimeoutError) as error:
        if _is_of_tls(error):
            raise NotAdmitted(f"{where}: {_reason(error)}; {_TLS}") from None
        if log is not None and _is_ended(error):
            wrong = (
                "sasl.mechanism and sasl.jaas.config are wrong" if to.login is not None else "the listener has another"
            )
            raise NotAdmitted(
                f"{where}: the broker ends the connection: security.protocol is {to.protocol}, and perhaps {wrong}; "
                "check --command-config and the port"
            ) from None
        last = _reason(log.last if log is not None and log.last is not None else error)
        hint = (
            "check security.protocol in --command-config, --timeout, and the brokers' addresses (advertised.listeners)"
        )
        raise NoAnswer(f"{where}: no answer within {to.seconds:g} s: {last}; {hint}") from None


def _name(error: Any) -> str:
    """Return the name of an error in the protocol, for an error or a class of the library."""
    return str(getattr(error, "message", "") or type(error).__name__)


def rights_for(error: str) -> str:
    """Return which right a user lacks, by the error of the protocol, and how to grant it."""
    operations, on = {
        "TOPIC_AUTHORIZATION_FAILED": ("Describe and DescribeConfigs on the topic", "--topic T"),
        "GROUP_AUTHORIZATION_FAILED": ("Describe on the group, and DescribeConfigs from Kafka 3.8 on", "--group G"),
    }.get(error, ("Describe and DescribeConfigs on the cluster", "--cluster"))
    grant = f"kafka-acls.sh --add --allow-principal User:NAME --operation Describe --operation DescribeConfigs {on}"
    return f"this user lacks a right, {operations}; grant it ({grant})"


@dataclass
class KafkaPython:
    """An :class:`Admin` by a connected ``KafkaAdminClient``."""

    client: Any
    to: Connection
    _waits: int = field(init=False)

    def __post_init__(self) -> None:
        self._waits = int(self.to.seconds * 1000)

    def nodes(self) -> tuple[str, tuple[Node, ...]]:
        """Return the id of the cluster, and its brokers that are up."""
        with _told(self.to):
            found = self.client.describe_cluster()
        up = [one for one in found["brokers"] if not one.get("is_fenced", False)]
        nodes = (Node(one["broker_id"], f"{one['host']}:{one['port']}", one.get("rack")) for one in up)
        return str(found.get("cluster_id") or ""), tuple(sorted(nodes, key=lambda node: node.number))

    def features(self, broker: int) -> Features:
        """Return the features as a broker reports them; brokers before 2.4 report none."""
        from kafka.protocol.metadata import ApiVersionsRequest

        request = ApiVersionsRequest(client_software_name="proofka", client_software_version="1", min_version=0)
        answer = self._ask(request, broker)
        levels = {one.name: one.max_version_level for one in getattr(answer, "finalized_features", None) or ()}
        supported = getattr(answer, "supported_features", None) or ()
        ones = (Feature(one.name, one.min_version, one.max_version, levels.get(one.name, 0)) for one in supported)
        epoch = getattr(answer, "finalized_features_epoch", _NO_EPOCH)
        found = tuple(sorted(ones, key=lambda one: one.name))
        return Features(found, None if epoch in (None, _NO_EPOCH) else int(epoch))

    def broker_settings(self, broker: int) -> tuple[Value, ...] | Refusal:
        """Return every setting of a broker, asked of this broker."""
        return self._settings(BROKER, [str(broker)], broker)[str(broker)]

    def topics(self, names: Sequence[str] | None) -> Mapping[str, Listed | Refusal]:
        """Return these topics, or every topic that the user may see."""
        with _told(self.to):
            found = self.client.describe_topics(None if names is None else list(names))
        return {topic["name"]: _listed(topic) for topic in found}

    def settings(self, kind: int, names: Sequence[str]) -> Mapping[str, tuple[Value, ...] | Refusal]:
        """Return every setting of topics or groups."""
        return self._settings(kind, names, None)

    def moving(self) -> Mapping[tuple[str, int], tuple[tuple[int, ...], tuple[int, ...]]]:
        """Return the partitions that are being reassigned, with the replicas that are added and removed."""
        with _told(self.to):
            found = self.client.list_partition_reassignments()
        return {
            (at.topic, at.partition): (tuple(one["adding_replicas"]), tuple(one["removing_replicas"]))
            for at, one in found.items()
        }

    def group(self, name: str, brokers: Iterable[int]) -> Coordinated | Refusal:
        """Return a group: its kind as its coordinator lists it, or that there is none (``GROUP_ID_NOT_FOUND``)."""
        with _told(self.to):
            described = self.client.describe_groups([name])[name]
        if described["error"] is not None and "uthoriz" in described["error"]:
            return Refusal("GROUP_AUTHORIZATION_FAILED")
        with _told(self.to):
            groups = self.client.list_groups(broker_ids=list(brokers))
        one = next((one for one in groups if one["group_id"] == name), None)
        if one is None:
            return Refusal("GROUP_ID_NOT_FOUND")
        kind = str(one.get("group_type") or "classic").lower()
        if kind == "classic" and one.get("protocol_type") not in ("consumer", "", None):
            kind = str(one["protocol_type"])
        state = str(one.get("group_state") or described.get("group_state") or "")
        return Coordinated(kind, state, str(described.get("protocol_data") or ""))

    def topics_of_group(self, name: str) -> tuple[str, ...] | Refusal:
        """Return the topics for which a group has committed offsets."""
        with _told(self.to):
            offsets = self.client.list_group_offsets({name: None})[name]
        return tuple(sorted({at.topic for at, one in offsets.items() if one.offset >= 0}))

    def _ask(self, request: Any, broker: int | None) -> Any:
        manager = self.client._manager

        async def asked() -> Any:
            return await manager.wait_for(manager.send(request, node_id=broker), self._waits)

        with _told(self.to, broker=broker):
            return manager.run(asked)

    def _settings(self, kind: int, names: Sequence[str], broker: int | None) -> dict[str, tuple[Value, ...] | Refusal]:
        from kafka.protocol.admin import DescribeConfigsRequest

        resources = [(kind, name, None) for name in names]
        request = DescribeConfigsRequest(resources=resources, include_synonyms=True, min_version=1)
        answer = self._ask(request, broker)
        return {
            one.resource_name: _refusal(one.error_code) if one.error_code else tuple(map(_value, one.configs))
            for one in answer.results
        }


def _refusal(code: int) -> Refusal:
    from kafka import errors

    return Refusal(str(errors.for_code(code).message))


def _value(config: Any) -> Value:
    synonyms = (
        Synonym(_SOURCES.get(one.source, f"UNKNOWN_{one.source}"), one.name, one.value) for one in config.synonyms or ()
    )
    source = _SOURCES.get(config.config_source, f"UNKNOWN_{config.config_source}")
    return value_of(config.name, config.value, source, tuple(synonyms), sensitive=bool(config.is_sensitive))


def _listed(topic: Mapping[str, Any]) -> Listed | Refusal:
    if topic["error_code"]:
        return _refusal(topic["error_code"])
    identity = topic.get("topic_id")
    known = identity is not None and uuid.UUID(str(identity)).int != 0
    partitions = (
        Partition(
            one["partition_index"],
            one["leader_id"] if one["leader_id"] >= 0 else None,
            tuple(one["replica_nodes"]),
            tuple(one["isr_nodes"]),
        )
        for one in topic["partitions"]
    )
    ordered = tuple(sorted(partitions, key=lambda one: one.number))
    return Listed(topic["name"], str(identity) if known else None, ordered)
