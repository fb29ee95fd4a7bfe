"""Terms that many actions share, built once for each pipeline: copies took most of the time to build a model."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar, cast

from proofka.model.state.pipeline import Pipeline

Parts = ParamSpec("Parts")
Built = TypeVar("Built")


def shared(build: Callable[Concatenate[Pipeline, Parts], Built]) -> Callable[Concatenate[Pipeline, Parts], Built]:
    """Have ``build`` called once for each pipeline and its parts; no caller may change the returned term.

    Parts are compared by identity. They are kept with the result, so that no other object can take their place in
    memory.
    """

    @wraps(build)
    def once(pipeline: Pipeline, *parts: Parts.args, **named: Parts.kwargs) -> Built:
        key = (build, *map(id, parts), *((name, id(part)) for name, part in named.items()))
        kept: tuple[Built, object] | None = pipeline.shared_terms.get(key)
        if kept is None:
            kept = pipeline.shared_terms[key] = build(pipeline, *parts, **named), (parts, named)
        return kept[0]

    return cast(Callable[Concatenate[Pipeline, Parts], Built], once)
