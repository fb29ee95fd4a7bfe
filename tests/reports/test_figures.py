"""Figures: equal inputs give equal files, every label has room, and the numbers are those of the data."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest

from proofka.model.deployment import KNOWN_PROPERTIES
from proofka.properties.audited import Influence, Portion, Tolerance
from proofka.properties.verdict import Status
from proofka.reports.figures.audit import draw_audit
from proofka.reports.figures.drawing import DOTS_AN_INCH, LONGEST_LABEL, Sheet
from proofka.reports.figures.heat_map import per_cent

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

LONG = "producer.max.in.flight.requests.per.connection"
VALUES = {"producer.acks": ("1", "all"), LONG: ("1", "a value that is much longer than there is room for, $x_1$")}


def portion(*values: tuple[str, str], violated: int = 3, of: int = 12, other: Status = Status.HOLDS) -> Portion:
    counts = {status: n for status, n in ((Status.VIOLATED, violated), (other, of - violated)) if n}
    return Portion(values, of, dict.fromkeys(KNOWN_PROPERTIES, counts))


BY_VALUE = [portion((setting, value)) for setting, values in VALUES.items() for value in values]
COMBINATIONS = [
    portion(("producer.acks", acks), (LONG, most), violated=12 * (acks == "1"), other=Status.UNKNOWN)
    for acks in VALUES["producer.acks"]
    for most in VALUES[LONG]
]
TOLERANCE = [
    Tolerance("all deployments", "", {0: 1, 1: 200, 2: 30, 3: 1, 5: 1}, 1100, 0, 40),
    *(Tolerance("each property", name, {1: 7}, 3, 2, 0) for name in KNOWN_PROPERTIES),
    *(
        Tolerance(setting, value, {1: n}, 1, 0, 9)
        for setting, values in VALUES.items()
        for n, value in enumerate(values, 1)
    ),
    *(Tolerance("producer.linger.ms", value, {1: n, 2: n}, 2 * n, 0, 0) for n, value in enumerate(("0", "5"), 1)),
]
MATRIX = Influence(("no-skip",), BY_VALUE, ("producer.linger.ms",), ("topic.flush.ms",), COMBINATIONS, (), TOLERANCE)
FLEET = Influence((), (), (), (), (), [portion(("", f"orders-{n} and 9 more")) for n in range(3)], TOLERANCE[:1])


@dataclass(frozen=True)
class Drawn:
    """The folder of the files that were drawn, and the sheets that were written there, by name."""

    folder: Path
    sheets: dict[str, Sheet]


def draw(influence: Influence, folder: Path) -> Drawn:
    """Draw the figures of an audit, and keep their sheets."""
    written: dict[str, Sheet] = {}
    write = Sheet.write

    def keep(self: Sheet, folder: Path, name: str) -> list[Path]:
        written[name] = self
        return write(self, folder, name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Sheet, "write", keep)
        draw_audit(influence, folder)
    return Drawn(folder, written)


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Drawn:
    return draw(MATRIX, tmp_path_factory.mktemp("matrix"))


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Drawn:
    return draw(FLEET, tmp_path_factory.mktemp("fleet"))


@pytest.mark.parametrize(
    ("influence", "names"),
    [
        pytest.param(MATRIX, {"settings", "combinations", "tolerance"}, marks=pytest.mark.slow),
        (FLEET, {"outcomes", "tolerance"}),
    ],
)
def test_files(tmp_path: Path, influence: Influence, names: set[str]) -> None:
    """Two runs write the same bytes, and no other files."""
    files = draw_audit(influence, tmp_path / "one")
    again = draw_audit(influence, tmp_path / "other")
    assert {file.name for file in files} == {f"{name}.{form}" for name in names for form in ("png", "svg")}
    assert sorted(files) == sorted((tmp_path / "one").iterdir())
    for one, other in zip(files, again, strict=True):
        assert one.read_bytes() == other.read_bytes()
        assert one.read_bytes().startswith(b"\x89PNG" if one.suffix == ".png" else b"<?xml")


@pytest.mark.parametrize("influence", ["matrix", "fleet"])
def test_no_label_lies_on_another(request: pytest.FixtureRequest, influence: str) -> None:
    drawn: Drawn = request.getfixturevalue(influence)
    assert drawn.sheets
    for name, sheet in drawn.sheets.items():
        texts = [text for text in sheet.axes.texts if text.get_text()]
        boxes = [(text, text.get_window_extent().padded(-1)) for text in texts if not text.get_rotation()]
        assert len(boxes) > 3
        for (one, its), (other, others) in combinations(boxes, 2):
            assert not its.overlaps(others), (name, one.get_text(), other.get_text())


def test_titles_stand_above_the_headings(matrix: Drawn) -> None:
    for name in ("settings", "combinations"):
        texts = matrix.sheets[name].axes.texts
        (title,) = (text for text in texts if text.get_fontsize() > 10)
        highest = max(text.get_window_extent().y1 for text in texts if text.get_rotation())
        assert highest <= title.get_window_extent().y0


@pytest.mark.parametrize("name", ["settings", "combinations", "tolerance"])
def test_nothing_is_cut_off(matrix: Drawn, name: str) -> None:
    """The picture has room for every element, and a margin."""
    from matplotlib.image import imread

    picture = imread(matrix.folder / f"{name}.png")[:, :, :3]
    drawn = matrix.sheets[name].figure.get_tightbbox()
    assert picture.shape[1] >= drawn.width * DOTS_AN_INCH
    assert picture.shape[0] >= drawn.height * DOTS_AN_INCH
    for edge in (picture[:5], picture[-5:], picture[:, :5], picture[:, -5:]):
        assert (edge == 1).all()
    assert picture.min() < 0.5


def said(sheet: Sheet) -> list[str]:
    """Return the texts of a sheet, each on one line."""
    return [" ".join(text.get_text().split()) for text in sheet.axes.texts]


def test_heat_map_shows_percentages(matrix: Drawn) -> None:
    texts = said(matrix.sheets["settings"])
    assert texts.count("25") == len(KNOWN_PROPERTIES) * len(BY_VALUE)
    assert {"no-skip*", "no-loss", "producer.acks", LONG, "all"} <= set(texts)
    assert any("No verdict changes with producer.linger.ms alone." in text for text in texts)
    assert any("no deployment occurs with every value: topic.flush.ms." in text for text in texts)
    texts = said(matrix.sheets["combinations"])
    assert texts.count("100") == texts.count("?") == len(KNOWN_PROPERTIES) * 2
    assert texts.count("all") == texts.count("producer.acks") == 1, "once for both rows"


def test_bars_show_tolerated_faults(matrix: Drawn) -> None:
    texts = said(matrix.sheets["tolerance"])
    key = ["no fault needed", "1 fault", "2 faults", "3 faults or more", "undecided", "vacuous", "not violated"]
    assert [text for text in texts if text in key] == key
    assert {"200", "1,100", "1,373", LONG} <= set(texts)
    assert "producer.linger.ms" not in texts
    assert any(text.endswith("The same for every value of producer.linger.ms.") for text in texts)
    bars = [patch for patch in matrix.sheets["tolerance"].axes.patches if patch.get_y() == 1.1]
    assert sum(bar.get_width() for bar in bars) == pytest.approx(100)
    assert len(bars) == 6


def test_texts_are_only_texts(tmp_path: Path) -> None:
    """Labels are no formulas, have no control characters, and are cut to a length."""
    name = "$\\frac{1}{$ \x1b[31m" + "x" * 99
    drawn = draw(Influence((), (), (), (), (), [portion(("", name))], TOLERANCE[:1]), tmp_path)
    (label,) = [text for text in said(drawn.sheets["outcomes"]) if text.startswith("$")]
    assert label.isprintable()
    assert label.endswith("…")
    assert len(label) <= LONGEST_LABEL + len(r"\x1b")


@pytest.mark.parametrize(
    ("share", "text"), [(0.0, "0"), (1e-9, "1"), (0.125, "12"), (0.5, "50"), (0.999, "99"), (1.0, "100")]
)
def test_none_and_all_are_told_from_few_and_most(share: float, text: str) -> None:
    assert per_cent(share) == text


def test_colours_of_bars_differ_in_lightness() -> None:
    """Readers who see no hues can distinguish the parts; undecided parts are hatched as well."""
    from matplotlib.colors import to_rgb

    from proofka.reports.figures.tolerance import COLOURS, SAFE

    def lightness(colour: Any) -> float:
        red, green, blue = to_rgb(colour)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    found = sorted(lightness(colour) for colour in COLOURS.values())
    assert all(other - one > 0.1 for one, other in pairwise(found))
    assert list(COLOURS.values()) == sorted(COLOURS.values(), key=lightness)
    assert to_rgb(SAFE)[2] > to_rgb(SAFE)[0], "blue, against the oranges"
