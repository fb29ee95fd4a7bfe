"""What sarama makes of its settings (``Config.Validate``; 1.19 and later).

The rules' numbers (A02 and so on) are those of docs/client-rules.md.
"""

from __future__ import annotations

from dataclasses import replace

from model.deployment.consumer_rules import ConsumerValues
from model.deployment.deployment import Acks, OffsetReset, Origin, Setting
from model.deployment.producer_rules import ProducerValues
from model.deployment.section import Section
from model.deployment.sender import Sender
from model.deployment.values import boolean

PRODUCER_KEYS = (
    "Producer.RequiredAcks",
    "Producer.Retry.Max",
    "Producer.Idempotent",
    "Producer.Transaction.ID",
    "Net.MaxOpenRequests",
)
CONSUMER_KEYS = (
    "Consumer.Offsets.AutoCommit.Enable",
    "Consumer.Offsets.AutoCommit.Interval",
    "Consumer.Offsets.Initial",
    "Consumer.Group.Session.Timeout",
    "Consumer.Group.Heartbeat.Interval",
    "Consumer.Group.ResetInvalidOffsets",
    "Consumer.Fetch.Min",
)
"""The settings that these rules read: their values must be known."""

ACKS = {
    "WaitForAll": Acks.ALL,
    "-1": Acks.ALL,
    "WaitForLocal": Acks.LEADER,
    "1": Acks.LEADER,
    "NoResponse": Acks.NONE,
    "0": Acks.NONE,
}
INITIAL = {
    "OffsetNewest": OffsetReset.LATEST,
    "-1": OffsetReset.LATEST,
    "OffsetOldest": OffsetReset.EARLIEST,
    "-2": OffsetReset.EARLIEST,
}
"""Its words for acks, and for where a consumer starts that has no offset."""

PIPELINES = (1, 31)
"""From here on a request may be sent before the one before it is answered, whatever Net.MaxOpenRequests says."""

MUTES = (1, 60)
"""From here on a partition has one request in flight, and keeps it until that succeeded or failed for good."""

MOST_RETRIES = 10
"""More are not counted one by one: the model would take them for retries without end."""

REQUIRED, RETRIES = "Producer.RequiredAcks", "Producer.Retry.Max"
OPEN = "Net.MaxOpenRequests"
SESSION, HEARTBEAT = "Consumer.Group.Session.Timeout", "Consumer.Group.Heartbeat.Interval"
COMMITS, INTERVAL = "Consumer.Offsets.AutoCommit.Enable", "Consumer.Offsets.AutoCommit.Interval"


def producer(section: Section) -> ProducerValues:
    """The effective settings, or the refusal with the library's own error."""
    for key in ("Producer.Idempotent", "Producer.Transaction.ID"):
        if section.has(key) and section.text(key).lower() not in ("false", ""):
            _check_idempotence(section)
            raise section.not_modelled(key, "idempotence and transactions of sarama; remove it to check without")
    if section.integer(RETRIES) > MOST_RETRIES:
        what = f"more than {MOST_RETRIES} retries of a client that limits a delivery by nothing else; say fewer"
        raise section.not_modelled(RETRIES, what)
    acks = section.setting(REQUIRED)
    line, in_flight = section.release.line, section.setting(OPEN)
    notes: tuple[str, ...] = ()
    if line < PIPELINES:
        in_flight = section.derived(OPEN, "1", "before 1.31 a broker gets one request after the other")
    elif line < MUTES:
        if section.integer(OPEN) == 1:
            in_flight = section.derived(OPEN, "2", "a request may be sent before the one before it is answered")
        notes = (f"{section.software} may send a record before the one before it is answered, whatever {OPEN} says",)
    else:
        in_flight = section.derived(OPEN, "1", "from 1.60 on a partition has one request in flight")
    return ProducerValues(
        acks=ACKS[acks.value],
        retries=section.integer(RETRIES),
        idempotence=False,
        sequencing=None,
        max_in_flight=int(in_flight.value),
        expires_in_accumulator=False,
        transactional=False,
        sender=Sender(
            retries_keep_their_place=True,
            one_at_a_time_everywhere=True,
            knows_epochs=False,
            refusals_count=True,
            connecting_counts=True,
            drains=False,
            gapless=False,
        ),
        settings=(
            replace(acks, value=ACKS[acks.value]),
            section.setting(RETRIES),
            in_flight,
        ),
        notes=notes,
    )


def _check_idempotence(section: Section) -> None:
    if section.text("Producer.Idempotent").lower() != "true":
        why = "Producer.Transaction.ID needs Producer.Idempotent"
        raise section.refused("Producer.Transaction.ID", "ConfigurationError", why, "A05")
    conflicts = (
        (RETRIES, section.integer(RETRIES) == 0, "must be at least 1", "A02"),
        (
            REQUIRED,
            ACKS[section.text(REQUIRED)] is not Acks.ALL,
            "must be WaitForAll",
            "A03",
        ),
        (OPEN, section.integer(OPEN) > 1, "must be 1", "A04"),
    )
    for key, conflicting, what, rule in conflicts:
        if conflicting:
            why = f"{key} {what} with Producer.Idempotent"
            raise section.refused(key if section.has(key) else "Producer.Idempotent", "ConfigurationError", why, rule)


def _isolation(section: Section) -> Setting | None:
    key = "Consumer.IsolationLevel"
    if not section.knows(key):
        return None
    setting = section.setting(key)
    committed = setting.value in ("1", "ReadCommitted")
    return replace(setting, value="read_committed" if committed else "read_uncommitted")


def consumer(section: Section, *, needs_group: bool) -> ConsumerValues:
    """The effective settings, or the refusal with the library's own error."""
    heartbeat, session = section.milliseconds(HEARTBEAT), section.milliseconds(SESSION)
    if heartbeat >= session:
        why = f"{HEARTBEAT} must be less than {SESSION}"
        raise section.refused(HEARTBEAT if section.has(HEARTBEAT) else SESSION, "ConfigurationError", why, "A15")
    if section.knows(INTERVAL) and section.milliseconds(INTERVAL) <= 0:
        raise section.refused(INTERVAL, "ConfigurationError", f"{INTERVAL} must be more than 0", "A12")
    initial = section.setting("Consumer.Offsets.Initial")
    # Before 1.25 nothing switches the committing of marked offsets off.
    commits = section.flag_setting(COMMITS) if section.knows(COMMITS) else section.derived(COMMITS, "true", "always")
    reset = "Consumer.Group.ResetInvalidOffsets"
    invalid = section.knows(reset) and not section.flag(reset)
    note = "an offset out of range ends the claim: that the application starts again at Consumer.Offsets.Initial"
    return ConsumerValues(
        commits=None,
        commits_on_timer=boolean(commits.value),
        offset_reset=INITIAL[initial.value],
        max_poll_records=1,
        session=SESSION,
        fetched_at_least="Consumer.Fetch.Min",
        knows_epochs=False,
        checks_epochs=False,
        isolation=_isolation(section),
        settings=(
            commits,
            replace(initial, value=INITIAL[initial.value]),
            Setting(section.scope, "records at a time", "1", Origin("rule", "the library hands over one by one")),
            section.setting(SESSION),
            section.setting(HEARTBEAT),
        ),
        notes=(f"{note} is assumed",) if invalid else (),
    )
