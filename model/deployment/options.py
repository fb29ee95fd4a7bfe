"""Options of the form KEY=VALUE (``--assume``), which add to the values of files or outrank them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from proofka.model.deployment.assumptions import ASSUMPTIONS
from proofka.model.deployment.bounds import RANGES
from proofka.model.deployment.budget import FAULT_KEYS
from proofka.model.deployment.durations import ENVIRONMENT
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.given import Given, GivenDeployment
from proofka.model.deployment.hiding import printable, shown_key
from proofka.model.deployment.known_keys import unknown, with_choices
from proofka.model.deployment.setting import Origin

OPTION_KEYS: tuple[str, ...] = (
    *ASSUMPTIONS,
    *ENVIRONMENT,
    "replicas",
    "elr",
    "faults",
    *(f"faults.{key}" for key in FAULT_KEYS),
    *(f"bounds.{key}" for key in RANGES),
)
"""The keys that an option can set."""


@dataclass(frozen=True)
class Options:
    """Options, sorted by subject."""

    application: Mapping[str, Given] = field(default_factory=dict)
    environment: Mapping[str, Given] = field(default_factory=dict)
    faults: Mapping[str, Given] = field(default_factory=dict)
    bounds: Mapping[str, Given] = field(default_factory=dict)
    replicas: Given | None = None
    elr: Given | None = None


def read_options(texts: Mapping[str, str]) -> Options:
    """Sort the options. Raises DeploymentError for an unknown key, with a list of the keys."""
    application: dict[str, Given] = {}
    environment: dict[str, Given] = {}
    faults: dict[str, Given] = {}
    bounds: dict[str, Given] = {}
    single: dict[str, Given] = {}
    for key, value in texts.items():
        origin = Origin("option", f"--assume {shown_key(key)}={printable(value)}")
        group, _, name = key.partition(".")
        if key in ASSUMPTIONS:
            application[key] = Given(key, value, origin)
        elif key in ENVIRONMENT:
            environment[key] = Given(key, value, origin)
        elif key in ("replicas", "elr"):
            single[key] = Given("replication.factor" if key == "replicas" else key, value, origin)
        elif key in ("faults", "faults.total"):
            faults["total"] = Given("total", value, origin)
        elif group == "faults" and name in FAULT_KEYS:
            faults[name] = Given(name, value, origin)
        elif group == "bounds" and name in RANGES:
            bounds[name] = Given(name, value, origin)
        else:
            error = unknown(Given(key, value, origin), "unknown assumption", OPTION_KEYS)
            raise DeploymentError(with_choices(error.message, OPTION_KEYS), key=origin.detail)
    return Options(application, environment, faults, bounds, single.get("replicas"), single.get("elr"))


def outrank(given: GivenDeployment, options: Options) -> GivenDeployment:
    """Return the configuration in which the options outrank the files."""
    topic = dict(given.topic)
    if options.replicas is not None:
        topic["replication.factor"] = options.replicas
    return replace(
        given,
        topic=topic,
        elr=options.elr or given.elr,
        application={**given.application, **options.application},
        environment={**given.environment, **options.environment},
        faults={**given.faults, **options.faults},
        bounds={**given.bounds, **options.bounds},
    )
