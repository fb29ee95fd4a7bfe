"""The definition of a client library: its releases, the settings that its rules read, the rules, and its durations.

A library's defaults are a table of its own (``tables/clients/``); the rest is a module with the name of the table, by
which ``libraries.py`` finds the module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from proofka.model.deployment.consumer_rules import ConsumerValues
from proofka.model.deployment.duration_settings import Source
from proofka.model.deployment.producer_rules import ProducerValues
from proofka.model.deployment.section import Section


class ConsumerRules(Protocol):
    """The rules by which a library interprets a consumer's settings. ``needs_group``: only a group keeps the
    offsets."""

    def __call__(self, section: Section, *, needs_group: bool) -> ConsumerValues: ...


@dataclass(frozen=True)
class Library:
    """One client library.

    ``oldest`` and ``newest``: the release lines whose defaults are known. A client without a given version is of the
    newest release, which has a patch level where patches of its line differ. ``exception``: the library's error for a
    value that it cannot read. ``package``: the prefix of its constants. ``durations``: the durations whose settings
    differ from those of Java's clients.
    """

    name: str
    oldest: tuple[int, int]
    newest: tuple[int, ...]
    exception: str
    producer_keys: tuple[str, ...]
    producer: Callable[[Section], ProducerValues]
    consumer_keys: tuple[str, ...]
    consumer: ConsumerRules
    durations: Mapping[str, Source]
    package: str = ""
