"""A deployment as a JSON document, and back, without loss; the reader checks every member."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, fields
from enum import StrEnum
from typing import Any, TypeVar, cast

from model.deployment.application import Application
from model.deployment.bounds import RANGES, RANGES_WITH_TRANSACTIONS
from model.deployment.broker_rules import MOST_REPLICAS
from model.deployment.choices import (
    Acks,
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
from model.deployment.cluster import Cluster
from model.deployment.compaction import Compaction, Keys
from model.deployment.consumer import Consumer
from model.deployment.deployment import Deployment
from model.deployment.durations import NAMES
from model.deployment.errors import DocumentError
from model.deployment.explored import Bounds, FaultBudget
from model.deployment.hiding import printable
from model.deployment.older_transactions import InDoubt, OlderTransactions
from model.deployment.producer import Producer
from model.deployment.profiles import NAMED, PROFILES
from model.deployment.rebalancing import Rebalancing
from model.deployment.required_properties import KNOWN_PROPERTIES
from model.deployment.sender import Sender
from model.deployment.sequencing import Forgets, Recovery, Sequencing, Unknown
from model.deployment.setting import Ignored, Origin, Setting
from model.deployment.times import Durations
from model.deployment.transactional import Transactional
from model.deployment.truncation import Truncation
from model.durations import Quantity
from model.faults import Fault

_Choice = TypeVar("_Choice", bound=StrEnum)
_Item = TypeVar("_Item")
_ORIGIN_KINDS = ("file", "option", "default", "rule", "assumption")
_SCOPES = ("topic", "broker", "producer", "consumer", "application", "assume", "bounds")
_LARGEST = 2**63 - 1
_TRAITS = tuple(field.name for field in fields(Sender))


def to_document(deployment: Deployment) -> dict[str, Any]:
    """Return the deployment as JSON-able values, which ``from_document`` reads back to an equal deployment."""
    bounds, faults = deployment.bounds, deployment.faults
    return {
        "name": deployment.name,
        "kafka": list(deployment.cluster.kafka),
        "client": deployment.client,
        "replicas": deployment.cluster.replicas,
        "min_insync_replicas": deployment.cluster.min_insync_replicas,
        "zookeeper": deployment.cluster.zookeeper,
        "high_watermark_needs_min_isr": deployment.cluster.high_watermark_needs_min_isr,
        "eligible_leader_replicas": deployment.cluster.eligible_leader_replicas,
        "unclean_leader_election": deployment.cluster.unclean_leader_election,
        "restart_before_fenced": deployment.cluster.restart_before_fenced,
        "old_fetches_count": deployment.cluster.old_fetches_count,
        "offsets_age_in_use": deployment.cluster.offsets_age_in_use,
        "loaded_offsets_expire": deployment.cluster.loaded_offsets_expire,
        "offsets_applied_late": deployment.cluster.offsets_applied_late,
        "fenced_may_join": deployment.cluster.fenced_may_join,
        "new_replica_suffices": deployment.cluster.new_replica_suffices,
        "copies_newer_epochs": deployment.cluster.copies_newer_epochs,
        "believes_any_fetch": deployment.cluster.believes_any_fetch,
        "truncation": deployment.cluster.truncation.value,
        "mends_of_2_0_1": deployment.cluster.mends_of_2_0_1,
        "reads_may_overrun": deployment.cluster.reads_may_overrun,
        "consumer_knows_epochs": deployment.consumer.knows_epochs,
        "consumer_checks_epochs": deployment.consumer.checks_epochs,
        "consumer_checks_starts": deployment.consumer.checks_starts,
        "consumer_waits_beyond_end": deployment.consumer.waits_beyond_end,
        "compaction": None if deployment.cluster.compaction is None else asdict(deployment.cluster.compaction),
        "flush_messages": deployment.cluster.flush_messages,
        "deletes_for_size": deployment.cluster.deletes_for_size,
        "sender": {name: getattr(deployment.producer.sender, name) for name in _TRAITS},
        "acks": deployment.producer.acks.value,
        "retries": deployment.producer.retries,
        "idempotence": deployment.producer.idempotence,
        "sequencing": None if deployment.producer.sequencing is None else asdict(deployment.producer.sequencing),
        "expires_in_accumulator": deployment.producer.expires_in_accumulator,
        "max_in_flight": deployment.producer.max_in_flight,
        "sends": deployment.application.sends.value,
        "on_send_error": deployment.application.on_send_error.value,
        "on_restart": deployment.application.on_restart.value,
        "on_stop": deployment.application.on_stop.value,
        "producer_id": deployment.application.producer_id.value,
        "keys": deployment.application.keys.value,
        "transactional": _transactional(deployment.producer.transactional),
        "group": deployment.application.group.value,
        "rebalancing": asdict(deployment.consumer.rebalancing),
        "commit": deployment.application.commit.value,
        "processing": deployment.application.processing.value,
        "on_processing_error": deployment.application.on_processing_error.value,
        "sink": deployment.application.sink.value,
        "late_results_count": deployment.application.late_results_count,
        "offset_reset": deployment.consumer.offset_reset.value,
        "max_poll_records": deployment.consumer.max_poll_records,
        "producer_connects": deployment.producer.connects,
        "consumer_connects": deployment.consumer.connects,
        "commits_on_timer": deployment.consumer.commits_on_timer,
        "consumer_waits_for_bytes": deployment.consumer.waits_for_bytes,
        "followers_wait_for_bytes": deployment.cluster.followers_wait_for_bytes,
        "durations": {name: _quantity(getattr(deployment.durations, name)) for name in NAMES},
        "faults": {
            "total": faults.total,
            "at_most": [[kind, count] for kind, count in faults.at_most],
            "any_number": list(faults.any_number),
        },
        "bounds": {key: getattr(bounds, key) for key in RANGES},
        "require": list(deployment.require),
        **({} if deployment.profile is None else {"profile": deployment.profile}),
        "settings": [_setting(setting) for setting in deployment.settings],
        "ignored": [{**_setting(ignored), "reason": ignored.reason} for ignored in deployment.ignored],
        "notes": list(deployment.notes),
    }


def from_document(document: Mapping[str, Any]) -> Deployment:
    """Return the deployment of a document. Raises DocumentError, which names the wrong member."""
    read = _Members(document, "deployment")
    kafka = read.items("kafka", lambda items: tuple(items.number(i, 0, 999) for i in items))
    if len(kafka) != 3:
        raise DocumentError("must be three numbers", key="deployment.kafka")
    transactional = _read_transactional(read)
    deployment = Deployment(
        name=read.text("name"),
        cluster=Cluster(
            kafka=(kafka[0], kafka[1], kafka[2]),
            replicas=read.number("replicas", 1, MOST_REPLICAS),
            min_insync_replicas=read.number("min_insync_replicas", 1, _LARGEST),
            zookeeper=read.flag("zookeeper"),
            high_watermark_needs_min_isr=read.flag("high_watermark_needs_min_isr"),
            eligible_leader_replicas=read.flag("eligible_leader_replicas"),
            unclean_leader_election=read.flag("unclean_leader_election"),
            restart_before_fenced=read.flag("restart_before_fenced"),
            old_fetches_count=read.flag("old_fetches_count"),
            offsets_age_in_use=read.flag("offsets_age_in_use"),
            loaded_offsets_expire=read.flag("loaded_offsets_expire"),
            offsets_applied_late=read.flag("offsets_applied_late"),
            fenced_may_join=read.flag("fenced_may_join"),
            new_replica_suffices=read.flag("new_replica_suffices"),
            copies_newer_epochs=read.flag("copies_newer_epochs"),
            believes_any_fetch=read.flag("believes_any_fetch"),
            truncation=read.choice("truncation", Truncation),
            mends_of_2_0_1=read.flag("mends_of_2_0_1"),
            reads_may_overrun=read.flag("reads_may_overrun"),
            compaction=_read_compaction(read),
            flush_messages=read.optional_number("flush_messages", 1, _LARGEST),
            deletes_for_size=read.flag("deletes_for_size"),
            followers_wait_for_bytes=read.flag("followers_wait_for_bytes"),
        ),
        client=read.text("client"),
        consumer=Consumer(
            knows_epochs=read.flag("consumer_knows_epochs"),
            checks_epochs=read.flag("consumer_checks_epochs"),
            checks_starts=read.flag("consumer_checks_starts"),
            waits_beyond_end=read.flag("consumer_waits_beyond_end"),
            rebalancing=_read_rebalancing(read.members("rebalancing")),
            offset_reset=read.choice("offset_reset", OffsetReset),
            max_poll_records=read.number("max_poll_records", 1, _LARGEST),
            connects=read.number("consumer_connects", 1, _LARGEST),
            commits_on_timer=read.flag("commits_on_timer"),
            waits_for_bytes=read.flag("consumer_waits_for_bytes"),
        ),
        producer=Producer(
            sender=_read_sender(read.members("sender")),
            acks=read.choice("acks", Acks),
            retries=read.number("retries", 0, _LARGEST),
            idempotence=read.flag("idempotence"),
            sequencing=_read_sequencing(read),
            expires_in_accumulator=read.flag("expires_in_accumulator"),
            max_in_flight=read.number("max_in_flight", 1, _LARGEST),
            transactional=transactional,
            connects=read.number("producer_connects", 1, _LARGEST),
        ),
        application=Application(
            sends=read.choice("sends", Sends),
            on_send_error=read.choice("on_send_error", OnSendError),
            on_restart=read.choice("on_restart", OnRestart),
            on_stop=read.choice("on_stop", OnStop),
            producer_id=read.choice("producer_id", ProducerId),
            keys=read.choice("keys", Keys),
            group=read.choice("group", Group),
            commit=read.choice("commit", Commit),
            processing=read.choice("processing", Processing),
            on_processing_error=read.choice("on_processing_error", OnProcessingError),
            sink=read.choice("sink", Sink),
            late_results_count=read.flag("late_results_count"),
        ),
        durations=_read_durations(read.members("durations")),
        faults=_read_faults(read.members("faults")),
        bounds=_read_bounds(read.members("bounds"), RANGES if transactional is None else RANGES_WITH_TRANSACTIONS),
        require=read.items("require", lambda items: tuple(items.one_of(i, KNOWN_PROPERTIES) for i in items)),
        profile=read.one_of("profile", (*PROFILES, NAMED)) if "profile" in document else None,
        settings=read.each("settings", _read_setting),
        ignored=read.each("ignored", _read_ignored),
        notes=read.items("notes", lambda items: tuple(items.text(i) for i in items)),
    )
    read.check_no_more()
    return deployment


def _quantity(quantity: Quantity) -> dict[str, Any]:
    return {"name": quantity.name, "least": quantity.least, "most": quantity.most}


def _setting(setting: Setting | Ignored) -> dict[str, Any]:
    origin = setting.origin
    return {
        "scope": setting.scope,
        "key": setting.key,
        "value": setting.value,
        "origin": {"kind": origin.kind, "detail": origin.detail, "file": origin.file, "line": origin.line},
    }


class _Members:
    """The members of one object or list of a document, taken one by one. Each error names the member's path."""

    def __init__(self, value: object, path: str) -> None:
        self._path = path
        if isinstance(value, Mapping):
            self._values: dict[object, Any] = dict(value)
        elif isinstance(value, list):
            self._values = dict(enumerate(value))
        else:
            raise DocumentError("must be an object or a list", key=path)
        self._is_list = isinstance(value, list)
        self._taken: set[object] = set()

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[int]:
        """Yield the positions of a list."""
        return iter(range(len(self._values)))

    def path(self, key: object) -> str:
        return f"{self._path}[{key}]" if self._is_list else f"{self._path}.{key}"

    def take(self, key: object) -> Any:
        self._taken.add(key)
        if key not in self._values:
            raise DocumentError("is missing", key=self.path(key))
        return self._values[key]

    def text(self, key: object) -> str:
        value = self.take(key)
        if not isinstance(value, str):
            raise DocumentError("must be a text", key=self.path(key))
        return value

    def optional_text(self, key: object) -> str | None:
        return None if self.take(key) is None else self.text(key)

    def flag(self, key: object) -> bool:
        value = self.take(key)
        if not isinstance(value, bool):
            raise DocumentError("must be true or false", key=self.path(key))
        return value

    def number(self, key: object, least: int, most: int) -> int:
        value = self.take(key)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise DocumentError(f"must be a whole number from {least} to {most}", key=self.path(key))
        return value

    def optional_number(self, key: object, least: int, most: int) -> int | None:
        return None if self.take(key) is None else self.number(key, least, most)

    def one_of(self, key: object, choices: tuple[str, ...]) -> str:
        value = self.text(key)
        if value not in choices:
            raise DocumentError(f"must be one of {', '.join(choices)}", key=self.path(key))
        return value

    def choice(self, key: object, choices: type[_Choice]) -> _Choice:
        return choices(self.one_of(key, tuple(member.value for member in choices)))

    def members(self, key: object) -> _Members:
        value = self.take(key)
        if not isinstance(value, Mapping):
            raise DocumentError("must be an object", key=self.path(key))
        return _Members(value, self.path(key))

    def items(self, key: object, read: Callable[[_Members], tuple[_Item, ...]]) -> tuple[_Item, ...]:
        value = self.take(key)
        if not isinstance(value, list):
            raise DocumentError("must be a list", key=self.path(key))
        return read(_Members(value, self.path(key)))

    def each(self, key: object, read: Callable[[_Members], _Item]) -> tuple[_Item, ...]:
        return self.items(key, lambda items: tuple(read(items.members(i)) for i in items))

    def check_no_more(self) -> None:
        for key in self._values:
            if key not in self._taken:
                raise DocumentError("is not a member of a deployment", key=self.path(printable(str(key))))


