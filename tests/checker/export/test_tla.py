"""The text of TLA+ modules: what a reader sees, and what TLC would reject."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from proofka.checker.export.exported import Exported, export_deployment
from proofka.checker.export.tla import TlaModule
from tests.checker.asking import example
from tests.checker.export.systems import turnstile

GOLDEN = Path(__file__).parent / "golden"
WORDS = {"MODULE", "EXTENDS", "Integers", "VARIABLES", "UNCHANGED", "IF", "THEN", "ELSE", "LET", "IN", "TRUE", "FALSE"}


def test_a_small_module_word_by_word() -> None:
    module = TlaModule(turnstile())
    assert module.text() == (GOLDEN / "turnstile_1.tla").read_text(encoding="utf-8")
    assert module.configuration() == (GOLDEN / "turnstile_1.cfg").read_text(encoding="utf-8")


@pytest.fixture(scope="module", params=["acks-0", pytest.param("orders", marks=pytest.mark.slow)])
def module(request: pytest.FixtureRequest) -> TlaModule:
    return TlaModule(export_deployment(example(request.param), total=1))


def operators(module: TlaModule) -> dict[str, str]:
    """Name -> body of every operator at the top level, without comments."""
    text = "\n".join(line for line in module.text().splitlines() if not line.lstrip().startswith("\\*"))
    bodies = re.split(r"^(\w+) ==", text, flags=re.MULTILINE)
    return dict(zip(bodies[1::2], bodies[2::2], strict=True))


@pytest.mark.slow
def test_every_action_assigns_every_variable_once(module: TlaModule) -> None:
    found = operators(module)
    tuples = {name: re.findall(r"\w+", body) for name, body in found.items() if body.lstrip().startswith("<<")}
    variables = list(module.lexicon.variables.values())
    assert tuples["vars"] == variables
    for name in module.lexicon.actions.values():
        body = found[name]
        primed = re.findall(r"(\w+)' = ", body)
        # What changes under a condition is named again where the condition does not hold.
        otherwise = [
            part
            for listed in re.findall(r"ELSE UNCHANGED <<(.*?)>>", body, re.S)
            for part in re.findall(r"\w+", listed)
        ]
        (same,) = re.findall(r"/\\ UNCHANGED <<(.*?)>>\s*\Z", body, re.S) or [""]
        unchanged = [one for part in re.findall(r"\w+", same) for one in tuples.get(part, [part])]
        assert set(otherwise) <= set(primed)
        assert sorted(primed + unchanged) == sorted(variables)


def test_parentheses_are_balanced_and_lines_are_not_long(module: TlaModule) -> None:
    for name, body in operators(module).items():
        for opening, closing in (("(", ")"), ("<<", ">>"), ("LET ", "IN  ")):
            assert body.count(opening) == body.count(closing), name
    assert max(map(len, module.text().splitlines())) <= 140


def test_every_name_is_defined_before_its_use(module: TlaModule) -> None:
    """Every name is a variable, an operator above, a name of a LET, or a word of the language."""
    text = re.sub(r"\\\*.*", "", module.text())
    known = WORDS | set(module.lexicon.variables.values()) | {module.name}
    for name, body in operators(module).items():
        local = set(re.findall(r"(?:LET |^ +)(\w+) == ", body, flags=re.MULTILINE))
        used = set(re.findall(r"(?<![\w\\])[A-Za-z]\w*", re.sub(r"\\in\b|_vars\b", "", re.sub(r"\\\*.*", "", body))))
        assert used <= known | local, name
        known.add(name)
    assert text.count("MODULE") == 1


def test_names_and_words_are_the_models_own(module: TlaModule) -> None:
    text = module.text()
    assert "\nsend_batch_0 ==\n    /\\ batch_0_fate = Unsent\n    /\\ batch_0_fate' = Buffered\n" in text
    assert "\nNoAckedLoss ==" in text
    assert (
        "\\* no-acked-loss: A record whose send was acknowledged is in the log of every leader from then on.\n" in text
    )
    assert "\nRecoverability ==" in text and "Recoverability" not in module.configuration()
    assert "fault: kill (a broker process dies (SIGKILL, OOM); its page cache survives)" in text


def test_the_text_does_not_explode(module: TlaModule) -> None:
    assert len(module.text()) < 1_200_000


def test_no_actions_at_all() -> None:
    exported = turnstile()
    still = Exported("still", type(exported.system)("still", exported.system.variables, ()), {})
    assert "Next == FALSE /\\ UNCHANGED vars" in TlaModule(still).text()
