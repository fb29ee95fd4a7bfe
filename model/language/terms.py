"""The constructors of terms: Z3's own terms, made without Z3's Python layer.

That layer casts and compares the sorts of every argument, and asks for an error code after every call, which is three
quarters of the time to build a model. The constructors here have Z3's names and make the same terms. They take
conditions, whole numbers and Python's ``bool`` and ``int``; :class:`TypeError` says that Z3 refused an argument.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import Any, overload

import z3
from z3.z3types import Ast, ContextObj, FuncDecl

from proofka.model.language.z3_library import function

_CONTEXT = z3.main_ctx()
_REF = _CONTEXT.ref()
_SEVERAL = ctypes.POINTER(Ast)
_CONDITIONS, _NUMBERS = z3.BoolSort(), z3.IntSort()

_inc_ref = function("Z3_inc_ref", None, ContextObj, Ast)
_dec_ref = function("Z3_dec_ref", None, ContextObj, Ast)
_and = function("Z3_mk_and", Ast, ContextObj, ctypes.c_uint, _SEVERAL)
_or = function("Z3_mk_or", Ast, ContextObj, ctypes.c_uint, _SEVERAL)
_distinct = function("Z3_mk_distinct", Ast, ContextObj, ctypes.c_uint, _SEVERAL)
_add = function("Z3_mk_add", Ast, ContextObj, ctypes.c_uint, _SEVERAL)
_sub = function("Z3_mk_sub", Ast, ContextObj, ctypes.c_uint, _SEVERAL)
_not = function("Z3_mk_not", Ast, ContextObj, Ast)
_implies = function("Z3_mk_implies", Ast, ContextObj, Ast, Ast)
_ite = function("Z3_mk_ite", Ast, ContextObj, Ast, Ast, Ast)
_eq = function("Z3_mk_eq", Ast, ContextObj, Ast, Ast)
_lt = function("Z3_mk_lt", Ast, ContextObj, Ast, Ast)
_le = function("Z3_mk_le", Ast, ContextObj, Ast, Ast)
_gt = function("Z3_mk_gt", Ast, ContextObj, Ast, Ast)
_ge = function("Z3_mk_ge", Ast, ContextObj, Ast, Ast)
_substitute = function("Z3_substitute", Ast, ContextObj, Ast, ctypes.c_uint, _SEVERAL, _SEVERAL)
_simplify = function("Z3_simplify", Ast, ContextObj, Ast)
_apply = function("Z3_mk_app", Ast, ContextObj, FuncDecl, ctypes.c_uint, _SEVERAL)
_argument = function("Z3_get_app_arg", Ast, ContextObj, Ast, ctypes.c_uint)
_is_numeral = function("Z3_is_numeral_ast", ctypes.c_bool, ContextObj, Ast)


class _Made(z3.AstRef):  # type: ignore[misc]  # Z3 has no types
    """A term that was made here: Z3 counts its references without Z3's Python layer."""

    def __init__(self, ast: Ast) -> None:
        if not ast:
            raise TypeError("Z3 refused the arguments of a term: a number where a condition belongs, or the reverse")
        self.ast = ast
        self.ctx = _CONTEXT
        _inc_ref(_REF, ast)

    def __del__(self, dec_ref: Any = _dec_ref, ref: ContextObj = _REF) -> None:
        # A refused term has no context. At the end of the process, the context or this module can be gone first.
        if getattr(self, "ctx", None) is not None and self.ctx.ctx is not None:
            dec_ref(ref, self.ast)

    def as_ast(self) -> Ast:
        return self.ast

    def eq(self, other: z3.AstRef) -> bool:
        """Tell whether both are one term: Z3 keeps equal terms once."""
        return bool(self.ast.value == other.ast.value)


class Condition(_Made, z3.BoolRef):  # type: ignore[misc]
    """A Boolean term."""


class Number(_Made, z3.ArithRef):  # type: ignore[misc]
    """A whole number as a term, with Python's operators."""

    __hash__ = z3.ArithRef.__hash__

    def __eq__(self, other: object) -> Condition:
        return Condition(_eq(_REF, self.ast, _number(other)))

    def __ne__(self, other: object) -> Condition:
        return Condition(_distinct(_REF, 2, _both(self, other)))

    def __lt__(self, other: object) -> Condition:
        return Condition(_lt(_REF, self.ast, _number(other)))

    def __le__(self, other: object) -> Condition:
        return Condition(_le(_REF, self.ast, _number(other)))

    def __gt__(self, other: object) -> Condition:
        return Condition(_gt(_REF, self.ast, _number(other)))

    def __ge__(self, other: object) -> Condition:
        return Condition(_ge(_REF, self.ast, _number(other)))

    def __add__(self, other: object) -> Number:
        return Number(_add(_REF, 2, _both(self, other)))

    def __radd__(self, other: object) -> Number:
        return Number(_add(_REF, 2, _both(other, self)))

    def __sub__(self, other: object) -> Number:
        return Number(_sub(_REF, 2, _both(self, other)))

    def __rsub__(self, other: object) -> Number:
        return Number(_sub(_REF, 2, _both(other, self)))


