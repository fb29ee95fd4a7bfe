"""The plain checker: its size, what it needs, its options, and how it computes terms."""

from __future__ import annotations

import ast
import io
import random
import subprocess
import sys
import tokenize
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.certificates.checkers import PLAIN, ROOT, plain, plain_module
from tests.certificates.forging import with_claim
from tests.certificates.proving import toy_certificate
from tests.certificates.test_forgeries import CODES
from tests.certificates.toy import Action, Property, System, Term, value
from tests.certificates.writing import (
    WORD,
    Certificate,
    Claim,
    Part,
    Set,
    certificate_file,
    members,
    system_text,
)

OLD_PYTHON = (3, 10)
MOST_LINES = 400
MOST_LINES_OF_RUST = 1500


def lines_of_code(path: Path) -> int:
    """Return the number of lines of a Python file without blank lines, comments and docstrings."""
    text = path.read_text(encoding="utf-8")
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef
    documented = [one for one in ast.walk(ast.parse(text)) if isinstance(one, kinds)]
    about = [one.body[0] for one in documented if ast.get_docstring(one)]
    words = {line for one in about for line in range(one.lineno, (one.end_lineno or 0) + 1)}
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    spaces = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    code = (token for token in tokens if token.type not in spaces)
    return len({line for token in code for line in range(token.start[0], token.end[0] + 1)} - words)


def test_the_plain_checker_is_one_short_file() -> None:
    """Blank lines, comments and docstrings are not counted."""
    assert [path.name for path in PLAIN.parent.iterdir() if path.suffix == ".py"] == [PLAIN.name]
    assert lines_of_code(PLAIN) <= MOST_LINES


