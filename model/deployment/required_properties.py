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
    "atomicity",
    "no-aborted-read",
    "no-hanging-transaction",
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

OF_TRANSACTIONS = ("atomicity", "no-aborted-read", "no-hanging-transaction")
"""What is required of a producer with transactions as well when nothing says which."""

REQUIRED_BY_DEFAULT: tuple[str, ...] = tuple(
    name for name in KNOWN_PROPERTIES if name not in (*TO_BE_NAMED, *OF_TRANSACTIONS)
)
"""What is required when nothing says which, of a producer without transactions."""


def check_property(name: Given) -> None:
    """Raise DeploymentError unless there is such a property."""
    text = name.value.strip()
    if text not in KNOWN_PROPERTIES:
        error = unknown(Given(text, "", name.origin), "unknown property", KNOWN_PROPERTIES)
        then = "" if error.message.endswith("?") else ";"
        error.message += f"{then} choose from {', '.join(KNOWN_PROPERTIES)}"
        raise error


def required_by_default(*, transactional: bool) -> tuple[str, ...]:
    """The properties that are required where nobody names any."""
    own = OF_TRANSACTIONS if transactional else ()
    return tuple(name for name in KNOWN_PROPERTIES if name in (*REQUIRED_BY_DEFAULT, *own))


def read_required(given: tuple[Given, ...] | None, *, transactional: bool) -> tuple[str, ...]:
    """The required properties in the order of KNOWN_PROPERTIES, or the error for a name that is none.

    None stands for all that need not be named.
    """
    if given is None:
        return required_by_default(transactional=transactional)
    names: dict[str, Given] = {}
    for name in given:
        text = name.value.strip()
        what = "" if name.origin.kind == "option" else f"{text}: "  # an option's place ends with its value
        if text in OF_TRANSACTIONS and not transactional:
            raise complaint(name, f"{what}it is about transactions, and the producer has no transactional.id")
        if text == "no-dropped-record" and transactional:
            raise complaint(
                name, f"{what}not modelled yet: how long a coordinator of transactions takes", NotModelledError
            )
        check_property(name)
        if text in names:
            raise complaint(name, f"{text} is required twice")
        names[text] = name
    return tuple(name for name in KNOWN_PROPERTIES if name in names)