class _Numeral(Number, z3.IntNumRef):  # type: ignore[misc]
    """A whole number's value."""


def _number(term: Any) -> Ast:
    return IntVal(term).ast if isinstance(term, int) else term.ast


def _condition(term: Any) -> Ast:
    return BoolVal(term).ast if isinstance(term, bool) else term.ast


def _both(first: Any, second: Any) -> Any:
    return (Ast * 2)(_number(first), _number(second))


def Int(name: str) -> Number:
    """Return the variable of this name."""
    return Number(z3.Int(name).ast)


@cache
def IntVal(value: int) -> _Numeral:
    """Return the term of a whole number."""
    return _Numeral(z3.IntVal(int(value)).ast)


@cache
def BoolVal(value: bool) -> Condition:
    """Return the condition that always holds, or the one that never does."""
    return Condition(z3.BoolVal(bool(value)).ast)


def And(*conditions: z3.BoolRef | bool) -> Condition:
    """Return the condition that all of ``conditions`` hold."""
    return Condition(_and(_REF, len(conditions), _conditions(conditions)))


def Or(*conditions: z3.BoolRef | bool) -> Condition:
    """Return the condition that one of ``conditions`` holds."""
    return Condition(_or(_REF, len(conditions), _conditions(conditions)))


def _conditions(terms: Sequence[z3.BoolRef | bool]) -> Any:
    return (Ast * len(terms))(*map(_condition, terms))


def Not(condition: z3.BoolRef | bool) -> Condition:
    """Return the condition that ``condition`` does not hold."""
    return Condition(_not(_REF, _condition(condition)))


def Implies(premise: z3.BoolRef | bool, conclusion: z3.BoolRef | bool) -> Condition:
    """Return the condition that ``conclusion`` holds where ``premise`` does."""
    return Condition(_implies(_REF, _condition(premise), _condition(conclusion)))


@overload
def If(condition: z3.BoolRef | bool, then: z3.BoolRef, otherwise: z3.BoolRef | bool) -> Condition: ...
@overload
def If(condition: z3.BoolRef | bool, then: z3.ArithRef | int, otherwise: z3.ArithRef | int) -> Number: ...
def If(condition: z3.BoolRef | bool, then: Any, otherwise: Any) -> Condition | Number:
    """Return ``then`` where the condition holds, and ``otherwise`` elsewhere."""
    if isinstance(then, z3.BoolRef) or isinstance(otherwise, z3.BoolRef):
        return Condition(_ite(_REF, _condition(condition), _condition(then), _condition(otherwise)))
    return Number(_ite(_REF, _condition(condition), _number(then), _number(otherwise)))


def Sum(*numbers: z3.ArithRef | int) -> Number:
    """Return the sum of ``numbers``, of which there is at least one."""
    return Number(_add(_REF, len(numbers), (Ast * len(numbers))(*map(_number, numbers))))


class Filling:
    """Terms to put in the place of variables, for many terms in a row."""

    def __init__(self, pairs: Sequence[tuple[z3.ExprRef, z3.ExprRef]]) -> None:
        self._kept_alive = tuple(pairs)
        self._count = len(pairs)
        array = Ast * len(pairs)
        self._variables = array(*(variable.ast for variable, _ in pairs))
        self._values = array(*(value.ast for _, value in pairs))

    def filled(self, condition: z3.BoolRef) -> Condition:
        """Return the condition with the variables replaced."""
        return Condition(self._filled(condition.ast).ast)

    def simplified(self, term: z3.ExprRef) -> Condition | Number:
        """Return the term with the variables replaced, as Z3 simplifies it."""
        return _as(term, _simplify(_REF, self._filled(term.ast).ast))

    def each_simplified(self, terms: Sequence[z3.ExprRef]) -> list[Condition | Number]:
        """Return what :meth:`simplified` returns for each term: Z3 visits once the parts that terms share."""
        different = {term.ast.value: term for term in terms}
        if not different:
            return []
        sorts = (_CONDITIONS if isinstance(term, z3.BoolRef) else _NUMBERS for term in different.values())
        together = z3.Function("terms", *sorts, _CONDITIONS)
        arguments = (Ast * len(different))(*different)
        joined = _Made(_apply(_REF, together.ast, len(different), arguments))
        simple = _Made(_simplify(_REF, self._filled(joined.ast).ast))
        found = {
            key: _as(term, _argument(_REF, simple.ast, place)) for place, (key, term) in enumerate(different.items())
        }
        return [found[term.ast.value] for term in terms]

    def _filled(self, ast: Ast) -> _Made:
        return _Made(_substitute(_REF, ast, self._count, self._variables, self._values))


def _as(term: z3.ExprRef, ast: Ast) -> Condition | Number:
    """Return the Z3 term as a condition or a number, whichever ``term`` is."""
    if isinstance(term, z3.BoolRef):
        return Condition(ast)
    return _Numeral(ast) if _is_numeral(_REF, ast) else Number(ast)
