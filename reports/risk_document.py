"""The answer of ``proofka risk`` as one JSON object. Numbers are not rounded; ``null`` is an unknown number."""

from __future__ import annotations

from typing import Any

from proofka.properties.rates import Rates
from proofka.properties.risk import OfSet, OfSource, Risk, RiskAnswer

FORMAT = 1
"""Version of the layout."""

Document = dict[str, Any]


def to_document(answer: RiskAnswer, rates: Rates) -> Document:
    """Return the JSON object of an answer."""
    document: Document = {
        "format": FORMAT,
        "deployment": answer.name,
        "rates": _rates(rates),
        "risks": [_risk(one) for one in answer.risks],
        "remarks": list(answer.remarks),
    }
    if answer.repairs is not None:
        document["repairs"] = [
            {"changes": list(one.changes), "risks": [_risk(risk) for risk in one.risks]} for one in answer.repairs
        ]
    return document


def _rates(rates: Rates) -> Document:
    return {
        "origin": rates.origin,
        "faults": [
            {"kind": one.kind, "a_year": one.a_year, "per": str(one.per), "lasts": one.lasts, "exposure": one.exposure}
            for one in rates.faults
        ],
        "causes": [
            {"name": one.name, "a_year": one.a_year, "faults": dict(one.faults), "lasts": one.lasts}
            for one in rates.causes
        ],
    }


def _risk(risk: Risk) -> Document:
    return {
        "property": risk.property,
        "required": risk.required,
        "status": str(risk.status),
        "lower": risk.lower,
        "upper": risk.upper,
        "of_rated_faults": risk.rated,
        "no_upper": list(risk.no_upper),
        "why_lower_is_0": risk.why_lower or None,
        "beyond": risk.beyond,
        "complete_to": risk.complete_to,
        "fault_sets": [_set(one) for one in risk.sets],
        "sources": [_source(one) for one in risk.sources],
        "notes": list(risk.notes),
    }


def _set(one: OfSet) -> Document:
    return {
        "faults": dict(one.faults),
        "alone": one.a_year,
        "lower": one.runs_a_year,
        "order": list(one.order),
        "window": None if one.least is None else {"least_ms": one.least, "most_ms": one.most},
        "longer_than_effects": list(one.longer),
        "window_of_all_runs": None if not one.because else {"most_ms": one.proven, "because": one.because},
    }


def _source(one: OfSource) -> Document:
    return {
        "name": one.name,
        "is_cause": one.is_cause,
        "a_year": one.a_year,
        "active": one.active,
        "share": one.share,
        "one_more": one.one_more,
    }
