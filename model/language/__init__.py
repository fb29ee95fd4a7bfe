"""The language of a model: variables with finite domains, guarded actions, clocks, systems, logs, names."""

import z3.z3

from model.durations import Duration, Quantity
from model.language.actions import Action, ActionKey, Effect, Sentence
from model.language.canonical import Permutation, Ranked, Symmetry, Unread
from model.language.clocks import Clock, ClockKey, Need, Needs
from model.language.logs import Log, Slot, log
from model.language.system import Display, TransitionSystem, describe
from model.language.variables import State, Variable, flag, present, variables_of

__all__ = [
    "Action",
    "ActionKey",
    "Clock",
    "ClockKey",
    "Display",
    "Duration",
    "Effect",
    "Log",
    "Need",
    "Needs",
    "Permutation",
    "Quantity",
    "Ranked",
    "Sentence",
    "Slot",
    "State",
    "Symmetry",
    "TransitionSystem",
    "Unread",
    "Variable",
    "describe",
    "flag",
    "log",
    "present",
    "variables_of",
]

# Z3's Python layer checks the arguments of every call before Z3 does: a third of the time to build terms.
z3.z3.Z3_DEBUG = False
