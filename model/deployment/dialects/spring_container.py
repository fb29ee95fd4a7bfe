"""Spring Kafka's listener containers: the time of commits, and the reaction to failed records.

A container disables auto-commit and commits by itself (2.3 and later), after each poll whose records were all processed
(``ack-mode``). A failed record is delivered ten times and then logged and skipped (2.5 and later; before, it was
skipped at once), unless the application has its own error handler.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from proofka.model.deployment.dialects.accounts import Accounts
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.given import Given

FRAMEWORK = "Spring Kafka"
MODES = ("record", "batch", "time", "count", "counttime", "manual", "manualimmediate")
BY_HAND = ("manual", "manualimmediate")
REFUSED = "refused with IllegalStateException: Consumer cannot be configured for auto commit for ackMode {}"
BESIDE = (
    "transaction-id-prefix makes listener containers send offsets to the producer's transactions; "
    "with enable-auto-commit=true the offsets are committed outside of the transactions"
)
TRANSACTIONS = "transaction-id-prefix makes listener containers commit offsets in the producer's transactions"
DECIDES = "{}={}: the application decides when a record is acknowledged, and thus what is committed"


@dataclass(frozen=True)
class Mode:
    """An ``ack-mode`` as written in the file, and its value in Spring's form."""

    said: Said
    value: str
    given: Given


def mode_of(said: Said, accounts: Accounts) -> Mode | None:
    """Return the mode of a value; None, with the value rejected, if it is invalid."""
    text = accounts.text(said)
    value = text.replace("-", "").replace("_", "").lower()
    if value not in MODES:
        accounts.reject(said, "is no ack-mode; use RECORD, BATCH, TIME, COUNT, COUNT_TIME, MANUAL or MANUAL_IMMEDIATE")
        return None
    return Mode(said, value, accounts.take(said, "commit"))


def container(
    settings: Mapping[str, Given], mode: Mode | None, retries: Given | None, accounts: Accounts, notes: list[str]
) -> tuple[dict[str, Given], dict[str, Given]]:
    """Return a consumer's settings and behaviour in a container. ``retries``: the setting for retry topics."""
    own = dict(settings)
    answers: dict[str, Given] = {}
    if "enable.auto.commit" not in own:
        own["enable.auto.commit"] = accounts.by_framework("enable.auto.commit", "false", f"{FRAMEWORK}'s container")
    automatic = own["enable.auto.commit"].value.strip().lower() == "true"
    if mode is not None and mode.value in BY_HAND:
        if automatic:
            accounts.reject(mode.said, REFUSED.format(accounts.text(mode.said)))
        else:
            accounts.ignore(mode.said, "the application decides when it acknowledges a record")
            notes.append(DECIDES.format("ack-mode", accounts.text(mode.said)))
    elif automatic and mode is not None:
        accounts.ignore(mode.said, "has no effect, because the client commits by itself (enable-auto-commit=true)")
    elif not automatic and mode is not None:
        answers["commit"] = Given("commit", "after", mode.given.origin)
    elif not automatic:
        answers["commit"] = accounts.by_framework("commit", "after", FRAMEWORK)
    group = own.get("group.id")
    if group is not None and group.value.strip().startswith("${random."):
        answers["group"] = Given("group", "new", group.origin)
        notes.append("each start has a new group, which starts by auto.offset.reset")
    if retries is not None and retries.value.strip().lower() == "true":
        answers["on_processing_error"] = Given("on_processing_error", "forward", retries.origin)
        notes.append("failed records go through retry topics, out of order")
    else:
        answers["on_processing_error"] = accounts.by_framework("on_processing_error", "skip", FRAMEWORK)
        notes.append(
            "a failed record is delivered ten times and then skipped, unless the application has its own error handler"
        )
    return own, answers
