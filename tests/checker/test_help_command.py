"""``proofka help``, what the shells complete, the man page, and that none of it waits for what is heavy."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from proofka.checker.cli import app
from proofka.checker.cli.completing import complete_assumption, complete_word
from proofka.checker.reductions.choice import Reduction
from proofka.model.deployment.options import OPTION_KEYS
from proofka.model.deployment.required_properties import KNOWN_PROPERTIES
from proofka.reports.guide.entry import table
from scripts import write_man_page

ROOT = Path(__file__).parents[2]
HEAVY = {"z3", "numba", "llvmlite", "matplotlib", "numpy", "ruamel", "jinja2", "networkx", "jsonschema", "tree_sitter"}
COMMANDS = sorted(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


def proofka(*words: str, width: int = 80) -> Any:
    return CliRunner(env={"COLUMNS": str(width)}).invoke(app, list(words))


def test_a_word_is_explained() -> None:
    ran = proofka("help", "min.insync.replicas")
    assert ran.exit_code == 0
    assert ran.stdout.startswith("── min.insync.replicas: setting ")


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("handed-off", "--assume processing=handed-off"),
        ("resend", "--assume on_restart=resend"),
        ("epochs", "--assume bounds.epochs=VALUE"),
        ("!3", "proofka defects ID explains"),
        ("covered-faults", "changes no verdict"),
        ("P06", "if          enable.idempotence=true is set,"),
        ("B04", "if          min.insync.replicas exceeds the number of replicas"),
    ],
)
def test_each_word_of_an_answer_is_explained(word: str, said: str) -> None:
    ran = proofka("help", word)
    assert ran.exit_code == 0
    assert said in ran.stdout


def test_every_reduction_is_explained() -> None:
    assert [row["reduction"] for row in table("reductions")] == list(Reduction)


def test_no_rule_refers_to_another_rule_for_its_condition() -> None:
    assert not [row["id"] for row in table("rules") if "same as" in row["condition"]]


def test_a_code_of_a_refusal_is_explained() -> None:
    ran = proofka("help", "N01")
    assert ran.exit_code == 0
    assert ran.stdout.startswith("── N01: not modelled yet ")
    assert all(f"\n  {label} " in ran.stdout for label in ("of", "what", "why", "instead"))
    assert "N01" in complete_word("N0")


def test_a_word_with_a_blank_needs_no_quotes() -> None:
    assert proofka("help", "in", "time").stdout == proofka("help", "in time").stdout
    assert proofka("help", "in", "time").exit_code == 0


def test_help_without_a_word_lists_all_topics() -> None:
    ran = proofka("help")
    assert ran.exit_code == 0
    for word in (*COMMANDS, *KNOWN_PROPERTIES):
        assert word in ran.stdout.replace("\n  ", " ")


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("min.insync.replica", "did you mean min.insync.replicas"),
        ("\x1b[31m", "no such word; proofka help lists"),
        ("x" * 5000, "no such word"),
    ],
)
def test_no_such_word_is_one_line(word: str, said: str) -> None:
    ran = proofka("help", word)
    assert ran.exit_code == 2
    assert ran.stdout == ""
    assert said in ran.stderr
    assert ran.stderr.count("\n") == 1
    assert "\x1b" not in ran.stderr


def test_a_command_is_pointed_to() -> None:
    assert proofka("help", "show").stdout == "show is a command: proofka show --help\n"


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_of_commands_fits(name: str, width: int) -> None:
    group: Any = typer.main.get_command(app)
    command = group.commands[name] if name else group
    lines = command.get_help(typer.Context(command, info_name=f"proofka {name}", terminal_width=width)).splitlines()
    assert len(lines) > 3
    longest = max(lines, key=len)
    assert len(longest) <= width, longest


def test_every_option_has_a_help_text() -> None:
    group: Any = typer.main.get_command(app)
    for name, command in group.commands.items():
        assert command.help, name
        for parameter in command.params:
            assert getattr(parameter, "help", None), (name, parameter.name)


# Completion, as the shells ask for it.


def completed(shell: str, words: str) -> list[str]:
    """Return the completions that the program offers to a shell, by typer's protocol."""
    count = len(words.split(" ")) - 1
    asked = {
        "bash": {"COMP_WORDS": words, "COMP_CWORD": str(count)},
        "zsh": {"_TYPER_COMPLETE_ARGS": words},
        "fish": {"_TYPER_COMPLETE_ARGS": words, "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
    }[shell]
    program = "import sys; sys.argv[0] = 'proofka'; from proofka.checker.cli import main; main()"
    environment = {**os.environ, **asked, "_PROOFKA_COMPLETE": f"complete_{shell}"}
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in ran.stderr
    if shell == "zsh":
        return re.findall(r'"((?:[^"\\]|\\.)*)"', ran.stdout)
    return [line.split("\t")[0] for line in ran.stdout.split("\n") if line]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete(shell: str) -> None:
    assert set(completed(shell, "proofka check --require no-s")) == {"no-skip", "no-silent-loss", "no-stored-failure"}


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("proofka che", {"check"}),
        ("proofka help power", {"power-loss"}),
        ("proofka check --assume processing=h", {"processing=handed-off"}),
        ("proofka check --without c", {"cone-of-influence", "covered-faults"}),
        ("proofka check --with sym", {"symmetry"}),
        ("proofka check --engine s", {"spark"}),
    ],
)
def test_shells_get_completions(words: str, offered: set[str]) -> None:
    assert set(completed("fish", words)) == offered


