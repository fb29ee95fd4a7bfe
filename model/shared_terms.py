"""Terms that many actions share, built once for each pipeline: most of the time to build a model went into copies."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar, cast

from model.state import Pipeline

Parts = ParamSpec("Parts")
Built = TypeVar("Built")


def shared(build: Callable[Concatenate[Pipeline, Parts], Built]) -> Callable[Concatenate[Pipeline, Parts], Built]:
    """Have ``build`` called once for each pipeline and parts of it; nobody may change what it gives.

    Parts are told apart by identity: those that are kept with the result cannot be replaced in memory by others.
    """

    @wraps(build)
    def once(pipeline: Pipeline, *parts: Parts.args, **named: Parts.kwargs) -> Built:
        key = (build, *map(id, parts), *((name, id(part)) for name, part in named.items()))
        kept: tuple[Built, object] | None = pipeline.shared_terms.get(key)
        if kept is None:
            kept = pipeline.shared_terms[key] = build(pipeline, *parts, **named), (parts, named)
        return kept[0]

    return cast(Callable[Concatenate[Pipeline, Parts], Built], once)
