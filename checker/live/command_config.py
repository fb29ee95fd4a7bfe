"""The file of ``--command-config``, with the properties that Kafka's own tools take (``command_config.csv``).

A property that this client cannot honour is refused with a message that says what to do; none is passed over if it is
about security. Values are never shown, because each of them can be a secret.
"""

from __future__ import annotations

import csv
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from pathlib import Path

from proofka.checker.live.errors import WrongConfig
from proofka.checker.live.jaas import Login, login_of
from proofka.checker.live.tls import context_of
from proofka.model.deployment.given import Given, Settings
from proofka.model.deployment.hiding import printable, shown_key
from proofka.model.deployment.properties_reader import read_settings

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
LOOKUPS = ("use_all_dns_ips", "resolve_canonical_bootstrap_servers_only")
CLIENT = "proofka"
"""The client id unless the file names one."""
SECONDS = 10.0
"""The time to wait for each answer, unless an option or the file says it."""
OWN_TOOLS = "or dump the cluster with Kafka's own tools, and check the folder with their output (docs/live.md)"
"""The way that is always left: Kafka's tools take every property."""

_GUARDED = ("ssl.", "sasl.", "security.", "config.")
"""Prefixes of the properties that are not passed over if they are unknown: a misspelt one changes who is trusted."""
_HOST = re.compile(r"(?P<host>\[[0-9A-Fa-f:.%\w]+\]|[A-Za-z0-9._-]+):(?P<port>\d{1,5})", re.ASCII)


@dataclass(frozen=True)
class Connection:
    """The way to a cluster: addresses, protocol, TLS and login, and the seconds to wait for each answer."""

    bootstrap: tuple[str, ...]
    protocol: str = "PLAINTEXT"
    mechanism: str | None = None
    login: Login | None = field(default=None, repr=False)
    tls: ssl.SSLContext | None = field(default=None, repr=False)
    client: str = CLIENT
    lookup: str = LOOKUPS[0]
    seconds: float = SECONDS

    @property
    def place(self) -> str:
        """The first address, which names the cluster in messages."""
        return self.bootstrap[0]


def connection(bootstrap: str, file: Path | None = None, seconds: float | None = None) -> Connection:
    """Return the way to the cluster at ``HOST:PORT[,HOST:PORT]...`` with the properties of a file.

    Raises WrongConfig, and DeploymentError for a file that is no property file.
    """
    addresses = addresses_of(bootstrap)
    settings = {} if file is None else read_settings(file)
    for given in settings.values():
        _check(given)
    protocol = _one_of(settings, "security.protocol", PROTOCOLS, PROTOCOLS[0], fold=True)
    mechanism = _mechanism(settings, file) if protocol.startswith("SASL") else None
    waits = settings.get("request.timeout.ms")
    return Connection(
        addresses,
        protocol,
        mechanism,
        None if mechanism is None else _login(settings, mechanism, file),
        context_of(settings) if protocol.endswith("SSL") else None,
        settings["client.id"].value if "client.id" in settings else CLIENT,
        _one_of(settings, "client.dns.lookup", (*LOOKUPS, "default"), LOOKUPS[0]).replace("default", LOOKUPS[0]),
        seconds if seconds is not None else SECONDS if waits is None else _milliseconds(waits) / 1000,
    )


def addresses_of(bootstrap: str) -> tuple[str, ...]:
    """Return the addresses in an option. Raises WrongConfig."""
    addresses = tuple(part.strip() for part in bootstrap.split(",") if part.strip())
    for address in addresses:
        found = _HOST.fullmatch(address)
        if found is None or not 0 < int(found["port"]) < 65536:
            raise WrongConfig(f"--bootstrap {printable(address)}: is no address; give HOST:PORT, such as kafka-1:9092")
    if not addresses:
        raise WrongConfig("--bootstrap: give HOST:PORT, such as kafka-1:9092")
    return addresses


def wrong(given: Given, message: str) -> WrongConfig:
    """Return the error about a property, with its place and without its value."""
    return WrongConfig(f"{given.origin.file}:{given.origin.line}: {shown_key(given.key)}: {message}")


@cache
def _table() -> tuple[Mapping[str, str], ...]:
    text = files(__package__).joinpath("command_config.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))


def _check(given: Given) -> None:
    """Raise WrongConfig for a property that cannot be honoured."""
    row = next((row for row in _table() if fnmatchcase(given.key, row["property"])), None)
    if row is None:
        if given.key.startswith(_GUARDED):
            raise wrong(given, f"is not known here: correct it or leave it out, {OWN_TOOLS}")
        return
    if row["kind"] == "refused":
        raise wrong(given, f"{row['what']}, {OWN_TOOLS}")
    if row["kind"] == "used" and "${" in given.value:
        raise wrong(given, "has a placeholder, which is not resolved here: write the value itself")


def _one_of(settings: Settings, key: str, allowed: tuple[str, ...], default: str, *, fold: bool = False) -> str:
    given = settings.get(key)
    if given is None:
        return default
    value = given.value.strip().upper() if fold else given.value.strip()
    if value not in allowed:
        raise wrong(given, f"must be one of {', '.join(allowed)}")
    return value


def _milliseconds(given: Given) -> int:
    value = given.value.strip()
    if not (value.isascii() and value.isdigit() and 0 < int(value) < 2**31):
        raise wrong(given, "must be a number of milliseconds above 0")
    return int(value)


def _mechanism(settings: Settings, file: Path | None) -> str:
    given = settings.get("sasl.mechanism")
    if given is None:
        message = (
            f"needs sasl.mechanism, one of {', '.join(MECHANISMS)} (Kafka's default is GSSAPI, which is not supported)"
        )
        raise WrongConfig(f"{file}: security.protocol {message}")
    value = given.value.strip().upper()
    if value not in MECHANISMS:
        raise wrong(given, f"must be one of {', '.join(MECHANISMS)} here; use a listener with one of them, {OWN_TOOLS}")
    return value


def _login(settings: Settings, mechanism: str, file: Path | None) -> Login:
    given = settings.get("sasl.jaas.config")
    if given is None:
        message = "needs sasl.jaas.config; a JAAS file that a Java system property names is not read"
        raise WrongConfig(f"{file}: sasl.mechanism {message}")
    login = login_of(given.value, mechanism)
    if isinstance(login, str):
        raise wrong(given, login)
    return login
