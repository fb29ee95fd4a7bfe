"""What changed between two results, and which change of a setting made the difference: plain values."""

from __future__ import annotations

from dataclasses import dataclass

from model.deployment.setting import Setting
from properties.verdict import Verdict


@dataclass(frozen=True)
class Changed:
    """Something of a deployment that has another value: a setting, or a field of the model where ``scope`` is empty.

    None: not there. ``old`` and ``new`` are values as they are shown; the settings, if it is one, say where they came
    from.
    """

    scope: str
    key: str
    old: str | None
    new: str | None
    old_setting: Setting | None = None
    new_setting: Setting | None = None


@dataclass(frozen=True)
class Cause:
    """Which changes turn a verdict when they are made in the old deployment.

    ``sets``: each of them alone suffices, and is as small as was found; ``smallest``: that nothing smaller does was
    tried. ``confirmed``: also within all kinds of faults, and not just those of the fault sets concerned. Empty: none
    is known, for the reason in ``unknown``.
    """

    sets: tuple[tuple[Changed, ...], ...] = ()
    smallest: bool = True
    unknown: str = ""
    confirmed: bool = True


@dataclass(frozen=True)
class VerdictChange:
    """A property with another verdict; None where it was not asked. ``of``: status, fault sets or bounds.

    ``cause`` is None where none is looked for: only the bounds changed, or it is asked once only.
    """

    property: str
    old: Verdict | None
    new: Verdict | None
    of: tuple[str, ...]
    cause: Cause | None = None


@dataclass(frozen=True)
class Difference:
    """All that changed. ``settings`` are effective ones; ``versions``: of what, before and after.

    ``separated``: settings were changed one by one; otherwise fields of the model. ``remarks``: how causes were looked
    for, and what could not be done.
    """

    verdicts: tuple[VerdictChange, ...]
    unchanged: int
    settings: tuple[Changed, ...]
    versions: tuple[tuple[str, str | None, str | None], ...]
    separated: bool
    remarks: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        """Nothing changed."""
        return not (self.verdicts or self.settings or self.versions)
