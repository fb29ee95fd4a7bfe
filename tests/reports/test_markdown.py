"""The Markdown page has everything for a review, and no input is interpreted as Markdown."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from proofka.reports.markdown import code, escaped, to_markdown
from tests.reports import samples
from tests.reports.golden_files import matches

PAGE = to_markdown(samples.DEPLOYMENT, samples.RESULT, command=samples.COMMAND)


def test_sections() -> None:
    assert re.findall("^## (.*)$", PAGE, re.MULTILINE) == [
        "Verdicts",
        "Bounds",
        "Traces",
        "Assumptions",
        "Notes",
        "Configuration",
        "Again",
        "Cite",
    ]


def test_contents_link_every_section() -> None:
    contents = PAGE.partition("\n## ")[0]
    sections = re.findall("^## (.*)$", PAGE, re.MULTILINE)
    assert re.findall(r"^- \[(.*)\]\(#(.*?)\)", contents, re.MULTILINE) == [(s, s.lower()) for s in sections]
    harmless = to_markdown(samples.DEPLOYMENT, samples.HARMLESS, command=samples.COMMAND)
    assert "(#traces)" not in harmless


def test_the_table_shows_eight_fault_sets_and_the_traces_all() -> None:
    result = replace(samples.RESULT, verdicts=(samples.MANY_SETS,))
    page = to_markdown(samples.DEPLOYMENT, result, command=samples.COMMAND)
    (row,) = (line for line in page.splitlines() if line.startswith("| no-acked-loss |"))
    assert row.count("power-loss}`") == 8
    assert ", `{kill, 8 power-loss}` and 1 more |" in row
    assert len(re.findall(r"^### no-acked-loss: \\{kill, .*power-loss\\}$", page, re.MULTILINE)) == 9


def test_each_trace_folds() -> None:
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(PAGE)
    folded = re.findall(
        r"<details>\s*<summary>(\d+ steps)</summary>\s*<table>.*?</table>\s*</details>", html, re.DOTALL
    )
    assert folded == ["4 steps", "3 steps", "3 steps", "2 steps"]


def test_verdicts_have_fault_sets_bounds_and_ids() -> None:
    assert (
        "| no-acked-loss | yes | ✗ violated | `{kill}`, `{leader-move}`, `{power-loss, 2 slow-follower}` | 98,123 "
        "| any 2 faults, more fault sets possible, 31 of 286 combinations of 3 | `0123456789abcdef` |"
    ) in PAGE


def test_every_trace_is_told() -> None:
    assert PAGE[PAGE.index("\n## Traces") : PAGE.index("\n## Assumptions")].count("\n### ") == 4
    assert "| 3 |  | brokers | **kill**: broker 1 is killed | broker 1: up → down |" in PAGE
    assert (
        "- **no-acked-loss** fails: record 1 was acknowledged, but is not in the log of broker 2, which leads" in PAGE
    )


def test_configuration_has_its_origins() -> None:
    assert "| producer | `acks` | `1` | orders.yaml:12 |" in PAGE
    assert "| producer | `linger.ms` | `5` | orders.yaml:14 | batching delays records but loses none |" in PAGE


def test_the_report_has_the_command_that_repeats_the_check() -> None:
    assert "\n    proofka check orders.yaml\n" in PAGE
    assert "- z3 4.13.0\n" in PAGE


def test_a_pass_has_no_traces() -> None:
    page = to_markdown(samples.DEPLOYMENT, samples.HARMLESS, command=samples.COMMAND)
    assert "## Traces" not in page
    assert "\n\n\n" not in page + PAGE


def test_input_is_never_markdown() -> None:
    page = to_markdown(samples.HOSTILE_DEPLOYMENT, samples.HOSTILE_RESULT, command=f"proofka check '{samples.HOSTILE}'")
    assert "\x1b" not in page
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(page)
    assert "<i>" not in html
    assert (
        re.findall(r"<td>(.*?)</td>", html).count("<code>[bold red]a|b[/] `x` &lt;i&gt;\\x1b[31m\\nsecond</code>") == 6
    )
    tables = [table.split("<tr>")[1:] for table in html.split("<table>")[1:]]
    assert all(len({row.count("<td") + row.count("<th") for row in table}) == 1 for table in tables)


@pytest.mark.parametrize(
    ("text", "shown"), [("a`b", "``a`b``"), ("`a", "`` `a ``"), ("a|b", "`a\\|b`"), ("", ""), ("x\ny", "`x\\ny`")]
)
def test_code(text: str, shown: str) -> None:
    assert code(text) == shown


def test_escaped() -> None:
    assert escaped("a_b*c|<i>") == r"a\_b\*c\|\<i\>"


def test_golden() -> None:
    matches("result.md", PAGE)
