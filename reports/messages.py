"""Messages in a trace: the sender and the receiver of each step that sends or receives one.

``tables/messages.csv`` has a row for each action of the delivery model that is a message. ``from`` and ``to`` are
lanes, or arguments of the action whose value is the number of a broker. ``phase``:

==========  =====================================================================================
both        the message is sent and received in one step of the model
sends       the message is in flight after this step
receives    the broker receives the request that ends in the state after this step
answers     as ``receives``; the answer arrives in the same step
splits      as ``receives``, for every request to this broker that ends
hears       an answer arrives; an abandoned request that ends in this step is the answered one
loses       a request never arrives; or an answer is lost, from the broker that received the record last
fetches     as ``both``, from the leader if records are copied; otherwise the fetch itself informs the leader
==========  =====================================================================================

The table does not list the requests in flight: the state contains them (:mod:`model.state.request_words`).
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from proofka.properties.verdict import Step

BROKER, LOG_OF = "broker {}", "{}'s log"
"""The lane of a broker by its number, and the name of the log of a lane in a trace."""

FETCHES = "fetches"


@dataclass(frozen=True)
class Message:
    """A step as a message. ``sender`` and ``receiver`` are lanes; an empty lane is unknown or absent."""

    sender: str
    receiver: str
    phase: str
    what: str


def message_of(step: Step) -> Message | None:
    """Return the message that a step sends or receives, or None if the step is no message."""
    row = _rows().get(step.action)
    if row is None:
        return None
    sender, receiver = (_lane(row[end], step.arguments) for end in ("from", "to"))
    if (row["from"] and not sender) or (row["to"] and not receiver):
        return None
    if row["phase"] == FETCHES:
        copied = any(change.what == LOG_OF.format(receiver) for change in step.changes)
        return (
            Message(sender, receiver, "both", row["message"]) if copied else Message(receiver, sender, "both", "fetch")
        )
    return Message(sender, receiver, row["phase"], row["message"])


def _lane(word: str, arguments: Mapping[str, int]) -> str:
    """Return the lane for a word of the table; empty if the step does not have this argument."""
    if word in ("leader", "follower", "broker"):
        return BROKER.format(arguments[word]) if word in arguments else ""
    return word


@cache
def _rows() -> Mapping[str, Mapping[str, str]]:
    text = files(__package__).joinpath("tables/messages.csv").read_text(encoding="utf-8")
    return {row["action"]: row for row in csv.DictReader(text.splitlines())}
