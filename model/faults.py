"""The kinds of fault, by name (semantics 1.1); each has its own budget."""

from __future__ import annotations

from enum import StrEnum


class Fault(StrEnum):
    """The kinds of fault. A kill keeps the page cache and a power loss does not, so they are two kinds."""

    KILL = "kill"
    POWER_LOSS = "power-loss"
    DISK_LOSS = "disk-loss"
    CUT_OFF = "cut-off"
    CONTROLLER_STALL = "controller-stall"
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


DESCRIPTION: dict[Fault, str] = {
    Fault.KILL: "a broker process dies (SIGKILL, OOM); its page cache survives",
    Fault.POWER_LOSS: "a broker's machine loses power; records that were not forced to disk may be lost",
    Fault.DISK_LOSS: "a broker dies and its disk is replaced by an empty one",
    Fault.CUT_OFF: "a broker cannot reach the controller, but still serves clients and followers",
    Fault.CONTROLLER_STALL: "the controller stalls as it registers a broker, which is not fenced (Kafka 3.3 to 3.9)",
    Fault.SLOW_FOLLOWER: "a follower stops fetching for a while and may be removed from the ISR",
    Fault.FORGED_FETCH: "a client sends a fetch in the name of a follower, and the leader believes it",
    Fault.LATE_ANSWER: "a leader's answer to a follower's fetch is so late that the leader's log has changed since",
    Fault.LOST_REQUEST: "a produce request never reaches the broker",
    Fault.LOST_RESPONSE: "a produce response never reaches the producer",
    Fault.DELAYED_REQUEST: "a broker executes a produce request after the client stopped waiting for the answer",
    Fault.LEADER_MOVE: "an operator or a preferred election moves the leadership",
    Fault.REASSIGNMENT: "a replica moves to another broker: the old one is removed when the new one has caught up",
    Fault.PRODUCER_CRASH: "the producer application crashes and restarts",
    Fault.PRODUCER_STOP: "an operator stops the producer application in an orderly way, and starts it again",
    Fault.CONSUMER_CRASH: "the consumer application crashes and restarts",
    Fault.EVICTION: "a consumer polls or sends heartbeats too late: another member takes over while it still runs",
    Fault.REBALANCE: "the group assigns the partition to another consumer (rolling restart, more members)",
    Fault.LOST_COMMIT: "an asynchronous commit fails, or the retry of an older one overtakes it",
    Fault.LOST_OFFSETS: "the brokers lose the committed offsets of a group (a loss in __consumer_offsets)",
    Fault.FAILED_PROCESSING: "the application fails to process a record, and continues or closes its consumer",
    Fault.FULL_BUFFER: "the producer's buffer is full for max.block.ms, and send() fails at once",
    Fault.REFUSED_RECORD: "a leader refuses a record permanently: too large, invalid, or not authorised",
    Fault.SPLIT_BATCH: "a leader refuses a batch of several records as too large, and the producer splits it",
    Fault.UNKNOWN_TOPIC: "a broker that has just started answers that the topic does not exist",
    Fault.FAILURE_ELSEWHERE: "a record of the same idempotent producer fails permanently in another partition",
    Fault.SHUTDOWN: "an operator stops a broker: it hands over its leaderships and forces its log to disk",
    Fault.TRANSACTION_TIMEOUT: "a transaction is open for longer than transaction.timeout.ms, and is aborted",
    Fault.LOST_TRANSACTION_STATE: "the transaction coordinator loses its state (a loss in __transaction_state)",
    Fault.LOG_DIR_FAILURE: "a broker's log directory fails or is full: its replica is offline until it restarts",
}


ONLY_BY_NAME = frozenset(
    {
        Fault.PRODUCER_STOP,
        Fault.REASSIGNMENT,
        Fault.FORGED_FETCH,
        Fault.LATE_ANSWER,
        Fault.EVICTION,
        Fault.REBALANCE,
        Fault.LOST_COMMIT,
        Fault.LOST_OFFSETS,
        Fault.FULL_BUFFER,
        Fault.REFUSED_RECORD,
        Fault.SPLIT_BATCH,
        Fault.UNKNOWN_TOPIC,
        Fault.FAILURE_ELSEWHERE,
        Fault.SHUTDOWN,
        Fault.LOG_DIR_FAILURE,
        Fault.TRANSACTION_TIMEOUT,
        Fault.LOST_TRANSACTION_STATE,
    }
)
"""The kinds that a deployment has only if it names them."""

OF_SOME_RELEASES = frozenset({Fault.CONTROLLER_STALL})
"""The kinds with an effect on brokers of some releases only. Other deployments have them only if they name them."""

ENDS_PRODUCER = frozenset({Fault.PRODUCER_CRASH, Fault.PRODUCER_STOP})
"""The faults after which the producer application is another process, with another producer id."""

OF_APPLICATIONS = ENDS_PRODUCER | {Fault.CONSUMER_CRASH}
"""The faults that end a process of the application; every broker runs on."""

ONCE = frozenset({Fault.REASSIGNMENT})
"""The kinds that happen at most once in a run: a replica can be moved to one broker only."""

REPLACES_MEMBER = frozenset({Fault.EVICTION, Fault.REBALANCE})
"""The faults after which another member of the group has the partition, while the one before still runs."""

COVERED_BY: dict[Fault, Fault] = {Fault.KILL: Fault.POWER_LOSS}
"""Kind -> a kind whose runs include all of its runs: a power loss can lose nothing, and then equals a kill."""

FALLS_SILENT = frozenset({Fault.POWER_LOSS, Fault.DISK_LOSS})
"""The faults after which a broker's connections are dead and nobody closes them."""

LOSES_REQUESTS = frozenset({Fault.LOST_REQUEST, Fault.LOST_RESPONSE, Fault.DELAYED_REQUEST})
"""The faults of one request and its connection that the client notices when request.timeout.ms runs out."""

BREAKS_CONNECTIONS = FALLS_SILENT | {Fault.KILL, Fault.SHUTDOWN, Fault.LOG_DIR_FAILURE}
"""The faults after which clients have to connect again."""

MOVES_LEADER = frozenset({Fault.LEADER_MOVE, Fault.REASSIGNMENT})
"""The faults after which another broker can lead, while the one before runs on."""

DELAYS_READING = BREAKS_CONNECTIONS | MOVES_LEADER | {Fault.CUT_OFF}
"""The faults after which a consumer has to find out which broker to read from."""

OF_BROKERS = BREAKS_CONNECTIONS | MOVES_LEADER | {Fault.CUT_OFF, Fault.SLOW_FOLLOWER}
"""The faults after which a broker can be away, or another broker can lead some partition."""