def _read_faults(read: _Members) -> FaultBudget:
    kinds = tuple(kind.value for kind in Fault)

    def pair(items: _Members) -> tuple[str, int]:
        if len(items) != 2:
            raise DocumentError("must be a pair: a kind of fault, and a number", key=items.path(0))
        return items.one_of(0, kinds), items.number(1, 0, _LARGEST)

    pairs = read.items("at_most", lambda items: tuple(items.items(i, lambda two: (pair(two),))[0] for i in items))
    possible = tuple(kind for kind, _ in pairs)
    any_number = read.items("any_number", lambda items: tuple(items.one_of(i, possible) for i in items))
    total = read.optional_number("total", 0, _LARGEST)
    if problem := FaultBudget.problem(total, pairs, any_number):
        raise DocumentError(problem, key=read.path("any_number"))
    budget = FaultBudget(total, pairs, any_number)
    read.check_no_more()
    return budget


def _read_sender(read: _Members) -> Sender:
    sender = Sender(**{name: read.flag(name) for name in _TRAITS})
    read.check_no_more()
    return sender


def _read_rebalancing(read: _Members) -> Rebalancing:
    rebalancing = Rebalancing(**{field.name: read.flag(field.name) for field in fields(Rebalancing)})
    read.check_no_more()
    return rebalancing