def test_completion_is_offered() -> None:
    said = proofka("--help").stdout
    assert "--install-completion" in said
    assert "--show-completion" in said


def test_assumptions_are_completed() -> None:
    assert complete_assumption("") == [f"{key}=" for key in OPTION_KEYS]
    assert complete_assumption("on_s") == ["on_send_error=", "on_stop="]
    assert complete_assumption("proce") == ["processing=", "processing_time="]
    assert complete_assumption("sink=") == [
        f"sink={value}"
        for value in ("plain", "idempotent", "by-offset", "transactional", "kafka", "in-memory", "snapshots")
    ]
    assert complete_assumption("commit") == [
        f"commit={value}" for value in ("before", "after", "async", "finished", "delivered", "never")
    ]
    assert complete_assumption("faults.kill=") == [f"faults.kill={count}" for count in ("0", "1", "2", "3", "any")]
    assert complete_assumption("bounds.records=") == ["bounds.records=1", "bounds.records=2", "bounds.records=3"]
    assert complete_assumption("network") == ["network="]
    assert complete_assumption("nothing=") == []


def test_words_are_completed_in_any_case() -> None:
    assert "ProducerLinger" in complete_word("producerl")


# How long it takes: what is not loaded costs nothing.


@pytest.mark.parametrize("words", [["help"], ["help", "acks"], ["--help"]])
def test_nothing_heavy_is_loaded(words: list[str]) -> None:
    program = (
        "import sys; from proofka.checker.cli import app\n"
        f"try: app({words!r})\n"
        "except SystemExit: pass\n"
        "print(*{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not HEAVY.intersection(ran.stderr.split())


def test_nothing_heavy_is_loaded_to_complete() -> None:
    program = (
        "import sys; from proofka.checker.cli import app, completing as c\n"
        "for complete in (c.complete_word, c.complete_property, c.complete_assumption, c.complete_faults,\n"
        "                 c.complete_switch_on, c.complete_switch_off): assert complete('')\n"
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not HEAVY.intersection(ran.stdout.split())


def test_commands_are_listed_without_the_model() -> None:
    """A wrong option or a version takes only the time of starting Python and typer."""
    program = "import sys, proofka.checker.cli; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not [name for name in ran.stdout.split() if name.startswith("proofka.model.deployment.")]


# The man page.


def test_the_man_page_is_that_of_the_commands() -> None:
    """Otherwise: python scripts/write_man_page.py"""
    assert write_man_page.PAGE.read_text(encoding="utf-8") == write_man_page.text()


def test_the_man_page_has_every_command_and_option() -> None:
    page = write_man_page.text().replace("\\-", "-")
    group: Any = typer.main.get_command(app)
    for name, command in group.commands.items():
        section = page.partition(f".SS proofka {name} ")[2].partition(".SS ")[0]
        for parameter in command.params:
            if parameter.param_type_name == "option" and not parameter.hidden:
                assert parameter.opts[0] in section, (name, parameter.opts)
    assert not re.search(r"^'", page, re.MULTILINE)


def test_a_number_of_a_rule_and_of_a_claim_is_said_to_be_of_two_things() -> None:
    said = proofka("help", "F01").stdout
    assert "only the number is the same" in said
    assert said.count("── F01: ") == 2
    assert "in common" not in proofka("help", "P08").stdout


def test_a_known_defect_has_a_command_of_its_own() -> None:
    assert "proofka defects KAFKA-18723" in proofka("help", "KAFKA-18723").stdout


@pytest.mark.parametrize(
    ("code", "meaning"), [("e01", "An event that no row"), ("T02", "Jars of a release"), ("Q20", "TLS")]
)
def test_code_of_an_error_is_explained(code: str, meaning: str) -> None:
    ran = proofka("help", code)
    assert ran.exit_code == 0
    assert ran.stdout.startswith(f"{code.upper()} is the code of an error: ") and meaning in ran.stdout
