"""One given or derived setting, and the origin of its value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Origin:
    """The origin of a setting's value.

    ``kind`` is ``file`` (then ``file`` and ``line``), ``option`` (a command-line option, in ``detail``), ``default``
    (``detail`` names release and client), ``rule`` (``detail`` names the client or broker rule that derived the value)
    or ``assumption`` (the user gave no value; the documented default).
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
    """A given setting that cannot matter to any property of this model, with the reason."""

    scope: str
    key: str
    value: str
    origin: Origin
    reason: str
