"""The sizes of a modelled pipeline: allowed ranges, defaults, and their dependencies."""

from __future__ import annotations

from proofka.model.deployment.choices import OnRestart, OnSendError
from proofka.model.deployment.explored import Bounds
from proofka.model.deployment.given import Given, Settings, complaint
from proofka.model.deployment.setting import Origin, Setting

RANGES: dict[str, range] = {
    "records": range(1, 4),
    "log": range(1, 6),
    "sends": range(1, 4),
    "epochs": range(2, 16),
    "producer_epochs": range(1, 5),
}
"""The allowed values of each bound. A log holds at most five batches, because a broker remembers a producer's last
five."""

RANGES_WITH_TRANSACTIONS = RANGES | {"log": range(1, 9), "producer_epochs": range(1, 9)}
"""The allowed values with transactions, which need log slots for markers and more producer epochs."""


def default_sends(on_send_error: OnSendError, on_restart: OnRestart) -> int:
    """Return the default of ``sends``: 2 if the application ever sends a record again, otherwise 1."""
    return 2 if on_send_error.sends_again or on_restart.sends_again else 1


WITH_TRANSACTIONS = Bounds(records=2, log=5, producer_epochs=6)
"""The default bounds with transactions: room for a transaction with two records and its marker, the following
transaction, and a late record."""


def log_with_transactions(sends: int) -> int:
    """Return the log size (slots) with room for each send of a transaction and for its marker."""
    return min(WITH_TRANSACTIONS.log + 3 * (sends - 1), RANGES_WITH_TRANSACTIONS["log"].stop - 1)


def default_epochs(records: int, sends: int, *, epoch_each: bool, elsewhere: bool) -> int:
    """Return the default number of producer epochs within one session. ``epoch_each``: each failed record ends an
    epoch; ``elsewhere``: a failure in another partition can end one too."""
    epochs = records * sends + 1 if epoch_each else Bounds().producer_epochs
    return min(epochs + elsewhere, RANGES["producer_epochs"].stop - 1)


def read_bounds(
    given: Settings,
    on_send_error: OnSendError,
    on_restart: OnRestart,
    *,
    transactional: bool,
    epoch_each: bool,
    elsewhere: bool,
) -> tuple[Bounds, tuple[Setting, ...]]:
    """Return the complete bounds, within their ranges, and the settings that say where each came from.

    ``epoch_each``: each record that fails takes the producer to a new epoch. ``elsewhere``: so can a failure in another
    partition.
    """
    standard = WITH_TRANSACTIONS if transactional else Bounds()
    ranges = RANGES_WITH_TRANSACTIONS if transactional else RANGES

    def number(key: str, default: int) -> int:
        return read_number(given[key], ranges[key]) if key in given else default

    records = number("records", standard.records)
    sends = number("sends", default_sends(on_send_error, on_restart))
    producer_epochs = default_epochs(records, sends, epoch_each=epoch_each, elsewhere=elsewhere)
    room = log_with_transactions(sends) if transactional else min(records + 1, RANGES["log"].stop - 1)
    values = {
        "records": records,
        "log": number("log", room),
        "sends": sends,
        "epochs": number("epochs", standard.epochs),
        "producer_epochs": number("producer_epochs", standard.producer_epochs if transactional else producer_epochs),
    }
    if values["log"] < records:
        raise complaint(given["log"], f"must be at least bounds.records, which is {records}")
    settings = tuple(
        Setting("bounds", key, str(value), given[key].origin if key in given else Origin("default", "Proofka"))
        for key, value in values.items()
    )
    return Bounds(**values), settings


def read_number(given: Given, allowed: range, *, or_word: str | None = None) -> int:
    """Read a whole number within a range. Raises DeploymentError with the range.

    ``or_word``: a word that the caller accepts in place of a number, for the message.
    """
    text = given.value.strip()
    if not (text.isascii() and text.isdigit() and len(text) <= 6 and int(text) in allowed):
        instead = "" if or_word is None else f", or {or_word}"
        raise complaint(given, f"must be a whole number from {allowed.start} to {allowed.stop - 1}{instead}")
    return int(text)
