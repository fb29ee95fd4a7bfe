"""The words a model is written in: variables with finite domains, guarded actions, systems, bounded logs."""

from model.language.actions import Action, Effect, Sentence
from model.language.logs import Log, Slot, log
from model.language.system import Display, TransitionSystem, describe
from model.language.variables import State, Variable, flag

__all__ = [
    "Action",
    "Display",
    "Effect",
    "Log",
    "Sentence",
    "Slot",
    "State",
    "TransitionSystem",
    "Variable",
    "describe",
    "flag",
    "log",
]
