"""Traces and layers as figures: equal bytes in two runs, readable words, every step drawn."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from proofka.properties.verdict import Step
from proofka.reports.figures.drawing import Sheet
from proofka.reports.figures.layers import draw_layers, is_logarithmic, share
from proofka.reports.figures.space_time import draw_trace
from tests.reports import samples
from tests.reports.test_traces import HOSTILE, TIMED, TOLD


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Sheet]:
    """Collect the written sheets."""
    found: list[Sheet] = []
    save = Sheet.save

    def keep(self: Sheet, file: Path) -> None:
        found.append(self)
        save(self, file)

    monkeypatch.setattr(Sheet, "save", keep)
    return found


def said(sheet: Sheet) -> list[str]:
    return [" ".join(text.get_text().split()) for text in sheet.axes.texts if text.get_text()]


@pytest.mark.parametrize("form", ["png", "svg"])
def test_the_same_figure_is_the_same_file(tmp_path: Path, form: str) -> None:
    files = [tmp_path / f"{name}.{form}" for name in ("one", "other")]
    for file in files:
        draw_trace(TIMED, "orders", file)
    assert files[0].read_bytes() == files[1].read_bytes()
    assert sorted(tmp_path.iterdir()) == sorted(files)
    for file in files:
        draw_layers(samples.ENGINE, "orders", file)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_svg_needs_no_font_and_has_no_date(tmp_path: Path) -> None:
    draw_trace(TIMED, "orders", tmp_path / "trace.svg")
    text = (tmp_path / "trace.svg").read_text(encoding="utf-8")
    assert "<text" not in text
    assert not re.search(r"20\d\d-\d\d-\d\d", text)


def test_figure_shows_lanes_and_steps(tmp_path: Path, drawn: list[Sheet]) -> None:
    draw_trace(TIMED, "orders", tmp_path / "trace.png")
    texts = said(drawn[0])
    lanes = ["producer", "broker 1", "broker 2", "controller"]
    assert [text for text in texts if text in lanes] == lanes
    assert "no-acked-loss and no-loss violated by {kill}" in texts
    assert {"0", "1,000", "2,000", "3,000", "ms"} <= set(texts)
    assert "kill: broker 1 is killed" in texts
    assert any(text.startswith("Fails: record 1 was acknowledged") for text in texts)
    cited = "Proofka on orders: no-acked-loss, id 0123456789abcdef; no-loss, id 0123456789abcdef"
    assert any(text.endswith(cited) for text in texts), "on a slide it stands alone"
    assert len([patch for patch in drawn[0].axes.patches if patch.get_hatch()]) == 1, "broker 1 is down"
    marks = [line.get_marker() for line in drawn[0].axes.lines]
    assert (marks.count("o"), marks.count("x")) == (3, 1)


def test_steps_without_times_are_numbered(tmp_path: Path, drawn: list[Sheet]) -> None:
    draw_trace(TOLD[0], "orders", tmp_path / "trace.png")
    assert {"1", "2", "3", "4"} <= set(said(drawn[0]))
    assert "ms" not in said(drawn[0])


def test_words_are_only_words(tmp_path: Path, drawn: list[Sheet]) -> None:
    formula = replace(HOSTILE.trace, steps=(replace(samples.SEND, text=r"$\frac{1}{$ \x1b"), *HOSTILE.steps))
    draw_trace(replace(HOSTILE, trace=formula), samples.HOSTILE, tmp_path / "trace.svg")
    assert all(text.isprintable() for text in said(drawn[0]))
    assert any("$\\frac" in text for text in said(drawn[0]))


def test_long_sentences_have_room(tmp_path: Path, drawn: list[Sheet]) -> None:
    """No text overlaps another text, with rows of several lines each."""
    long: Step = replace(samples.SEND, text="the application sends record 1 to broker 1, " * 6)
    steps = (samples.SEND, long, samples.APPEND, long, samples.KILL, samples.ELECT)
    draw_trace(replace(TOLD[0], trace=replace(samples.KILL_TRACE, steps=steps)), "orders", tmp_path / "trace.png")
    drawn[0].figure.canvas.draw()
    boxes = [(text.get_text(), text.get_window_extent()) for text in drawn[0].axes.texts if text.get_text()]
    for (one, its), (other, others) in combinations(boxes, 2):
        assert not its.padded(-1).overlaps(others.padded(-1)), (one, other)


def test_layers(tmp_path: Path, drawn: list[Sheet]) -> None:
    draw_layers(samples.ENGINE, "orders", tmp_path / "layers.png")
    texts = said(drawn[0])
    assert {"orders: states per layer", "0 faults", "1 fault", "2 faults", "120", "98,003", "1,136,444"} <= set(texts)
    assert any("logarithmic" in text and "1,234,567" in text for text in texts)
    widths = [patch.get_width() for patch in drawn[0].axes.patches]  # type: ignore[attr-defined]
    assert widths == sorted(widths)
    assert widths[-1] == pytest.approx(100)


def test_lengths_of_bars() -> None:
    assert not is_logarithmic((10, 900))
    assert is_logarithmic((10, 1000, 0))
    assert not is_logarithmic(())
    assert share(450, (10, 900), logarithmic=False) == 0.5
    assert share(0, (10, 1000), logarithmic=True) == 0
    assert 0 < share(1, (1, 1000), logarithmic=True) < share(2, (1, 1000), logarithmic=True)
    assert share(1000, (1, 1000), logarithmic=True) == 1


def test_nothing_explored_can_be_drawn(tmp_path: Path) -> None:
    draw_layers(replace(samples.ENGINE, layers=(), states=0), "orders", tmp_path / "layers.svg")
