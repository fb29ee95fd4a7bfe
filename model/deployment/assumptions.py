"""The assumptions about the application's behaviour, which no configuration file can tell: their values, documented
defaults, and how to change them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from proofka.model.deployment.application import Application
from proofka.model.deployment.bounds import default_epochs, default_sends, log_with_transactions
from proofka.model.deployment.choices import (
    Commit,
    Group,
    OffsetReset,
    OnProcessingError,
    OnRestart,
    OnSendError,
    OnStop,
    Processing,
    ProducerId,
    Rebalances,
    Sends,
    Sink,
)
from proofka.model.deployment.compaction import Keys
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.given import Given, Settings, complaint, not_modelled
from proofka.model.deployment.group_rules import LATE_TRANSACTIONS
from proofka.model.deployment.implied.other_partitions import fails_elsewhere
from proofka.model.deployment.setting import Origin, Setting
from proofka.model.faults import Fault


class Assumption(NamedTuple):
    """The values that an assumption can take, its documented default, and one sentence about its meaning."""

    values: tuple[str, ...]
    default: str
    sentence: str
    tried: tuple[str, ...] | None = None
    """The values to try when Proofka looks for changes; None: all values."""


ASSUMPTIONS: Mapping[str, Assumption] = {
    "on_send_error": Assumption(
        ("drop", "resend", "resend-if-not-stored", "halt", "ignore"),
        "drop",
        "what the application does when send() fails: drop the record, send it again, send it again only if its client "
        "reports that it is not stored (librdkafka), stop sending, or ignore the result (no callback, no Future)",
        tried=("drop", "resend", "halt"),
    ),
    "on_restart": Assumption(
        ("forget", "resend", "from-acknowledged", "from-flushed", "from-sent"),
        "forget",
        "what a restarted producer application does with records whose acknowledgement it does not know: forget them, "
        "send them again, or continue at the position that it committed in its own input: after the acknowledged "
        "records, after the records for which flush() returned, or after all records handed to send()",
        tried=("forget", "resend"),
    ),
    "on_stop": Assumption(
        ("close", "commit-first", "force", "exit"),
        "close",
        "what the producer application does when it is stopped on purpose (with the fault producer-stop): close the "
        "producer, which waits until all sends have ended, and then commit its position in its input; commit that "
        "position first (with on_restart=from-acknowledged); call close() with a timeout, after which the remaining "
        "sends fail; or close nothing",
        tried=("close", "force", "exit"),
    ),
    "sends": Assumption(
        ("async", "sync"), "async", "whether the application waits for the result of each send before the next (sync)"
    ),
    "producer_id": Assumption(
        ("known", "new"),
        "known",
        "whether the partition already has records of this idempotent producer's id: brokers accept any first sequence "
        "number of a new id",
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
        "which keys the modelled records have, in a compacted topic: a different key for each record, the same key for "
        "all, or the same key for all and a last record that deletes it (a tombstone)",
    ),
    "group": Assumption(
        ("established", "new", "unaware"),
        "established",
        "whether the consumer group has a committed offset from the start, or auto.offset.reset decides until the "
        "group commits one, or the partition is added while the group runs and does not know the partition yet",
        tried=("established", "new"),
    ),
    "commit": Assumption(
        ("before", "after", "async", "finished", "delivered", "never"),
        "after",
        "when the offset is committed (with enable.auto.commit=false): before processing, after processing, after "
        "processing without waiting for the answer (commitAsync), after each record that a worker finishes even if "
        "other workers still have earlier records, by a client that commits all delivered records, finished or not "
        "(with enable.auto.commit=true; the Java client does not), or never, as without a group",
        tried=("before", "after"),
    ),
    "processing": Assumption(
        ("poll-thread", "handed-off"),
        "poll-thread",
        "whether records are processed inside the poll loop or handed off to other threads",
    ),
    "on_processing_error": Assumption(
        ("stop", "skip", "forward", "forward-unconfirmed", "close", "retry", "retry-last", "abort"),
        "stop",
        "what the application does when it fails to process a record: end its process, skip the record, write it to "
        "another topic with or without waiting for the acknowledgement, close the consumer and commit what poll() "
        "returned, retry the record (pause, or seek back) until it is processed, retry only the last of several "
        "records that workers failed to process, or abort the transaction with the results and poll again (with "
        "sink=kafka)",
        tried=(),
    ),
    "sink": Assumption(
        ("plain", "idempotent", "by-offset", "transactional", "kafka", "in-memory", "snapshots"),
        "plain",
        "where the consumer's effect goes: to a sink that repeats the effect with each processing, to a sink that "
        "recognises a record by its id, or by its partition and offset, to a store that keeps the offset in the same "
        "transaction, to another topic in one transaction with the offset, to the memory of the consumer's process, "
        "or to memory that is saved from time to time, separately from the offset",
        tried=("plain", "idempotent", "transactional"),
    ),
    "group_metadata": Assumption(
        ("passed", "omitted"),
        "passed",
        "whether sendOffsetsToTransaction() gets the group's metadata, with which brokers refuse an evicted member, or "
        "only the group's name (with sink=kafka)",
    ),
    "rebalances": Assumption(
        ("any-time", "in-poll"),
        "any-time",
        "when a client that rejoins its group in the background gives up a partition (librdkafka, with the fault "
        "rebalance): at any time, also while the application processes its records, or in a poll, which needs a "
        "rebalance callback",
    ),
}
"""Every assumption about the application, by its key in ``--assume`` and in the YAML format."""

BY_ITSELF = (
    "commit=delivered needs a client that commits by itself (enable.auto.commit=true); for an application that "
    "commits, choose before or after"
)

RECORDS = "transaction_records"
NOBODY_COMMITS_UNSEEN = (
    "ignore: a transaction with a failed send is never committed, so ignoring errors has no meaning; remove it"
)
NOWHERE_TO_START = (
    "the first poll() fails with NoOffsetForPartitionException, because the group has no committed offset and "
    "auto.offset.reset=none; choose another reset, or group=established"
)
NO_TRANSACTIONS = "the producer has no transactions; set transactional.id, or remove this assumption"

NOBODY_STOPS = "nothing stops the producer application; add the fault producer-stop, or remove this assumption"
NOT_TOO_EARLY = (
    "commit-first needs on_restart=from-acknowledged, the only position that can be committed too early; set that, "
    "or on_stop=close"
)
POSITION_APART = "an input position that is committed outside of the producer's transactions; choose forget or resend"

NOT_COMPACTED = "the topic is not compacted, so its keys do not matter; remove this assumption"

TO_KAFKA_ONLY = "needs results in a Kafka transaction; set sink=kafka, or remove this assumption"

NOBODY_REBALANCES = (
    "needs a client that rejoins its group in the background (librdkafka) and the fault rebalance; name these, or "
    "remove this assumption"
)
WITH_CALLBACK = "with a rebalance callback, set rebalances=in-poll"

NO_COMMITTED_OFFSET = Setting("application", "group", "new", Origin("rule", "commit=never"))
"""The value of ``group`` for a consumer that never commits."""

PRODUCER_KEYS = ("sends", "on_send_error", "on_restart", "on_stop", "producer_id", "transaction_records", "keys")
CONSUMER_KEYS = ("group", "commit", "processing", "on_processing_error", "sink", "group_metadata", "rebalances")


@dataclass(frozen=True)
class Assumed:
    """The complete behaviour of the applications, with the settings that say it; ``transaction_records``: the number of
    records of each transaction."""

    application: Application
    transaction_records: int
    settings: tuple[Setting, ...]


_WITH_POSITION = tuple(one.value for one in OnRestart if one.has_position)


def check_assumption(given: Given) -> None:
    """Raise a one-line error unless the value is one of the assumption's values."""
    values = ASSUMPTIONS[given.key].values
    if given.value.strip() not in values:
        raise complaint(given, f"must be one of {', '.join(values)}")