def _transactional(transactional: Transactional | None) -> dict[str, Any] | None:
    return None if transactional is None else asdict(transactional)


def _read_transactional(read: _Members) -> Transactional | None:
    if read.take("transactional") is None:
        return None
    members = read.members("transactional")
    traits = (field.name for field in fields(Transactional) if field.name not in ("records", "older"))
    records = members.number("records", 1, RANGES["records"].stop - 1)
    flags = {name: members.flag(name) for name in traits}
    transactional = Transactional(records, **flags, older=_read_older_transactions(members))
    members.check_no_more()
    return transactional


def _read_older_transactions(read: _Members) -> OlderTransactions | None:
    if read.take("older") is None:
        return None
    members = read.members("older")
    older = OlderTransactions(
        members.choice("in_doubt", InDoubt),
        members.flag("errors_free_numbers"),
        members.flag("remembers_one"),
        members.choice("unknown", Unknown),
        members.flag("knows_by_marker"),
        members.flag("forgets_fenced"),
        members.flag("timeout_fences"),
    )
    members.check_no_more()
    return older


def _read_sequencing(read: _Members) -> Sequencing | None:
    if read.take("sequencing") is None:
        return None
    members = read.members("sequencing")
    sequencing = Sequencing(
        members.choice("recovery", Recovery),
        members.flag("remembers_one"),
        members.choice("unknown", Unknown),
        members.choice("forgets", Forgets),
    )
    members.check_no_more()
    return sequencing


