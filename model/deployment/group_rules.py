"""What the coordinator of a group refuses of a consumer's settings. Rule numbers are those of docs/client-rules.md."""

from __future__ import annotations

from model.deployment.section import Section

LEAST = "group.min.session.timeout.ms"
MOST = "group.max.session.timeout.ms"
KEYS = (LEAST, MOST)
"""The settings of brokers that these rules read: their values must be known."""


def check_session(consumer: Section, setting: str, broker: Section) -> None:
    """A member whose session is shorter or longer than brokers allow never gets into its group: poll() throws."""
    session, least, most = consumer.milliseconds(setting), broker.integer(LEAST), broker.integer(MOST)
    if least <= session <= most:
        return
    key, limit = (LEAST, "at least") if session < least else (MOST, "at most")
    at = consumer if consumer.has(setting) or not broker.has(key) else broker
    why = f"{setting} ({session}) must be {limit} {broker.where(key)}"
    raise at.refused(setting if at is consumer else key, "InvalidSessionTimeoutException", why, "C13")
