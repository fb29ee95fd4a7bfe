"""Which steps of a trace are messages: who sends, who receives, and which of them ends one that is on its way.

``tables/messages.csv`` has a row for each action of the delivery model that is one. ``from`` and ``to`` are lanes, or
arguments of the action whose value is a broker's number. ``phase``:

==========  =====================================================================================
both        sent and received in one step of the model
sends       on its way from then on
receives    the broker has the request: the one that ends, in the state after this step
answers     the same, and the answer is there at once
splits      the same, for every request to that broker that ends
hears       an answer; an abandoned request that ends with it is what it answers
loses       a request never arrives; an answer: that of who received the record last
fetches     both, from the leader where records come with it; else the fetch itself tells the leader something
==========  =====================================================================================

Which requests are on their way is no part of the table: the state says it (:mod:`model.request_words`).
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from properties.verdict import Step

BROKER, LOG_OF = "broker {}", "{}'s log"
"""The lane of a broker by its number, and what a trace calls the log of a lane."""

FETCHES = "fetches"


@dataclass(frozen=True)
class Message:
    """What a step is as a message. ``sender`` and ``receiver`` are lanes, empty where nobody is (or who is unknown)."""

    sender: str
    receiver: str
    phase: str
    what: str


def message_of(step: Step) -> Message | None:
    """What this step sends or receives, or None where it is no message."""
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
    """The lane that a word of the table stands for; empty where the step has no such argument."""
    if word in ("leader", "follower", "broker"):
        return BROKER.format(arguments[word]) if word in arguments else ""
    return word


@cache
def _rows() -> Mapping[str, Mapping[str, str]]:
    text = files(__package__).joinpath("tables/messages.csv").read_text(encoding="utf-8")
    return {row["action"]: row for row in csv.DictReader(text.splitlines())}
