"""Spring Kafka's listener containers: when they commit, and what becomes of a record that fails.

A container switches auto-commit off and commits by itself (2.3 and later), after each poll whose records all returned
(``ack-mode``). A record that fails is delivered ten times and then logged and passed over (2.5 and later; before, it
was passed over at once), unless the application has an error handler of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from model.deployment.dialects.accounts import Accounts
from model.deployment.dialects.said import Said
from model.deployment.given import Given

FRAMEWORK = "Spring Kafka"
MODES = ("record", "batch", "time", "count", "counttime", "manual", "manualimmediate")
BY_HAND = ("manual", "manualimmediate")
REFUSED = "refused with IllegalStateException: Consumer cannot be configured for auto commit for ackMode {}"
BESIDE = (
    "transaction-id-prefix makes listener containers send positions to the producer's transactions; "
    "with enable-auto-commit=true they are committed beside them"
)
TRANSACTIONS = "transaction-id-prefix makes listener containers commit positions in the producer's transactions"
DECIDES = "{}={}: the application decides when a record is acknowledged, and so what is committed"


@dataclass(frozen=True)
class Mode:
    """An ``ack-mode`` as it stands in the file, and its value as Spring compares it."""

    said: Said
    value: str
    given: Given


def mode_of(said: Said, accounts: Accounts) -> Mode | None:
    """The mode of a value; None, and the value rejected, if it is none."""
    text = accounts.text(said)
    value = text.replace("-", "").replace("_", "").lower()
    if value not in MODES:
        accounts.reject(said, "is no ack-mode: RECORD, BATCH, TIME, COUNT, COUNT_TIME, MANUAL or MANUAL_IMMEDIATE")
        return None
    return Mode(said, value, accounts.take(said, "commit"))


def container(
    settings: Mapping[str, Given], mode: Mode | None, retries: Given | None, accounts: Accounts, notes: list[str]
) -> tuple[dict[str, Given], dict[str, Given]]:
    """What a container makes of a consumer's settings, and what it does. ``retries``: topics for further attempts."""
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
        accounts.ignore(mode.said, "is not used where the client commits by itself (enable-auto-commit=true)")
    elif not automatic and mode is not None:
        answers["commit"] = Given("commit", "after", mode.given.origin)
    elif not automatic:
        answers["commit"] = accounts.by_framework("commit", "after", FRAMEWORK)
    group = own.get("group.id")
    if group is not None and group.value.strip().startswith("${random."):
        answers["group"] = Given("group", "new", group.origin)
        notes.append("each start has a group of its own, which begins where auto.offset.reset says")
    if retries is not None and retries.value.strip().lower() == "true":
        answers["on_processing_error"] = Given("on_processing_error", "forward", retries.origin)
        notes.append("records that fail go through retry topics, out of their order")
    else:
        answers["on_processing_error"] = accounts.by_framework("on_processing_error", "skip", FRAMEWORK)
        notes.append("a record that fails is delivered ten times and then passed over, if the application says nothing")
    return own, answers
