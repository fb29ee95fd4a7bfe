"""Changes between two results, and the changed settings that cause them, as plain values."""

from __future__ import annotations

from dataclasses import dataclass

from proofka.model.deployment.setting import Setting
from proofka.properties.verdict import Verdict


@dataclass(frozen=True)
class Changed:
    """A part of a deployment with another value: a setting, or a field of the model if ``scope`` is empty.

    ``old`` and ``new`` are values in words; None means absent. ``old_setting`` and ``new_setting`` have the origins of
    a setting.
    """

    scope: str
    key: str
    old: str | None
    new: str | None
    old_setting: Setting | None = None
    new_setting: Setting | None = None


@dataclass(frozen=True)
class Cause:
    """The changes that change a verdict if they are made in the old deployment.

    ``sets``: each set of changes suffices alone, and is the smallest one found. ``smallest``: all smaller sets were
    tried. ``confirmed``: the cause holds for all kinds of fault, and not only for those of the fault sets concerned.
    ``sets`` is empty if no cause is known, for the reason in ``unknown``.
    """

    sets: tuple[tuple[Changed, ...], ...] = ()
    smallest: bool = True
    unknown: str = ""
    confirmed: bool = True


@dataclass(frozen=True)
class VerdictChange:
    """A property with another verdict; None for a verdict that was not asked. ``of``: status, fault sets or bounds.

    ``cause`` is None if no search took place: only the bounds changed, or only one result has the property.
    """

    property: str
    old: Verdict | None
    new: Verdict | None
    of: tuple[str, ...]
    cause: Cause | None = None


@dataclass(frozen=True)
class Difference:
    """All changes between two results.

    ``settings``: effective settings. ``versions``: name, old version and new version. ``separated``: the search for
    causes changed single settings; otherwise it changed fields of the model. ``remarks``: remarks about this search.
    """

    verdicts: tuple[VerdictChange, ...]
    unchanged: int
    settings: tuple[Changed, ...]
    versions: tuple[tuple[str, str | None, str | None], ...]
    separated: bool
    remarks: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        """True if nothing changed."""
        return not (self.verdicts or self.settings or self.versions)
