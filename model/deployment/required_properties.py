"""The names of the properties that a deployment can require."""

from __future__ import annotations

from model.deployment.errors import NotModelledError
from model.deployment.given import Given, complaint
from model.deployment.known_keys import unknown

KNOWN_PROPERTIES: tuple[str, ...] = (
    "no-acked-loss",
    "no-silent-loss",
    "no-skip",
    "no-loss",
    "no-dropped-record",
    "no-log-duplicate",
    "no-reprocessing",
    "exactly-once-effect",
    "log-order",
    "processing-order",
    "no-gap",
    "read-stability",
    "replica-agreement",
    "recoverability",
)
"""Every property that can be required, in the order in which they are reported."""

TO_BE_NAMED = ("no-dropped-record", "no-gap")
"""Whether a send is given up, and what comes after it, depends on how long faults last, which no configuration tells.

So these have to be asked for, with durations of the environment that somebody stands for.
"""

REQUIRED_BY_DEFAULT: tuple[str, ...] = tuple(name for name in KNOWN_PROPERTIES if name not in TO_BE_NAMED)
"""What is required when nothing says which."""

_NEED_MORE = {"atomicity": "needs transactions"}


def read_required(given: tuple[Given, ...] | None) -> tuple[str, ...]:
    """The required properties in the order of KNOWN_PROPERTIES, or the error for a name that is none.

    None stands for REQUIRED_BY_DEFAULT.
    """
    if given is None:
        return REQUIRED_BY_DEFAULT
    names: dict[str, Given] = {}
    for name in given:
        text = name.value.strip()
        if text in _NEED_MORE:
            what = "" if name.origin.kind == "option" else f"{text}: "  # an option's place ends with its value
            raise complaint(name, f"{what}not modelled yet: {_NEED_MORE[text]}", NotModelledError)
        if text not in KNOWN_PROPERTIES:
            error = unknown(Given(text, "", name.origin), "unknown property", KNOWN_PROPERTIES)
            then = "" if error.message.endswith("?") else ";"
            error.message += f"{then} choose from {', '.join(KNOWN_PROPERTIES)}"
            raise error
        if text in names:
            raise complaint(name, f"{text} is required twice")
        names[text] = name
    return tuple(name for name in KNOWN_PROPERTIES if name in names)