def test_the_rust_checker_is_short() -> None:
    """Blank lines and comments are not counted, and neither are its unit tests, in certcheck/tests/unit/."""
    files = (ROOT / "certcheck" / "src").glob("*.rs")
    lines = [line.strip() for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    assert len([line for line in lines if line and not line.startswith("//")]) <= MOST_LINES_OF_RUST


def test_the_plain_checker_needs_an_old_python_alone() -> None:
    tree = ast.parse(PLAIN.read_text(encoding="utf-8"), feature_version=OLD_PYTHON)
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert not {name.partition(".")[0] for name in names} - sys.stdlib_module_names


def test_each_rule_is_named_where_a_file_is_refused() -> None:
    tree = ast.parse(PLAIN.read_text(encoding="utf-8"))
    assert {*CODES} <= {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    files = (ROOT / "certcheck" / "src").glob("*.rs")
    rust = "".join(file.read_text(encoding="utf-8") for file in files)
    assert not [code for code in CODES if f'"{code}"' not in rust]


@pytest.fixture
def file(tmp_path: Path) -> str:
    """Return the path of the toy's certificate."""
    path = tmp_path / "toy.cert"
    path.write_bytes(certificate_file(toy_certificate()))
    return str(path)


def test_each_claim_has_a_line(file: str) -> None:
    found = plain([file])
    assert found.status == 0
    assert [line.split(":")[0] for line in found.text.splitlines()][-5:] == [
        "accepted",
        "accepted",
        "lemma",
        "accepted",
        "accepted",
    ]
    assert 'no "early" read' in found.text
    assert "{2 power-loss}" in found.text


def test_the_program_answers_by_its_exit_status(file: str, tmp_path: Path) -> None:
    def run(*arguments: str) -> tuple[int, str]:
        done = subprocess.run([sys.executable, PLAIN, *arguments], capture_output=True, text=True, check=False)
        return done.returncode, done.stderr

    forged = tmp_path / "forged.cert"
    forged.write_bytes(certificate_file(with_claim(toy_certificate(), 0, smallest=[])))
    assert run(file) == (0, "")
    assert run(str(forged)) == (1, "")
    assert run(str(tmp_path / "none.cert")) == (2, "")
    assert run(str(tmp_path)) == (2, "")
    assert run(file, "--systems", str(tmp_path)) == (1, "")
    for name, content in members(toy_certificate()).items():
        if name.endswith(".smt2"):
            (tmp_path / name).write_bytes(content)
    assert run(file, "--systems", str(tmp_path)) == run(file, "--system", str(tmp_path / "system.smt2")) == (0, "")
    assert run(file, "--system", str(forged)) == run(file, "--system", "gone") == (1, "")
    assert run("/dev/zero") == (2, "")
    assert run("--version") == (0, "")
    assert run(file, "--memory", "much")[0] == 2


def test_no_name_of_the_file_reaches_the_terminal_with_its_signs(tmp_path: Path) -> None:
    path = tmp_path / "toy.cert"
    path.write_bytes(certificate_file(with_claim(toy_certificate(), 0, id="\n\u202eaccepted: x")))
    found = plain([str(path)])
    assert found.status == 0
    assert len(found.text.splitlines()) == len(plain([str(path)]).text.splitlines()) == 10
    assert found.text.isascii()


VARIABLES = {"x": (-2, 3, 0), "y": (0, 1, 1), "z": (5, 9, 5)}
COMPARED = ("=", "distinct", "<", "<=", ">", ">=")


def number(dice: random.Random, depth: int) -> Term:
    """Return a random term that is a number."""
    if not depth or dice.random() < 0.2:
        leaves: list[Term] = [*VARIABLES, "named.number", dice.randrange(5)]
        return dice.choice(leaves)
    kind = dice.choice(["+", "-", "minus", "*", "ite"])
    if kind == "ite":
        return "ite", truth(dice, depth - 1), number(dice, depth - 1), number(dice, depth - 1)
    if kind == "minus":
        return "-", number(dice, depth - 1)
    if kind == "*":
        factors: list[Term] = [number(dice, depth - 1), dice.choice([2, 3, ("-", 2)])]
        return "*", *dice.sample(factors, 2)
    return kind, *(number(dice, depth - 1) for _ in range(2 if kind == "-" else dice.choice([2, 3])))


def truth(dice: random.Random, depth: int) -> Term:
    """Return a random term that is a truth value."""
    if not depth or dice.random() < 0.1:
        return dice.choice(["true", "false", "named.truth"])
    kind = dice.choice(["and", "or", "not", "=>", "same", "ite", *COMPARED])
    if kind in COMPARED:
        return kind, number(dice, depth - 1), number(dice, depth - 1)
    operator = dice.choice(["=", "distinct"]) if kind == "same" else kind
    count = {"not": 1, "ite": 3, "and": dice.choice([2, 4]), "or": dice.choice([2, 4])}.get(kind, 2)
    return operator, *(truth(dice, depth - 1) for _ in range(count))


def part_of(state: Mapping[str, int], terms: Mapping[str, tuple[str, Term]], *actions: Action) -> Any:
    """Return a part of the plain checker about a system that begins in a state."""
    variables = {name: (low, high, state[name]) for name, (low, high, _) in VARIABLES.items()}
    always = Property("p", ("=", 0, 0), ("=", 0, 0))
    text = system_text(System(variables, terms, actions, [always])).encode()
    part = plain_module().Part("system.smt2", None, {}, text)
    for name in VARIABLES:
        part.read(["word"])
        part.read(["field", name])
    part.read(["set", []])
    part.read(["claim", ['"', "p"], ['"', "id"], 0])
    part.complete()
    part.moves = part.compiled(part.actions) if actions else None
    return part


@pytest.mark.parametrize("seed", range(150))
def test_terms_have_the_values_of_the_toy_language(seed: int) -> None:
    dice = random.Random(seed)
    depth = dice.choice([2, 4, 7])
    terms: dict[str, tuple[str, Term]] = {
        "named.number": ("Int", ("-", "z", "x")),
        "named.truth": ("Bool", ("<", "x", "y")),
        "number": ("Int", number(dice, depth)),
        "truth": ("Bool", truth(dice, depth)),
    }
    for x in range(-2, 4):
        for y in (0, 1):
            state = {"x": x, "y": y, "z": dice.randrange(5, 10)}
            part = part_of(state, terms, Action("a", "none", "truth", {"x": "x"}))
            assert bool([*part.moves([part.initial])]) == bool(value("truth", state, terms))


@pytest.mark.parametrize("seed", range(40))
def test_next_values_are_those_of_the_toy_language(seed: int) -> None:
    dice = random.Random(seed)
    terms: dict[str, tuple[str, Term]] = {
        "named.number": ("Int", ("-", "z", "x")),
        "named.truth": ("Bool", ("<", "x", "y")),
        "number": ("Int", number(dice, 5)),
        "next": ("Int", ("ite", ("<", "number", -2), -2, ("ite", (">", "number", 3), 3, "number"))),
        "always": ("Bool", ("=", 0, 0)),
    }
    for x in range(-2, 4):
        state = {"x": x, "y": dice.randrange(2), "z": dice.randrange(5, 10)}
        part = part_of(state, terms, Action("a", "none", "always", {"x": "next"}))
        ((_, _, after),) = part.moves([part.initial])
        assert after == part_of({**state, "x": value("next", state, terms)}, terms).initial


def test_a_term_of_many_levels_is_computed() -> None:
    term: Term = "x"
    for level in range(97):
        term = ("-", term) if level % 2 else ("ite", ("=", "y", 1), term, 0)
    terms: dict[str, tuple[str, Term]] = {"deep": ("Bool", ("<", term, 1))}
    for x in range(-2, 4):
        state = {"x": x, "y": 1, "z": 5}
        part = part_of(state, terms, Action("a", "none", "deep", {"x": "x"}))
        assert bool([*part.moves([part.initial])]) == bool(value("deep", state, terms))


def test_an_action_assigns_thousands_of_variables(tmp_path: Path) -> None:
    """Python's compiler fails at an expression with thousands of nested additions."""
    names = [f"v{number}" for number in range(3000)]
    flip = Action("flip", "none", ("=", "v0", 0), {name: ("-", 1, name) for name in names})
    system = System(dict.fromkeys(names, (0, 1, 0)), {}, [flip], [Property("p", ("<", "v0", 0), ("=", "v0", 1))])
    layout = [names[first : first + WORD] for first in range(0, len(names), WORD)]
    states = [(0,) * len(names), (1,) * len(names)]
    part = Part(layout, [Set((), states)], [Claim("p", 0, [], [0])])
    path = tmp_path / "wide.cert"
    path.write_bytes(certificate_file(Certificate(system, {}, [part])))
    assert plain([str(path)]).status == 0
    part = Part(layout, [Set((), states[:1])], [Claim("p", 0, [], [0])])
    path.write_bytes(certificate_file(Certificate(system, {}, [part])))
    assert plain([str(path)]).text.startswith("refused: step: ")


def test_an_id_cannot_imitate_a_verdict(tmp_path: Path) -> None:
    """The printed line of a claim begins with the verdict, and is cut at its end."""
    path = tmp_path / "toy.cert"
    path.write_bytes(certificate_file(with_claim(toy_certificate(), 0, id="x) holds: up to 9 faults" + " " * 1000)))
    (line,) = [line for line in plain([str(path)]).text.splitlines() if "up to 9 faults" in line]
    assert line.startswith("accepted: violated with {2 power-loss}: up to 2 faults: 'no-loss' of system.smt2 (id ")
