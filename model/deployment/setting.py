"""One setting as it was given or derived, and where its value came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Origin:
    """Where a setting's value came from.

    ``kind`` is ``file`` (then ``file`` and ``line``), ``option`` (a command-line option, in ``detail``),
    ``default`` (``detail`` names release and client), ``rule`` (``detail`` says which client or broker rule
    derived it) or ``assumption`` (nothing said so; the documented default).
    """

    kind: Literal["file", "option", "default", "rule", "assumption"]
    detail: str = ""
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True)
class Setting:
    """One effective setting: ``scope`` is topic, broker, producer, consumer, application, assume or bounds."""

    scope: str
    key: str
    value: str
    origin: Origin


@dataclass(frozen=True)
class Ignored:
    """A setting that was given and cannot matter to any property of this model, with the reason."""

    scope: str
    key: str
    value: str
    origin: Origin
    reason: str