def read_application(
    given: Settings,
    *,
    commits: Setting | None,
    transactional: bool,
    compacts: bool,
    stops: bool,
    resets: bool,
    rebalances: bool,
) -> Assumed:
    """Return the application's behaviour: the given values, and documented defaults, marked as assumptions, for the
    others.

    ``commits``: the commit that the client makes by itself, with the setting that causes it; None where the application
    decides. ``stops``: the producer application can be stopped on purpose. ``resets``: a consumer that finds no
    committed offset starts at some offset nevertheless. ``rebalances``: the group can rebalance, and the client rejoins
    it in the background.
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
        raise not_modelled(given["on_restart"], "N42", POSITION_APART)
    if "on_stop" in given and not stops:
        raise complaint(given["on_stop"], NOBODY_STOPS)
    on_stop = chosen["on_stop"] if stops else chosen.pop("on_stop")
    if on_stop.value == OnStop.COMMIT_FIRST and chosen["on_restart"].value != OnRestart.FROM_ACKNOWLEDGED:
        raise complaint(given["on_stop"], NOT_TOO_EARLY)
    if "keys" in given and not compacts:
        raise complaint(given["keys"], NOT_COMPACTED)
    keys = chosen["keys"] if compacts else chosen.pop("keys")
    if "rebalances" in given and not rebalances:
        raise complaint(given["rebalances"], NOBODY_REBALANCES)
    time = chosen["rebalances"] if rebalances else chosen.pop("rebalances")
    metadata = chosen["group_metadata"] if chosen["sink"].value == Sink.KAFKA else chosen.pop("group_metadata")
    _check_sink(given, chosen, commits)
    if commits is not None:
        because = commits.origin.detail
        if commits.value == Commit.AFTER and chosen["processing"].value == Processing.HANDED_OFF:
            # The client commits what its handler returned for, which workers may not have finished.
            commits = replace(commits, value=Commit.DELIVERED)
        again = chosen["on_processing_error"].value in (OnProcessingError.RETRY, OnProcessingError.RETRY_LAST)
        if again and Commit(commits.value).is_by_client:
            what = (
                f"retries of a record with a client that commits by itself ({because}), because that commit can "
                "include records that wait for their retry; let the application commit"
            )
            raise not_modelled(given["on_processing_error"], "N65", what)
        if commits.value == Commit.EARLIER and chosen["on_processing_error"].value == OnProcessingError.CLOSE:
            what = f"close() of a client that commits only part of what poll() returned ({because})"
            raise not_modelled(given["on_processing_error"], "N66", what)
        if "commit" in given and chosen["commit"].value != Commit.DELIVERED:
            raise complaint(
                given["commit"],
                f"the client commits by itself ({because}); remove commit, or disable that setting",
            )
        if "commit" not in given:
            # Only the client commits: the application's own commits are no assumption of this deployment.
            chosen["commit"] = commits
    elif chosen["commit"].value == Commit.DELIVERED:
        raise complaint(given["commit"], BY_ITSELF)
    if chosen["commit"].value == Commit.NEVER:
        if "group" in given and chosen["group"].value != Group.NEW:
            raise complaint(
                given["group"], "a group that never commits has no committed offset (commit=never); remove group"
            )
        chosen["group"] = NO_COMMITTED_OFFSET
    if not resets and chosen["group"].value == Group.NEW and not Sink(chosen["sink"].value).keeps_offsets:
        raise complaint(given["group" if "group" in given else "commit"], NOWHERE_TO_START)
    application = Application(
        sends=Sends(chosen["sends"].value),
        on_send_error=OnSendError(chosen["on_send_error"].value),
        on_restart=OnRestart(chosen["on_restart"].value),
        on_stop=OnStop(on_stop.value),
        producer_id=ProducerId(chosen["producer_id"].value),
        keys=Keys(keys.value),
        group=Group(chosen["group"].value),
        commit=Commit(chosen["commit"].value),
        processing=Processing(chosen["processing"].value),
        on_processing_error=OnProcessingError(chosen["on_processing_error"].value),
        sink=Sink(chosen["sink"].value),
        late_results_count=metadata.value == "omitted",
        rebalances=Rebalances(time.value),
    )
    return Assumed(application, int(records.value), tuple(chosen.values()))


def _check_sink(given: Settings, chosen: Mapping[str, Setting], commits: Setting | None) -> None:
    """Raise DeploymentError for a value that does not go with the sink, or whose combination with it is not
    modelled."""
    to_kafka = chosen["sink"].value == Sink.KAFKA
    if "group_metadata" in given and not to_kafka:
        raise complaint(given["group_metadata"], TO_KAFKA_ONLY)
    if chosen["on_processing_error"].value == OnProcessingError.ABORT and not to_kafka:
        raise complaint(given["on_processing_error"], f"abort: {TO_KAFKA_ONLY}")
    if to_kafka and "rebalances" in chosen and chosen["rebalances"].value == Rebalances.ANY_TIME:
        raise not_modelled(given["sink"], "N72", f"{LATE_TRANSACTIONS}; {WITH_CALLBACK}")
    if to_kafka and commits is not None:
        what = f"offsets that the client commits outside of the transaction ({commits.origin.detail}); disable that"
        raise not_modelled(given["sink"], "N40", what)
    if to_kafka and chosen["processing"].value == Processing.HANDED_OFF:
        what = "transactions with records handed off to threads; set processing=poll-thread"
        raise not_modelled(given["sink"], "N41", what)
    if to_kafka and chosen["on_processing_error"].value == OnProcessingError.FORWARD_UNCONFIRMED:
        what = "a transaction waits for all of its writes; choose forward"
        raise complaint(given["on_processing_error"], f"{OnProcessingError.FORWARD_UNCONFIRMED}: {what}")
    if Sink(chosen["sink"].value).is_memory:
        threads = chosen["processing"].value == Processing.HANDED_OFF
        unconfirmed = chosen["on_processing_error"].value == OnProcessingError.FORWARD_UNCONFIRMED
        if threads or unconfirmed:
            what = "results in memory with processing=handed-off or on_processing_error=forward-unconfirmed"
            raise not_modelled(given["sink"], "N67", what)
    if to_kafka and "commit" in given and chosen["commit"].value != Commit.AFTER:
        raise complaint(given["commit"], "the offsets are committed with the results (sink=kafka); remove commit")


def _choose(key: str, given: Settings) -> Setting:
    said = given.get(key)
    if said is None:
        return Setting("application", key, ASSUMPTIONS[key].default, Origin("assumption", "documented default"))
    check_assumption(said)
    return Setting("application", key, said.value.strip(), said.origin)


def with_assumption(deployment: Deployment, key: str, value: str) -> Deployment:
    """Return the same deployment with another behaviour of the application, and with all that follows from it.

    Raises DeploymentError for an unknown key or value, and for a value that does not go with the other settings.
    """
    if key not in ASSUMPTIONS:
        raise DeploymentError(f"unknown assumption; choose one of {', '.join(ASSUMPTIONS)}", key=key)
    own = [setting for setting in deployment.settings if setting.scope == "application"]
    said = {s.key: Given(s.key, s.value, s.origin) for s in own if s.origin.kind not in ("assumption", "rule")}
    said[key] = Given(key, value, Origin("option", f"--assume {key}={value}"))
    by_client = next((s for s in own if s.key == "commit" and s.origin.kind == "rule"), None)
    transactional, compacts = deployment.producer.transactional is not None, deployment.cluster.compaction is not None
    stops = Fault.PRODUCER_STOP in deployment.faults.possible
    assumed = read_application(
        said,
        commits=by_client,
        transactional=transactional,
        compacts=compacts,
        stops=stops,
        resets=deployment.consumer.offset_reset is not OffsetReset.NONE,
        rebalances=deployment.consumer.rebalancing.in_background and Fault.REBALANCE in deployment.faults.possible,
    )
    place = deployment.settings.index(own[0])
    others = [setting for setting in deployment.settings if setting.scope != "application"]
    before = deployment.producer.transactional
    after = None if before is None else replace(before, records=assumed.transaction_records)
    changed = replace(
        deployment,
        settings=(*others[:place], *assumed.settings, *others[place:]),
        producer=replace(deployment.producer, transactional=after),
        application=assumed.application,
    )
    return _with_default_sends(changed)


def _with_default_sends(deployment: Deployment) -> Deployment:
    """Set the bounds that depend on how often the application sends a record, unless the user gave them."""
    sends = default_sends(deployment.application.on_send_error, deployment.application.on_restart)
    changed = {"sends": sends}
    if deployment.producer.transactional is not None:
        said = _said_bound(deployment, "sends")
        changed["log"] = log_with_transactions(deployment.bounds.sends if said else sends)
    if deployment.producer.numbers_ahead:
        elsewhere = fails_elsewhere(deployment)
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
