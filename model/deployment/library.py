"""What a client library is: its releases, the settings that its rules read, the rules, and its durations.

Its defaults are a table of its own (``tables/clients/``), the rest is a module of its own: nothing else names it but
the list in ``libraries.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from model.deployment.consumer_rules import ConsumerValues
from model.deployment.duration_settings import Source
from model.deployment.producer_rules import ProducerValues
from model.deployment.section import Section


class ConsumerRules(Protocol):
    """What a library makes of a consumer's settings; ``needs_group``: nobody but a group keeps the offsets."""

    def __call__(self, section: Section, *, needs_group: bool) -> ConsumerValues: ...


@dataclass(frozen=True)
class Library:
    """One library.

    ``oldest`` and ``newest`` are the release lines whose defaults are known, ``exception`` what it says of a value that
    it cannot read, ``package`` what may stand before its constants. ``durations`` are those that it says by other
    settings than Java's clients.
    """

    name: str
    oldest: tuple[int, int]
    newest: tuple[int, int]
    exception: str
    producer_keys: tuple[str, ...]
    producer: Callable[[Section], ProducerValues]
    consumer_keys: tuple[str, ...]
    consumer: ConsumerRules
    durations: Mapping[str, Source]
    package: str = ""
