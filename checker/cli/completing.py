"""Shell completion: words from tables, without imports that would delay the shell."""

from __future__ import annotations

from collections.abc import Iterable


def complete_word(incomplete: str) -> list[str]:
    """Return the words that ``proofka help`` explains."""
    from proofka.reports.guide.lookup import named
    from proofka.reports.guide.settings import owners

    return _beginning(incomplete, [*(name for kind in named() for name in kind), *owners()])


def complete_property(incomplete: str) -> list[str]:
    """Return the names of the properties."""
    from proofka.model.deployment.required_properties import KNOWN_PROPERTIES

    return _beginning(incomplete, KNOWN_PROPERTIES)


def complete_profile(incomplete: str) -> list[str]:
    """Return the names of the profiles."""
    from proofka.model.deployment.profiles import PROFILES

    return _beginning(incomplete, PROFILES)


def complete_assumption(incomplete: str) -> list[str]:
    """Return the keys of ``--assume``, each with ``=``; after the ``=``, the values if these can be listed."""
    from proofka.model.deployment.assumptions import ASSUMPTIONS
    from proofka.model.deployment.bounds import RANGES
    from proofka.model.deployment.options import OPTION_KEYS

    key, equals, _ = incomplete.partition("=")
    if not equals:
        keys = _beginning(incomplete, [f"{one}=" for one in OPTION_KEYS])
        # bash splits words at "=", so values must be offered together with the key, before the "=" is typed.
        return complete_assumption(keys[0]) or keys if len(keys) == 1 else keys
    values: Iterable[str] = ()
    if key in ASSUMPTIONS:
        values = ASSUMPTIONS[key].values
    elif key.startswith("bounds.") and key.removeprefix("bounds.") in RANGES:
        values = map(str, RANGES[key.removeprefix("bounds.")])
    elif key == "faults" or key.startswith("faults."):
        values = ("0", "1", "2", "3", "any")
    elif key == "elr":
        values = ("on", "off")
    return _beginning(incomplete, [f"{key}={value}" for value in values])


def complete_faults(incomplete: str) -> list[str]:
    """Return small numbers of faults, and ``any``."""
    return _beginning(incomplete, ("0", "1", "2", "3", "any"))


def complete_switch_on(incomplete: str) -> list[str]:
    """Return the reductions that are off by default."""
    from proofka.checker.reductions.choice import USED_UNLESS_TOLD_OTHERWISE, Reduction

    return _beginning(incomplete, [one.value for one in Reduction if one not in USED_UNLESS_TOLD_OTHERWISE])


def complete_switch_off(incomplete: str) -> list[str]:
    """Return the reductions that are on by default."""
    from proofka.checker.reductions.choice import USED_UNLESS_TOLD_OTHERWISE, Reduction

    return _beginning(incomplete, [one.value for one in Reduction if one in USED_UNLESS_TOLD_OTHERWISE])


def _beginning(incomplete: str, words: Iterable[str]) -> list[str]:
    return [word for word in dict.fromkeys(words) if word.lower().startswith(incomplete.lower())]
