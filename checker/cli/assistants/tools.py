"""The tools: what an assistant can ask, and the work of each answer."""

from __future__ import annotations

import threading
from dataclasses import replace

from proofka.checker.cli.assistants import answers
from proofka.checker.cli.assistants.answers import Answer
from proofka.checker.cli.assistants.errors import BadInput
from proofka.checker.cli.assistants.workspace import Question, Workspace
from proofka.model.input.input_error import InputError


class Tools:
    """The answers to the calls of an assistant, from the files of a workspace.

    Each method takes ``stop``, which ends an exploration; an answer then says what is undecided.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def check(self, question: Question, stop: threading.Event) -> Answer:
        """Return a verdict for each property of a configuration."""
        return answers.of_check(self._workspace.checked(question, stop))

    def trace(self, question: Question, number: int, stop: threading.Event) -> Answer:
        """Return one counterexample of a configuration, step by step."""
        return answers.of_trace(self._workspace.checked(question, stop), number)

    def explain(self, question: Question, stop: threading.Event) -> Answer:
        """Return the single changes of settings that prevent each violation."""
        from proofka.checker.explanation import preventions

        looked = self._workspace.checked(question, stop)
        found = preventions(looked.deployment, looked.result.verdicts, stop, self._workspace.seconds)
        return answers.of_explain(replace(looked.result, preventions=found))

    def repair(self, question: Question, stop: threading.Event) -> Answer:
        """Return the smallest sets of changes that make the required properties hold."""
        from proofka.checker.repair import Search

        deployment = self._workspace.read(question)
        found = Search(deployment, self._workspace.budget(stop)).repairs()
        return answers.of_repair(deployment, found, stopped=found.stopped)

    def defects(self, word: str) -> Answer:
        """Return known defects by id, product, or release. Raises :class:`BadInput`."""
        from proofka.properties.known_defects.named import NoSuchDefect, defects_named

        try:
            return answers.of_defects(defects_named(word)[1])
        except NoSuchDefect as error:
            raise BadInput(str(error)) from error

    def claim(self, number: str, stop: threading.Event) -> Answer:
        """Return the outcome of a published claim. Raises :class:`BadInput` for an unknown number."""
        from proofka.checker.claims import decide_all
        from proofka.properties.claims.all_claims import find_claims

        try:
            found = find_claims([number])
        except InputError as error:
            raise BadInput(str(error)) from error
        if len(found) != 1:
            raise BadInput(f"{number}: names {len(found)} claims; name one, such as {found[0].id}")
        decided = next(decide_all(found, stop), None)
        if decided is None:
            return {"claim": found[0].says, "outcome": "undecided", "because": "the time limit of the call is over"}
        return answers.of_claim(decided)

    def word(self, word: str) -> Answer:
        """Return the meaning of a property, setting, fault or term. Raises :class:`BadInput`."""
        from proofka.reports.guide.lookup import find, near

        entries = find(word)
        if not entries:
            close = near(word)
            there = f"did you mean {', '.join(close)}?" if close else "Kafka's own words are not listed"
            raise BadInput(f"{word[:100]}: no such word; {there}")
        return answers.of_words(entries)
