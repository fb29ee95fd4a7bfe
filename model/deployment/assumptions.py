"""What no configuration file can tell: how the application behaves. Documented defaults, and how to change them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

from model.deployment.bounds import default_epochs, default_sends, log_with_transactions
from model.deployment.choices import (
    Commit,
    Group,
    OffsetReset,
    OnProcessingError,
    OnRestart,
    OnSendError,
    OnStop,
    Processing,
    ProducerId,
    Sends,
    Sink,
)
from model.deployment.compaction import Keys
from model.deployment.deployment import Deployment
from model.deployment.errors import DeploymentError, NotModelledError
from model.deployment.given import Given, Settings, complaint
from model.deployment.setting import Origin, Setting
from model.faults import Fault


class Assumption(NamedTuple):
    """The values an assumption can take, its documented default, and what it is about in one sentence."""

    values: tuple[str, ...]
    default: str
    sentence: str
    tried: tuple[str, ...] | None = None
    """The values that are tried to see what they would change; None: all of them."""


ASSUMPTIONS: Mapping[str, Assumption] = {
    "on_send_error": Assumption(
        ("drop", "resend", "resend-if-not-stored", "halt", "ignore"),
        "drop",
        "what the application does when send() fails: hear of it and forget the record, send it anew, do that only if "
        "its client says that it is not stored (librdkafka), stop sending, or not look (no callback, no Future)",
        tried=("drop", "resend", "halt"),
    ),
    "on_restart": Assumption(
        ("forget", "resend", "from-acknowledged", "from-flushed", "from-sent"),
        "forget",
        "what a restarted producer application does about records it does not know to be acknowledged: forget them, "
        "send them again, or go on at the position in what it reads from that it had committed, past what was "
        "acknowledged, past what flush() had returned for, or past all that it had handed to send()",
        tried=("forget", "resend"),
    ),
    "on_stop": Assumption(
        ("close", "commit-first", "force", "exit"),
        "close",
        "how the producer application ends when it is stopped on purpose: it closes its producer, which waits until "
        "all sends are over, and then commits its position in what it reads from; or it commits that first (with "
        "on_restart=from-acknowledged); or close() waits for some time only, and what is left fails; or it closes "
        "nothing (with the fault producer-stop)",
        tried=("close", "force", "exit"),
    ),
    "sends": Assumption(
        ("async", "sync"), "async", "whether the application waits for each send before the next one (sync)"
    ),
    "producer_id": Assumption(
        ("known", "new"),
        "known",
        "whether the partition has records of this idempotent producer's id already: of a new id any first sequence "
        "number is accepted",
    ),
    "transaction_records": Assumption(
        ("1", "2", "3"),
        "2",
        "how many records the application sends in one transaction (with transactional.id)",
        tried=(),
    ),
    "keys": Assumption(
        ("distinct", "updated", "deleted"),
        "deleted",
        "which keys the records have that are followed, in a topic that is compacted: each its own, all the same one, "
        "or the same one that the last record deletes (a tombstone)",
    ),
    "group": Assumption(
        ("established", "new", "unaware"),
        "established",
        "whether the consumer group has a committed offset from the start, or auto.offset.reset decides until it has, "
        "or the partition is added while the group runs, which does not know of it yet",
        tried=("established", "new"),
    ),
    "commit": Assumption(
        ("before", "after", "async", "finished", "delivered", "never"),
        "after",
        "whether the application commits the offset before or after processing, or after it without waiting for the "
        "answer (commitAsync), or after each record that a worker finishes, whatever others still have before it, or "
        "never, as without a group (with enable.auto.commit=false), or the client commits what it has delivered, "
        "finished or not (with enable.auto.commit=true; Java does not)",
        tried=("before", "after"),
    ),
    "processing": Assumption(
        ("poll-thread", "handed-off"),
        "poll-thread",
        "whether records are finished inside the poll loop or handed off to other threads",
    ),
    "on_processing_error": Assumption(
        ("stop", "skip", "forward", "forward-unconfirmed", "close", "retry", "retry-last", "abort"),
        "stop",
        "what the application does when it fails to process a record: end its process, skip the record, write it to "
        "another topic and wait until that acknowledges it, or not wait, close the consumer and commit what poll() "
        "returned, or stay at the record (pause, or seek back) until it is processed, or do so for the last of several "
        "that workers fail at, or abort the transaction with its results and poll on (with sink=kafka)",
        tried=(),
    ),
    "sink": Assumption(
        ("plain", "idempotent", "by-offset", "transactional", "kafka", "in-memory", "snapshots"),
        "plain",
        "whether the consumer's effect repeats with each processing, recognises a record by its id, or by its "
        "partition and offset, is stored together with the offset, or is written to another topic in one transaction "
        "with the offset, or is kept in the memory of the consumer's process only, or there and saved from time to "
        "time, apart from the offset",
        tried=("plain", "idempotent", "transactional"),
    ),
    "group_metadata": Assumption(
        ("passed", "omitted"),
        "passed",
        "whether sendOffsetsToTransaction() is given the group's metadata, by which brokers refuse a member that was "
        "thrown out, or only the group's name (with sink=kafka)",
    ),
}
"""What the application does, by the key of ``--assume`` and of the YAML format."""

BY_ITSELF = (
    "delivered is what some clients commit by themselves: it needs enable.auto.commit=true; an application that "
    "commits says before or after"
)

RECORDS = "transaction_records"
NOBODY_COMMITS_UNSEEN = "ignore: a transaction with a failed send is not committed, whoever looks; leave it out"
NOWHERE_TO_START = (
    "its first poll() fails with NoOffsetForPartitionException, as nothing is committed and auto.offset.reset=none; "
    "say another reset, or a group that has committed"
)
NO_TRANSACTIONS = "the producer has no transactions; set transactional.id, or leave it out"

NOBODY_STOPS = "nobody stops the producer application; name the fault producer-stop, or leave it out"
NOT_TOO_EARLY = (
    "only a position past what is acknowledged can be committed too early; say on_restart=from-acknowledged, or close"
)
POSITION_APART = (
    "not modelled yet: positions that are committed beside the producer's transactions; say forget or resend"
)

NOT_COMPACTED = "the topic is not compacted, and keys decide nothing; leave it out"

TO_KAFKA_ONLY = "the results are in no transaction of Kafka's; set sink=kafka, or leave it out"

NO_COMMITTED_OFFSET = Setting("application", "group", "new", Origin("rule", "commit=never"))
"""What follows for the group of a consumer that never commits."""

PRODUCER_KEYS = ("sends", "on_send_error", "on_restart", "on_stop", "producer_id", "transaction_records", "keys")
CONSUMER_KEYS = ("group", "commit", "processing", "on_processing_error", "sink", "group_metadata")


@dataclass(frozen=True)
class Application:
    """The application's behaviour, complete."""

    sends: Sends
    on_send_error: OnSendError
    on_restart: OnRestart
    on_stop: OnStop
    producer_id: ProducerId
    transaction_records: int
    keys: Keys
    group: Group
    commit: Commit
    processing: Processing
    on_processing_error: OnProcessingError
    sink: Sink
    late_results_count: bool
    settings: tuple[Setting, ...]


