"""``proofka show`` can be searched and copied from: no spaces at the ends of lines, and no place broken in two."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest

from proofka.model.deployment.setting import Origin, Setting
from proofka.reports.settings import SettingsReport
from tests.reports import samples
from tests.reports.test_terminal import sheet


def lines_of(width: int, settings: tuple[Setting, ...]) -> list[str]:
    out = sheet(width)
    out.print(SettingsReport(replace(samples.DEPLOYMENT, settings=settings)))
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue().splitlines()


@pytest.mark.parametrize("width", [60, 80, 10_000])
def test_no_line_ends_in_spaces(width: int) -> None:
    lines = lines_of(width, samples.SETTINGS)
    assert lines
    assert [line for line in lines if line != line.rstrip()] == []


def test_a_long_place_is_not_broken() -> None:
    """Columns at 80 characters would fold this place; at 120 characters the place fits."""
    place = Origin("file", file="services/ordering/src/main/resources/orders.properties", line=12)
    setting = Setting("producer", "max.in.flight.requests.per.connection", "5", place)
    for width, lines in ((80, 2), (120, 1)):
        told = lines_of(width, (setting,))
        assert any(f"{place.file}:12" in line for line in told)
        heading = told.index("producer")
        assert told[heading + 1 :].index("") == lines