def _read_compaction(read: _Members) -> Compaction | None:
    if read.take("compaction") is None:
        return None
    members = read.members("compaction")
    compaction = Compaction(**{field.name: members.flag(field.name) for field in fields(Compaction)})
    members.check_no_more()
    return compaction


def _read_durations(read: _Members) -> Durations:
    values = Durations(**{name: _read_quantity(read.members(name)) for name in NAMES})
    read.check_no_more()
    return values


def _read_quantity(read: _Members) -> Quantity:
    least = read.number("least", 0, _LARGEST)
    quantity = Quantity(read.text("name"), least, read.optional_number("most", least, _LARGEST))
    read.check_no_more()
    return quantity


def _read_bounds(read: _Members, ranges: Mapping[str, range]) -> Bounds:
    values = {key: read.number(key, allowed.start, allowed.stop - 1) for key, allowed in ranges.items()}
    if values["log"] < values["records"]:
        raise DocumentError("must be at least the number of records", key=read.path("log"))
    read.check_no_more()
    return Bounds(**values)


def _read_origin(read: _Members) -> Origin:
    kind = read.one_of("kind", _ORIGIN_KINDS)
    origin = Origin(
        cast(Any, kind), read.text("detail"), read.optional_text("file"), read.optional_number("line", 1, _LARGEST)
    )
    read.check_no_more()
    return origin


def _read_setting(read: _Members) -> Setting:
    scope = read.one_of("scope", _SCOPES)
    setting = Setting(scope, read.text("key"), read.text("value"), _read_origin(read.members("origin")))
    read.check_no_more()
    return setting


def _read_ignored(read: _Members) -> Ignored:
    scope = read.one_of("scope", _SCOPES)
    origin = _read_origin(read.members("origin"))
    ignored = Ignored(scope, read.text("key"), read.text("value"), origin, read.text("reason"))
    read.check_no_more()
    return ignored