_WITH_POSITION = tuple(one.value for one in OnRestart if one.has_position)

_BEHAVIOUR = tuple(field.name for field in fields(Application) if field.name not in ("transaction_records", "settings"))
"""What an application's behaviour and a deployment have in common."""


def check_assumption(given: Given) -> None:
    """Raise a one-line error unless the value is one of the assumption's values."""
    values = ASSUMPTIONS[given.key].values
    if given.value.strip() not in values:
        raise complaint(given, f"must be one of {', '.join(values)}")


def read_application(
    given: Settings, *, commits: Setting | None, transactional: bool, compacts: bool, stops: bool, resets: bool
) -> Application:
    """The application's behaviour: what was said, else the documented defaults, marked as assumptions.

    ``commits``: what the client commits by itself, and for which setting; None where the application says what.
    ``stops``: the producer application may be stopped on purpose. ``resets``: a consumer that finds no committed offset
    starts somewhere all the same.
    """
    chosen = {key: _choose(key, given) for key in ASSUMPTIONS}
    if not transactional:
        if RECORDS in given:
            raise complaint(given[RECORDS], NO_TRANSACTIONS)
        records = chosen.pop(RECORDS)
    else:
        records = chosen[RECORDS]
    if chosen["on_send_error"].value == OnSendError.IGNORE and transactional:
        raise complaint(given["on_send_error"], NOBODY_COMMITS_UNSEEN)
    if chosen["on_restart"].value in _WITH_POSITION and transactional:
        raise complaint(given["on_restart"], POSITION_APART, NotModelledError)
    if "on_stop" in given and not stops:
        raise complaint(given["on_stop"], NOBODY_STOPS)
    on_stop = chosen["on_stop"] if stops else chosen.pop("on_stop")
    if on_stop.value == OnStop.COMMIT_FIRST and chosen["on_restart"].value != OnRestart.FROM_ACKNOWLEDGED:
        raise complaint(given["on_stop"], NOT_TOO_EARLY)
    if "keys" in given and not compacts:
        raise complaint(given["keys"], NOT_COMPACTED)
    keys = chosen["keys"] if compacts else chosen.pop("keys")
    metadata = chosen["group_metadata"] if chosen["sink"].value == Sink.KAFKA else chosen.pop("group_metadata")
    _check_sink(given, chosen, commits)
    if commits is not None:
        because = commits.origin.detail
        if commits.value == Commit.AFTER and chosen["processing"].value == Processing.HANDED_OFF:
            # It commits what its handler has returned for, which workers need not have finished.
            commits = replace(commits, value=Commit.DELIVERED)
        again = chosen["on_processing_error"].value in (OnProcessingError.RETRY, OnProcessingError.RETRY_LAST)
        if again and Commit(commits.value).is_by_client:
            what = (
                f"not modelled yet: a record that is tried again while the consumer commits by itself ({because}), "
                "and with it what waits to be tried again, unless the application seeks back; commit by hand"
            )
            raise complaint(given["on_processing_error"], what, NotModelledError)
        if commits.value == Commit.EARLIER and chosen["on_processing_error"].value == OnProcessingError.CLOSE:
            what = f"not modelled yet: a client that commits less than poll() returned when it is closed ({because})"
            raise complaint(given["on_processing_error"], what, NotModelledError)
        if "commit" in given and chosen["commit"].value != Commit.DELIVERED:
            raise complaint(
                given["commit"],
                f"the consumer commits by itself ({because}); leave commit out, or switch that off",
            )
        if "commit" not in given:
            # Only the client commits: what the application would do itself is no assumption of this deployment.
            chosen["commit"] = commits
    elif chosen["commit"].value == Commit.DELIVERED:
        raise complaint(given["commit"], BY_ITSELF)
    if chosen["commit"].value == Commit.NEVER:
        if "group" in given and chosen["group"].value != Group.NEW:
            raise complaint(given["group"], "a group that never commits has no committed offset; leave group out")
        chosen["group"] = NO_COMMITTED_OFFSET
    if not resets and chosen["group"].value == Group.NEW and not Sink(chosen["sink"].value).keeps_offsets:
        raise complaint(given["group" if "group" in given else "commit"], NOWHERE_TO_START)
    return Application(
        sends=Sends(chosen["sends"].value),
        on_send_error=OnSendError(chosen["on_send_error"].value),
        on_restart=OnRestart(chosen["on_restart"].value),
        on_stop=OnStop(on_stop.value),
        producer_id=ProducerId(chosen["producer_id"].value),
        transaction_records=int(records.value),
        keys=Keys(keys.value),
        group=Group(chosen["group"].value),
        commit=Commit(chosen["commit"].value),
        processing=Processing(chosen["processing"].value),
        on_processing_error=OnProcessingError(chosen["on_processing_error"].value),
        sink=Sink(chosen["sink"].value),
        late_results_count=metadata.value == "omitted",
        settings=tuple(chosen.values()),
    )


