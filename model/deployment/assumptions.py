"""What no configuration file can tell: how the application behaves. Documented defaults, and how to change them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from model.deployment.bounds import default_sends
from model.deployment.deployment import (
    Commit,
    Deployment,
    Group,
    OnProcessingError,
    OnRestart,
    OnSendError,
    Origin,
    Processing,
    ProducerId,
    Sends,
    Setting,
    Sink,
)
from model.deployment.errors import DeploymentError, NotModelledError
from model.deployment.given import Given, Settings, complaint


class Assumption(NamedTuple):
    """The values an assumption can take, its documented default, and what it is about in one sentence."""

    values: tuple[str, ...]
    default: str
    sentence: str
    tried: tuple[str, ...] | None = None
    """The values that are tried to see what they would change; None: all of them."""


ASSUMPTIONS: Mapping[str, Assumption] = {
    "on_send_error": Assumption(
        ("drop", "resend", "halt"),
        "drop",
        "what the application does when send() fails: forget the record, send it anew, or stop sending",
    ),
    "on_restart": Assumption(
        ("forget", "resend"),
        "forget",
        "what a restarted producer application does about records it does not know to be acknowledged",
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
    "group": Assumption(
        ("established", "new"),
        "established",
        "whether the consumer group has a committed offset from the start, or auto.offset.reset decides until it has",
    ),
    "commit": Assumption(
        ("before", "after", "async", "delivered", "never"),
        "after",
        "whether the application commits the offset before or after processing, or after it without waiting for the "
        "answer (commitAsync), or never, as without a group (with "
        "enable.auto.commit=false), or the client commits what it has delivered, finished or not (with "
        "enable.auto.commit=true; Java does not)",
        tried=("before", "after"),
    ),
    "processing": Assumption(
        ("poll-thread", "handed-off"),
        "poll-thread",
        "whether records are finished inside the poll loop or handed off to other threads",
    ),
    "on_processing_error": Assumption(
        ("stop", "skip", "forward", "close", "retry"),
        "stop",
        "what the application does when it fails to process a record: end its process, skip the record, write it to "
        "another topic that acknowledges it, close the consumer and commit what poll() returned, or stay at the record "
        "(pause, or seek back) until it is processed",
        tried=(),
    ),
    "sink": Assumption(
        ("plain", "idempotent", "transactional"),
        "plain",
        "whether the consumer's effect repeats with each processing, recognises a record by its id, or is stored "
        "together with the offset",
    ),
}
"""What the application does, by the key of ``--assume`` and of the YAML format."""

BY_ITSELF = (
    "delivered is what some clients commit by themselves: it needs enable.auto.commit=true; an application that "
    "commits says before or after"
)

NO_COMMITTED_OFFSET = Setting("application", "group", "new", Origin("rule", "commit=never"))
"""What follows for the group of a consumer that never commits."""

PRODUCER_KEYS = ("sends", "on_send_error", "on_restart", "producer_id")
CONSUMER_KEYS = ("group", "commit", "processing", "on_processing_error", "sink")


@dataclass(frozen=True)
class Application:
    """The application's behaviour, complete."""

    sends: Sends
    on_send_error: OnSendError
    on_restart: OnRestart
    producer_id: ProducerId
    group: Group
    commit: Commit
    processing: Processing
    on_processing_error: OnProcessingError
    sink: Sink
    settings: tuple[Setting, ...]


def check_assumption(given: Given) -> None:
    """Raise a one-line error unless the value is one of the assumption's values."""
    values = ASSUMPTIONS[given.key].values
    if given.value.strip() not in values:
        raise complaint(given, f"must be one of {', '.join(values)}")


