"""The kinds of fault, by name (semantics 1.1); each has its own budget.

``tables/faults.csv`` has a row for each kind: the deployments in which it happens, its traits, and its words in
reports. The sets of kinds below come from the traits.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path


class Fault(StrEnum):
    """The kinds of fault. A kill keeps the page cache and a power loss does not, so they are two kinds."""

    KILL = "kill"
    POWER_LOSS = "power-loss"
    DISK_LOSS = "disk-loss"
    CUT_OFF = "cut-off"
    CONTROLLER_STALL = "controller-stall"
    MIXED_FETCHES = "mixed-fetches"
    SLOW_FOLLOWER = "slow-follower"
    FORGED_FETCH = "forged-fetch"
    LATE_ANSWER = "late-answer"
    LOST_REQUEST = "lost-request"
    LOST_RESPONSE = "lost-response"
    DELAYED_REQUEST = "delayed-request"
    LEADER_MOVE = "leader-move"
    REASSIGNMENT = "reassignment"
    PRODUCER_CRASH = "producer-crash"
    PRODUCER_STOP = "producer-stop"
    CONSUMER_CRASH = "consumer-crash"
    EVICTION = "eviction"
    REBALANCE = "rebalance"
    LOST_COMMIT = "lost-commit"
    LOST_OFFSETS = "lost-offsets"
    FAILED_PROCESSING = "failed-processing"
    FULL_BUFFER = "full-buffer"
    REFUSED_RECORD = "refused-record"
    SPLIT_BATCH = "split-batch"
    UNKNOWN_TOPIC = "unknown-topic"
    FAILURE_ELSEWHERE = "failure-elsewhere"
    SHUTDOWN = "shutdown"
    LOG_DIR_FAILURE = "log-dir-failure"
    TRANSACTION_TIMEOUT = "transaction-timeout"
    LOST_TRANSACTION_STATE = "lost-transaction-state"


_TABLE = Path(__file__).parent / "tables" / "faults.csv"

FAULT_ROWS: Mapping[str, Mapping[str, str]] = {
    row["fault"]: row for row in csv.DictReader(_TABLE.read_text(encoding="utf-8").splitlines())
}
"""Kind -> its row of the table."""


def _that_happen(where: str) -> frozenset[Fault]:
    return frozenset(Fault(kind) for kind, row in FAULT_ROWS.items() if row["happens"] == where)


def _with(trait: str) -> frozenset[Fault]:
    return frozenset(Fault(kind) for kind, row in FAULT_ROWS.items() if trait in row["traits"].split())


DESCRIPTION: dict[Fault, str] = {Fault(kind): row["description"] for kind, row in FAULT_ROWS.items()}

ONLY_BY_NAME = _that_happen("if-named")
"""The kinds that a deployment has only if it names them."""

OF_SOME_RELEASES = _that_happen("in-some-releases")
"""The kinds with an effect on brokers of some releases only. Other deployments have them only if they name them."""

ENDS_PRODUCER = _with("ends-producer")
"""The faults after which the producer application is another process, with another producer id."""

OF_APPLICATIONS = ENDS_PRODUCER | _with("of-applications")
"""The faults that end a process of the application; every broker runs on."""

ONCE = _with("once")
"""The kinds that happen at most once in a run: a replica can be moved to one broker only."""

REPLACES_MEMBER = _with("replaces-member")
"""The faults after which another member of the group has the partition, while the one before still runs."""

COVERED_BY: dict[Fault, Fault] = {
    Fault(kind): Fault(row["covered_by"]) for kind, row in FAULT_ROWS.items() if row["covered_by"]
}
"""Kind -> a kind whose runs include all of its runs: a power loss can lose nothing, and then equals a kill."""

FALLS_SILENT = _with("falls-silent")
"""The faults after which a broker's connections are dead and nobody closes them."""

LOSES_REQUESTS = _with("loses-requests")
"""The faults of one request and its connection that the client notices when request.timeout.ms runs out."""

BREAKS_CONNECTIONS = FALLS_SILENT | _with("breaks-connections")
"""The faults after which clients have to connect again."""

MOVES_LEADER = _with("moves-leader")
"""The faults after which another broker can lead, while the one before runs on."""

DELAYS_READING = BREAKS_CONNECTIONS | MOVES_LEADER | _with("delays-reading")
"""The faults after which a consumer has to find out which broker to read from."""

OF_BROKERS = DELAYS_READING | _with("of-brokers")
"""The faults after which a broker can be away, or another broker can lead some partition."""

GROUPS: Mapping[str, frozenset[Fault]] = {
    "ends-producer": ENDS_PRODUCER,
    "replaces-member": REPLACES_MEMBER,
    "loses-requests": LOSES_REQUESTS,
    "of-brokers": OF_BROKERS,
}
"""Word of other tables -> the kinds that the word stands for."""