def _check_sink(given: Settings, chosen: Mapping[str, Setting], commits: Setting | None) -> None:
    """Raise DeploymentError for what does not go with the sink, or is not modelled with it."""
    to_kafka = chosen["sink"].value == Sink.KAFKA
    if "group_metadata" in given and not to_kafka:
        raise complaint(given["group_metadata"], TO_KAFKA_ONLY)
    if chosen["on_processing_error"].value == OnProcessingError.ABORT and not to_kafka:
        raise complaint(given["on_processing_error"], f"abort: {TO_KAFKA_ONLY}")
    if to_kafka and commits is not None:
        what = f"offsets that are committed beside a transaction ({commits.origin.detail}); switch that off"
        raise complaint(given["sink"], f"not modelled yet: {what}", NotModelledError)
    if to_kafka and chosen["processing"].value == Processing.HANDED_OFF:
        raise complaint(given["sink"], "not modelled yet: transactions of several threads", NotModelledError)
    if to_kafka and chosen["on_processing_error"].value == OnProcessingError.FORWARD_UNCONFIRMED:
        what = "a transaction waits for all that is written in it; say forward"
        raise complaint(given["on_processing_error"], f"{OnProcessingError.FORWARD_UNCONFIRMED}: {what}")
    if Sink(chosen["sink"].value).is_memory:
        threads = chosen["processing"].value == Processing.HANDED_OFF
        unconfirmed = chosen["on_processing_error"].value == OnProcessingError.FORWARD_UNCONFIRMED
        if threads or unconfirmed:
            what = "results in memory of workers, or of what is forwarded without waiting"
            raise complaint(given["sink"], f"not modelled yet: {what}", NotModelledError)
    if to_kafka and "commit" in given and chosen["commit"].value != Commit.AFTER:
        raise complaint(given["commit"], "offsets are committed with the results (sink=kafka): leave commit out")