def read_application(given: Settings, *, commits: Setting | None) -> Application:
    """The application's behaviour: what was said, else the documented defaults, marked as assumptions.

    ``commits``: what the client commits by itself, and for which setting; None where the application says what.
    """
    chosen = {key: _choose(key, given) for key in ASSUMPTIONS}
    if commits is not None:
        because = commits.origin.detail
        if chosen["on_processing_error"].value == OnProcessingError.RETRY:
            what = (
                f"not modelled yet: a record that is tried again while the consumer commits by itself ({because}), "
                "and with it what waits to be tried again, unless the application seeks back; commit by hand"
            )
            raise complaint(given["on_processing_error"], what, NotModelledError)
        if "commit" in given and chosen["commit"].value != Commit.DELIVERED:
            raise complaint(
                given["commit"],
                f"the consumer commits by itself ({because}); leave commit out, or set enable.auto.commit=false",
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
    return Application(
        sends=Sends(chosen["sends"].value),
        on_send_error=OnSendError(chosen["on_send_error"].value),
        on_restart=OnRestart(chosen["on_restart"].value),
        producer_id=ProducerId(chosen["producer_id"].value),
        group=Group(chosen["group"].value),
        commit=Commit(chosen["commit"].value),
        processing=Processing(chosen["processing"].value),
        on_processing_error=OnProcessingError(chosen["on_processing_error"].value),
        sink=Sink(chosen["sink"].value),
        settings=tuple(chosen.values()),
    )


def _choose(key: str, given: Settings) -> Setting:
    said = given.get(key)
    if said is None:
        return Setting("application", key, ASSUMPTIONS[key].default, Origin("assumption", "documented default"))
    check_assumption(said)
    return Setting("application", key, said.value.strip(), said.origin)


def with_assumption(deployment: Deployment, key: str, value: str) -> Deployment:
    """The same deployment whose application behaves differently, and what follows from it.

    Raises DeploymentError for an unknown key or value, and for ``commit`` where the client commits by itself.
    """
    if key not in ASSUMPTIONS:
        raise DeploymentError(f"no such assumption; choose one of {', '.join(ASSUMPTIONS)}", key=key)
    origin = Origin("option", f"--assume {key}={value}")
    check_assumption(Given(key, value, origin))
    if key == "commit" and deployment.commit.is_by_client:
        raise DeploymentError("the consumer commits by itself (enable.auto.commit=true)", key=origin.detail)
    if key == "on_processing_error" and value == OnProcessingError.RETRY and deployment.commit.is_by_client:
        raise NotModelledError("not modelled yet with a consumer that commits by itself", key=origin.detail)
    if key == "commit" and value == Commit.DELIVERED:
        raise DeploymentError(BY_ITSELF, key=origin.detail)
    said = {("application", key): Setting("application", key, value, origin)}
    if key == "commit" and value == Commit.NEVER:
        said[("application", "group")] = NO_COMMITTED_OFFSET
    group = said.get(("application", "group"))
    settings = tuple(said.get((s.scope, s.key), s) for s in deployment.settings)
    changed = replace(
        deployment,
        settings=settings,
        sends=Sends(value) if key == "sends" else deployment.sends,
        on_send_error=OnSendError(value) if key == "on_send_error" else deployment.on_send_error,
        on_restart=OnRestart(value) if key == "on_restart" else deployment.on_restart,
        producer_id=ProducerId(value) if key == "producer_id" else deployment.producer_id,
        group=deployment.group if group is None else Group(group.value),
        commit=Commit(value) if key == "commit" else deployment.commit,
        processing=Processing(value) if key == "processing" else deployment.processing,
        on_processing_error=(
            OnProcessingError(value) if key == "on_processing_error" else deployment.on_processing_error
        ),
        sink=Sink(value) if key == "sink" else deployment.sink,
    )
    return _with_default_sends(changed)


def _with_default_sends(deployment: Deployment) -> Deployment:
    current = next((s for s in deployment.settings if (s.scope, s.key) == ("bounds", "sends")), None)
    if current is None or current.origin.kind != "default":
        return deployment
    sends = default_sends(deployment.on_send_error, deployment.on_restart)
    settings = tuple(Setting(s.scope, s.key, str(sends), s.origin) if s is current else s for s in deployment.settings)
    return replace(deployment, settings=settings, bounds=replace(deployment.bounds, sends=sends))
