"""The line of a file at which a report shows a violation, and a sentence about the setting on this line.

With ``--explain`` the setting is computed: its change prevents the violation (:class:`properties.verdict.Prevention`).
There is no setting if no such change was found.

Without ``--explain``, :mod:`properties.likely_settings` lists the settings on which the violation may depend, the
likeliest first. No exploration was repeated with another value, and the sentence says "may".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from proofka.model.deployment.assumptions import PRODUCER_KEYS
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.setting import Ignored, Origin, Setting
from proofka.properties.likely_settings import LikelySetting, likely_settings
from proofka.properties.verdict import CutSet, Prevention, Result, Status, Verdict
from proofka.reports import wording
from proofka.reports.explained import in_words, preventions_of

NOBODY_TO_BLAME = "Computed: no single change was found that prevents the violation with these faults."


@dataclass(frozen=True)
class Blame:
    """The place at which a report shows a verdict, and the reason.

    ``place`` is the line of the setting in a file. If no setting of a file is to blame, ``place`` is the first line
    about the component that the property depends on. ``place`` is None without files, and has no line if the reader
    of the file knows no lines. ``setting``: the setting on this line, if any. ``others``: further settings from files
    on which the violation may depend, or whose change prevents the violation as well. ``sentence``: the knowledge
    about these settings, or ``""``.
    """

    place: Origin | None
    setting: Setting | None
    others: tuple[Setting, ...]
    sentence: str


def blame(deployment: Deployment, result: Result, verdict: Verdict) -> Blame:
    """Return the place at which a report shows the verdict of a property."""
    if result.preventions is None or verdict.status is not Status.VIOLATED:
        return _by_table(deployment, verdict)
    tried = preventions_of(result, verdict.property, verdict.cut_sets[0])
    left = [one.change for one in tried if not one.decided]
    more = f" Not decided before the time limit: {'; '.join(left)}." if left else ""
    if found := [one for one in tried if one.decided]:
        computed = _computed(deployment, found)
        return replace(computed, sentence=computed.sentence + more)
    return Blame(_beside(deployment, _rows_of(verdict), verdict), None, (), NOBODY_TO_BLAME + more)


def _computed(deployment: Deployment, found: Sequence[Prevention]) -> Blame:
    """Blame the cheapest change of a value in a file, or otherwise the cheapest change."""
    of_each = [_settings_of(deployment, prevention) for prevention in found]
    at = next((at for at, settings in enumerate(of_each) if any(_in_file(one.origin) for one in settings)), 0)
    chosen, settings = found[at], of_each[at]
    shown = next((one for one in settings if _in_file(one.origin)), settings[0] if settings else None)
    said = f"Computed: with {in_words(chosen)}, these faults do not violate the property"
    if shown is None or not _in_file(shown.origin):
        name = chosen.settings[0] if shown is None else f"{shown.scope}.{shown.key}"
        now = "" if shown is None else f"; it is {shown.value}, {wording.origin(shown.origin)}"
        said += f" ({name} is not set in a file{now})"
        place = _nearest(deployment, name)
    else:
        said += f" (now {shown.key}={shown.value})"
        place = shown.origin
    rest = [in_words(one) for one in found if one is not chosen]
    said += f". The same holds for {'any of ' if len(rest) > 1 else ''}{'; '.join(rest)}." if rest else "."
    others = dict.fromkeys(one for settings in of_each for one in settings if _in_file(one.origin) and one != shown)
    return Blame(place, shown, tuple(others), said)


def _settings_of(deployment: Deployment, prevention: Prevention) -> list[Setting]:
    """List the effective settings that a change sets to another value."""
    return [one for one in deployment.settings if f"{one.scope}.{one.key}" in prevention.settings]


def _nearest(deployment: Deployment, *names: str) -> Origin | None:
    """Return the place for one of these settings: the first line about the first of their components that a file sets.

    Without such a line the place is the first line of the first file.
    """
    components = [_component(*name.split(".", 1)) for name in names]
    places = (_first_line(deployment, component) for component in (*components, None))
    return next(filter(None, places), None)


def _rows_of(verdict: Verdict) -> list[LikelySetting]:
    """List the settings on which the property depends according to the table."""
    return [row for row in likely_settings() if verdict.property in row.properties]


def _beside(deployment: Deployment, rows: Sequence[LikelySetting], verdict: Verdict) -> Origin | None:
    """Return the place of the settings on which the property depends, settings for these faults first."""
    faults = verdict.cut_sets[0] if verdict.cut_sets else None
    likely_first = sorted(rows, key=lambda row: faults is None or not row.is_about(faults))
    return _nearest(deployment, *(row.name for row in likely_first))


def _component(scope: str, key: str) -> str:
    """Return the component of a setting; settings of the application belong to its producer or consumer."""
    if scope != "application":
        return scope
    return "producer" if key in PRODUCER_KEYS else "consumer"


def _first_line(deployment: Deployment, component: str | None = None) -> Origin | None:
    """Return the first line about a component (None: any component) in the first file with settings of the component.

    The line is the line of a setting, not of a comment. The place has no line if the reader of the file knows no lines.
    """
    said: list[Setting | Ignored] = [*deployment.settings, *deployment.ignored]
    in_files = [one for one in said if _in_file(one.origin)]
    origins = [one.origin for one in in_files if component in (None, _component(one.scope, one.key))]
    if not origins:
        return None
    name = origins[0].file if component is None else min(str(one.file) for one in origins)
    lines = [one.line for one in origins if one.file == name and one.line is not None]
    return Origin("file", file=name, line=min(lines, default=None))


def _by_table(deployment: Deployment, verdict: Verdict) -> Blame:
    rows = _rows_of(verdict)
    given = {(one.scope, one.key): one for one in deployment.settings if _says(one.origin)}
    faults = verdict.cut_sets[0] if verdict.cut_sets else None
    likely = next(
        (
            setting
            for row in rows
            if faults is not None and row.is_about(faults) and (setting := given.get((row.scope, row.key)))
            if not row.is_safe(setting.value)
        ),
        None,
    )
    about = dict.fromkeys(setting for row in rows if (setting := given.get((row.scope, row.key))))
    others = tuple(setting for setting in about if setting is not likely)
    if likely is None:
        unsaid = _unsaid(deployment, rows, faults)
        if unsaid is None:
            return Blame(_beside(deployment, rows, verdict), None, others, "")
        said = f"The violation may depend on {unsaid.key}={unsaid.value}, {wording.origin(unsaid.origin)}"
        place = _nearest(deployment, f"{unsaid.scope}.{unsaid.key}")
        return Blame(place, None, others, f"{said}; --explain computes which settings matter.")
    said = f"The violation may depend on {likely.key}={likely.value}; --explain computes which settings matter."
    return Blame(likely.origin, likely, others, said)


def _unsaid(deployment: Deployment, rows: Sequence[LikelySetting], faults: CutSet | None) -> Setting | None:
    """Return the first setting outside of files that may cause the violation, according to the table."""
    effective = {(one.scope, one.key): one for one in deployment.settings if not _says(one.origin)}
    about = [row for row in rows if faults is not None and row.is_about(faults)]
    found = ((row, effective.get((row.scope, row.key))) for row in about)
    return next((one for row, one in found if one is not None and not row.is_safe(one.value)), None)


def _says(origin: Origin) -> bool:
    """Tell whether the value itself is from a file, and not from a rule."""
    return origin.kind == "file" and bool(origin.file)


def _in_file(origin: Origin) -> bool:
    return bool(origin.file)