def _choose(key: str, given: Settings) -> Setting:
    said = given.get(key)
    if said is None:
        return Setting("application", key, ASSUMPTIONS[key].default, Origin("assumption", "documented default"))
    check_assumption(said)
    return Setting("application", key, said.value.strip(), said.origin)


def with_assumption(deployment: Deployment, key: str, value: str) -> Deployment:
    """The same deployment whose application behaves differently, and what follows from it.

    Raises DeploymentError for an unknown key or value, and for one that does not go with the rest.
    """
    if key not in ASSUMPTIONS:
        raise DeploymentError(f"no such assumption; choose one of {', '.join(ASSUMPTIONS)}", key=key)
    own = [setting for setting in deployment.settings if setting.scope == "application"]
    said = {s.key: Given(s.key, s.value, s.origin) for s in own if s.origin.kind not in ("assumption", "rule")}
    said[key] = Given(key, value, Origin("option", f"--assume {key}={value}"))
    by_client = next((s for s in own if s.key == "commit" and s.origin.kind == "rule"), None)
    transactional, compacts = deployment.transactional is not None, deployment.compaction is not None
    stops = Fault.PRODUCER_STOP in deployment.possible_faults
    application = read_application(
        said,
        commits=by_client,
        transactional=transactional,
        compacts=compacts,
        stops=stops,
        resets=deployment.offset_reset is not OffsetReset.NONE,
    )
    place = deployment.settings.index(own[0])
    others = [setting for setting in deployment.settings if setting.scope != "application"]
    records = application.transaction_records
    before = deployment.transactional
    changed = replace(
        deployment,
        settings=(*others[:place], *application.settings, *others[place:]),
        transactional=None if before is None else replace(before, records=records),
        **{name: getattr(application, name) for name in _BEHAVIOUR},
    )
    return _with_default_sends(changed)


def _with_default_sends(deployment: Deployment) -> Deployment:
    """The bounds that follow from how often the application sends a record, where nobody said them."""
    sends = default_sends(deployment.on_send_error, deployment.on_restart)
    changed = {"sends": sends}
    if deployment.transactional is not None:
        said = _said_bound(deployment, "sends")
        changed["log"] = log_with_transactions(deployment.bounds.sends if said else sends)
    if deployment.numbers_ahead:
        elsewhere = deployment.fails_elsewhere
        records = deployment.bounds.records
        changed["producer_epochs"] = default_epochs(records, sends, epoch_each=True, elsewhere=elsewhere)
    changed = {key: value for key, value in changed.items() if not _said_bound(deployment, key)}
    settings = tuple(
        Setting(s.scope, s.key, str(changed[s.key]), s.origin) if s.scope == "bounds" and s.key in changed else s
        for s in deployment.settings
    )
    return replace(deployment, settings=settings, bounds=replace(deployment.bounds, **changed))


def _said_bound(deployment: Deployment, key: str) -> bool:
    current = next((s for s in deployment.settings if (s.scope, s.key) == ("bounds", key)), None)
    return current is None or current.origin.kind != "default"
