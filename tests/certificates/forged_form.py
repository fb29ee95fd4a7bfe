"""Forgeries of the file: each breaks a rule of the page's section "The file", or needs too much memory."""

from __future__ import annotations

from dataclasses import replace

from tests.certificates.forged_evidence import LOSS, NO_FAULT, ONE_KILL, READABLE, TWO_KILLS
from tests.certificates.forging import (
    Forgery,
    of_certificate,
    of_members,
    of_text,
    with_part,
    with_set,
    with_variable,
)
from tests.certificates.proving import LAYOUT
from tests.certificates.toy import Term
from tests.certificates.writing import Certificate

CLAIMS, SYSTEM = "certificate.txt", "system.smt2"


def with_term(certificate: Certificate, term: Term, sort: str = "Int", name: str = "new") -> Certificate:
    """Return a certificate of a system with one term more, which nothing reads."""
    system = certificate.system
    return replace(certificate, system=replace(system, terms={**system.terms, name: (sort, term)}))


def with_wide_variables(certificate: Certificate, number: int) -> Certificate:
    """Return a certificate whose first part keeps more variables in one word, which have 14 bits each."""
    wide = [f"wide{place}" for place in range(number)]
    for name in wide:
        certificate = with_variable(certificate, name, (0, 2**14 - 1, 0))
    zeros, old = [0] * number, certificate.parts[LOSS].sets
    sets = [replace(one, states=[(*state, *zeros) for state in one.states]) for one in old]
    return with_part(certificate, LOSS, layout=(*LAYOUT, wide), sets=sets)


def nested(levels: int) -> Term:
    """Return a term with this many levels."""
    term: Term = "true"
    for _ in range(levels - 1):
        term = ("not", term)
    return term


def with_chain(certificate: Certificate, levels: int) -> Certificate:
    """Return a certificate of a system with a term whose names stand for this many levels."""
    chain: dict[str, tuple[str, Term]] = {"n1": ("Bool", ("not", "true"))}
    for level in range(2, levels):
        chain[f"n{level}"] = "Bool", ("not", f"n{level - 1}")
    system = certificate.system
    return replace(certificate, system=replace(system, terms={**system.terms, **chain}))


def nested_text(all_members: dict[str, bytes], levels: int) -> dict[str, bytes]:
    """Return members with a system whose term has this many levels, without recursion."""
    text = b"(define-fun deep () Bool " + b"(not " * levels + b"true" + b")" * levels + b")\n"
    at = all_members[SYSTEM].index(b"(define-fun")
    return {**all_members, SYSTEM: all_members[SYSTEM][:at] + text + all_members[SYSTEM][at:]}


def first_edit(all_members: dict[str, bytes], old: str, new: str) -> dict[str, bytes]:
    """Return members with the first one of several equal pieces of the claims replaced."""
    assert old.encode() in all_members[CLAIMS]
    return {**all_members, CLAIMS: all_members[CLAIMS].replace(old.encode(), new.encode(), 1)}


def without_set(certificate: Certificate, index: int) -> Certificate:
    """Return a certificate whose first part lacks a set."""
    sets = [one for number, one in enumerate(certificate.parts[LOSS].sets) if number != index]
    return with_part(certificate, LOSS, sets=sets)


def with_row_twice(certificate: Certificate, index: int) -> Certificate:
    """Return a certificate with the first state of a set also at its end."""
    states = certificate.parts[LOSS].sets[index].states
    return with_set(certificate, LOSS, index, states=[*states, states[0]])


def with_late_limits(all_members: dict[str, bytes]) -> dict[str, bytes]:
    """Return members whose limits stand behind the combinations that have them."""
    limits = f"{LIMIT_TEXT}\n".encode()
    assert limits in all_members[CLAIMS]
    return {**all_members, CLAIMS: all_members[CLAIMS].replace(limits, b"") + limits}


def with_unneeded_ranks(certificate: Certificate) -> Certificate:
    """Return a certificate with ranks in a part without a goal."""
    ranks = [0] * len(certificate.parts[LOSS].sets[NO_FAULT].states)
    return with_set(certificate, LOSS, NO_FAULT, ranks=ranks)


def in_system(name: str, old: str, new: str) -> Forgery:
    """Forge a piece of the system."""
    return of_text("format", name, SYSTEM, {old: new})


def in_claims(name: str, old: str, new: str) -> Forgery:
    """Forge a piece of `certificate.txt`."""
    return of_text("format", name, CLAIMS, {old: new})


def in_first(name: str, old: str, new: str) -> Forgery:
    """Forge the first one of several equal pieces of `certificate.txt`."""
    return of_members("format", name, lambda found: first_edit(found, old, new))


FIRST_SET = '(set ())\n(rows "0/0.0")'
KILL_SET = '(set (kill))\n(rows "0/1.0")\n(rows "0/1.1")'
LIMIT_TEXT = "(limit erase 0)\n(limit kill 2)\n(limit power-loss 2)"
TRACE_TEXT = "(smallest (power-loss power-loss) 0 2 5 14 15)"
EARLY_PART = '(system "system.1.smt2")'
SMALL = (-(2**15), 2**15 - 1, 0)

SYSTEMS = (
    in_system("another version of SMT-LIB", "2.6", "2.7"),
    in_system("another logic", "QF_LIA", "QF_NIA"),
    in_system("a text before the first command", "(set-info :smt-lib-version", " (set-info :smt-lib-version"),
    in_system("the logic is a string", "QF_LIA", '"QF_LIA"'),
    in_system("a variable has no domain", "(set-info :variable (drift (- 1) 1 0))", ""),
    in_system("a domain is one of another variable", "(set-info :variable (drift", "(set-info :variable (seen"),
    in_system("a command is unknown", "(define-fun g0 ()", "(assert true)\n(define-fun g0 ()"),
    in_system("a comment hides no carriage return", "(define-fun g0 ()", "; comment\r(check-sat)\n(define-fun g0 ()"),
    in_system("a term has a parameter", "(define-fun g0 ()", "(define-fun g0 ((x Int))"),
    in_system("a term has another sort", "(define-fun g0 () Bool", "(define-fun g0 () Int"),
    in_system("a term has an unknown sort", "(define-fun g0 () Bool", "(define-fun g0 () Real"),
    in_system("a term has its own name", "(define-fun g9 () Bool (= 0 0))", "(define-fun g9 () Bool g9)"),
    in_system(
        "a term reads a later one", "(define-fun g0 () Bool", "(define-fun g0 () Bool g1)(define-fun old () Bool"
    ),
    in_system("a quoted symbol", "(define-fun g9 () Bool (= 0 0))", "(define-fun g9 () Bool (= |seen| 0))"),
    in_system("a numeral with a leading 0", "(define-fun g9 () Bool (= 0 0))", "(define-fun g9 () Bool (= 00 0))"),
    in_system("a numeral of 19 digits", "(define-fun g9 () Bool (= 0 0))", f"(define-fun g9 () Bool (= {10**18} 0))"),
    in_system(
        "a numeral of 500,000 digits",
        "(define-fun g9 () Bool (= 0 0))",
        f"(define-fun g9 () Bool (= {'1' * 500_000} 0))",
    ),
    in_system("a decimal", "(define-fun g9 () Bool (= 0 0))", "(define-fun g9 () Bool (= 2.6 0))"),
    in_system("an operator alone", "(define-fun g9 () Bool (= 0 0))", "(define-fun g9 () Bool ())"),
    in_system("an operator that is a list", "(define-fun g9 () Bool (= 0 0))", "(define-fun g9 () Bool ((not) true))"),
    in_system("a parenthesis is missing", "(define-fun g9 () Bool (= 0 0))", "(define-fun g9 () Bool (= 0 0)"),
    in_system("a parenthesis too many", "(define-fun g9 () Bool (= 0 0))", "(define-fun g9 () Bool (= 0 0)))"),
    in_system("a string without an end", '"turn"', '"turn'),
    in_system("a control sign", '"turn"', '"turn\x1b[2J"'),
    in_system("a command that is no list", "(set-logic QF_LIA)", "(set-logic QF_LIA) exit"),
    in_system("a domain has a fourth number", "(drift (- 1) 1 0)", "(drift (- 1) 1 0 0)"),
    in_system("a string touches a name", '"turn"', '"turn"x'),
    in_system("a name touches a string", '"turn"', 'x"turn"'),
    in_system("an action comes twice", "(set-info :action (9 ", "(set-info :action (8 "),
    in_system("an action's name is a symbol", '"turn"', "turn"),
    in_system("two actions share a name", '"turn"', '"read"'),
    in_system("a guard is a variable", "none g9)", "none seen)"),
    in_system("a guard is a number", "none g9)", "none u9.drift)"),
    in_system("a guard is an unknown name", "none g9)", "none g99)"),
    in_system("an action has updates of its own", "none g9)", "none g9 (drift u9.drift))"),
    in_system("a next value is a truth value", "(drift u9.drift)", "(drift g9)"),
    in_system("a next value is missing", "(drift u9.drift)", "(drift)"),
    in_system("a variable is assigned twice", "(drift u9.drift))", "(drift u9.drift)) (set-info :next (drift 0))"),
    in_system("an unknown variable is assigned", "(drift u9.drift)", "(draft u9.drift)"),
    in_system("a term is assigned", "(drift u9.drift)", "(g9 u9.drift)"),
    in_system(
        "a variable is assigned by no action",
        "(set-info :action (0 ",
        "(set-info :next (drift 1))\n(set-info :action (0 ",
    ),
    in_system("a property has an unknown term", '("no-loss" p0 w0)', '("no-loss" p9 w0)'),
    in_system("a witness is a number", '("no-loss" p0 w0)', '("no-loss" p0 u9.drift)'),
    in_system("two properties share a name", '"no ""early"" read"', '"no-loss"'),
    in_system("a property and a goal share a name", '"readable"', '"no-loss"'),
    of_members("format", "the system is not UTF-8", lambda found: {**found, SYSTEM: found[SYSTEM] + b"; \xff\n"}),
    of_certificate("format", "an initial value is outside its domain", lambda c: with_variable(c, "drift", (0, 1, -1))),
    of_certificate("format", "a domain is empty", lambda c: with_variable(c, "drift", (1, -1, 0))),
    of_certificate("format", "a variable has a reserved name", lambda c: with_variable(c, "ite", (0, 1, 0))),
    of_certificate("format", "a term has the name of an operator", lambda c: with_term(c, ("=", 0, 1), "Bool", "and")),
    of_certificate(
        "format", "a term has the name of a truth value", lambda c: with_term(c, ("=", 0, 1), "Bool", "true")
    ),
    of_certificate("format", "a term has the name of a variable", lambda c: with_term(c, ("=", 0, 1), "Bool", "seen")),
    in_system(
        "a term has the name of another one", "(define-fun g1 ()", "(define-fun g0 () Bool true)\n(define-fun g1 ()"
    ),
    of_certificate("format", "a term has an unknown name", lambda c: with_term(c, ("+", "nothing", 1))),
    of_certificate("format", "a term has an unknown operator", lambda c: with_term(c, ("mod", "seen", 1))),
    of_certificate("format", "a sum of a truth value", lambda c: with_term(c, ("+", "true", 1))),
    of_certificate("format", "a conjunction of a number", lambda c: with_term(c, ("and", "true", "seen"), "Bool")),
    of_certificate("format", "a conjunction of one term", lambda c: with_term(c, ("and", "true"), "Bool")),
    of_certificate("format", "a sum of one term", lambda c: with_term(c, ("+", "seen"))),
    of_certificate("format", "a difference of three terms", lambda c: with_term(c, ("-", "seen", 1, 1))),
    of_certificate("format", "an equation of two sorts", lambda c: with_term(c, ("=", "seen", "true"), "Bool")),
    of_certificate("format", "an equation of three terms", lambda c: with_term(c, ("=", 1, 1, 1), "Bool")),
    of_certificate("format", "an order of truth values", lambda c: with_term(c, ("<", "true", "true"), "Bool")),
    of_certificate("format", "branches of two sorts", lambda c: with_term(c, ("ite", "true", 1, "true"))),
    of_certificate("format", "a condition that is a number", lambda c: with_term(c, ("ite", 1, 1, 1))),
    of_certificate("format", "a product of two variables", lambda c: with_term(c, ("*", "seen", "seen"))),
    of_certificate("format", "101 parentheses are open", lambda c: with_term(c, nested(101), "Bool")),
    of_members("format", "a term has 1000 levels", lambda found: nested_text(found, 1000)),
    of_members("format", "a term has 100,000 levels", lambda found: nested_text(found, 100_000)),
    of_members("format", "half a million parentheses", lambda found: {**found, SYSTEM: found[SYSTEM] + b"(" * 500_000}),
)
"""Forgeries of the form of `system.smt2`."""

TOO_LARGE = (
    of_certificate("limits", "a domain leaves 16 bits", lambda c: with_variable(c, "drift", (-1, 2**15, 0))),
    of_certificate("limits", "a number leaves 16 bits", lambda c: with_term(c, ("+", "seen", 2**15 - 1))),
    of_certificate("limits", "a number leaves 16 bits below", lambda c: with_term(c, ("-", -(2**15), "seen"))),
    of_certificate(
        "limits", "a number in between leaves 16 bits", lambda c: with_term(c, ("-", ("*", 2**8, 2**8), 2**16))
    ),
    of_certificate(
        "limits",
        "numbers of a domain leave 16 bits in a difference",
        lambda c: with_term(with_variable(c, "drift", SMALL), ("-", "drift")),
    ),
    of_certificate("limits", "a term has 2001 levels by its names", lambda c: with_chain(c, 2001)),
)
"""Systems that the plain checker takes, and that are too large for certcheck."""

CLAIM_TEXTS = (
    in_claims("a list without a name", "(about deployment", "() (about deployment"),
    in_claims("a name without a list", "(about deployment", "about (about deployment"),
    in_claims("words about the file are a number", '(about model "1")', "(about model 1)"),
    in_claims(
        "a comment of the claims hides no carriage return", "(about deployment", "; comment\r(note)\n(about deployment"
    ),
    in_claims("no limits", LIMIT_TEXT, ""),
    of_members("format", "limits stand behind the sets", with_late_limits),
    in_claims("a kind has no limit", "(limit erase 0)\n", ""),
    in_claims("a kind has two limits", "(limit kill 2)", "(limit kill 2) (limit kill 3)"),
    in_claims("a kind of no action has a limit", "(limit kill 2)", "(limit flood 1) (limit kill 2)"),
    in_claims("steps without a fault have the limit 0", "(limit kill 2)", "(limit none 0) (limit kill 2)"),
    in_claims("a limit is negative", "(limit erase 0)", "(limit erase (- 1))"),
    in_claims("a limit is huge and a string", "(limit kill 2)", f'(limit kill "{2**64}")'),
    in_claims("a limit has 19 digits", "(limit kill 2)", f"(limit kill {10**18})"),
    in_claims("an unknown list", EARLY_PART, f"(note)\n{EARLY_PART}"),
    in_claims("an unknown list before the first part", "(limit kill 2)", "(limit kill 2) (note)"),
    in_claims("a command of a system", EARLY_PART, f"{EARLY_PART} (define-fun more () Bool true)"),
    in_claims("an action of a system", EARLY_PART, f'{EARLY_PART} (set-info :action (17 "more" none g0))'),
    in_claims("a system is not there", EARLY_PART, '(system "system.2.smt2")'),
    in_claims("a system has another name", EARLY_PART, '(system "times.json")'),
    in_claims("a system is not listed", EARLY_PART, '(system "system.smt2")'),
    in_claims("a part has no system", EARLY_PART, "(system)"),
    in_claims("a part about no system", EARLY_PART, ""),
    in_claims("a lemma has an unknown bound", '(least "a wait"', '(just "a wait"'),
    in_claims("a time is a symbol", '(most "b" (- 5))', '(most "b" -5)'),
    in_claims("a lemma has no name", '(lemma "time")', "(lemma)"),
    in_claims("a bound is one of no lemma", '(lemma "time")', ""),
    of_certificate("format", "no part", lambda c: replace(c, parts=[])),
    of_certificate("format", "no claim", lambda c: with_part(c, LOSS, claims=[])),
    in_claims("a covered kind is unknown", "(covered kill power-loss)", "(covered kill flood)"),
    in_claims("a kind covers itself", "(covered kill power-loss)", "(covered kill kill)"),
    in_claims("a kind is covered twice", "(covered kill power-loss)", "(covered kill erase) (covered kill power-loss)"),
    in_claims("an unlimited kind is unknown", "(unlimited kill)", "(unlimited flood)"),
    in_claims("a kind is unlimited twice", "(unlimited kill)", "(unlimited kill) (unlimited kill)"),
    in_claims("an unlimited kind stands behind a set", '(rows "3/0.0")', '(rows "3/0.0") (unlimited power-loss)'),
    in_claims(
        "an unlimited kind stands behind a claim",
        '(claim "readable" "88bb" 2)',
        '(claim "readable" "88bb" 2) (unlimited power-loss)',
    ),
    in_claims("steps without a fault are unlimited", "(unlimited kill)", "(unlimited none)"),
    in_claims("an unlimited kind is covered", "(unlimited kill)", "(unlimited kill) (covered kill power-loss)"),
    in_claims("an unlimited kind covers another", "(unlimited kill)", "(unlimited kill) (covered power-loss kill)"),
    in_claims("steps without a fault are covered", "(covered kill power-loss)", "(covered none power-loss)"),
    in_first("a variable has two fields", "(field seen)", "(field seen) (field seen)"),
    in_first("a field of an unknown variable", "(field seen)", "(field seen) (field x)"),
    in_first("a field of a term", "(field seen)", "(field seen) (field stored)"),
    in_first("a field of a list", "(field seen)", "(field seen) (field ())"),
    in_first("a field has a place", "(field seen)", "(field seen 64)"),
    in_first("a word has a number", "(word)", "(word 1)"),
    of_certificate("format", "a field leaves its word", lambda c: with_wide_variables(c, 5)),
    in_claims("a combination has no set that must have one", FIRST_SET, FIRST_SET.replace("()", "(erase)")),
    of_certificate("format", "a contained combination has no set", lambda c: without_set(c, ONE_KILL)),
    of_certificate("format", "the set of no faults is missing", lambda c: without_set(c, NO_FAULT)),
    in_claims("a combination has two sets", KILL_SET, KILL_SET.replace("kill", "power-loss")),
    in_claims("a combination has a number", KILL_SET, KILL_SET.replace("(kill)", "(kill 1)")),
    in_claims("a combination has a list", KILL_SET, KILL_SET.replace("(kill)", "((kill 1))")),
    in_claims("a combination has an unknown kind", KILL_SET, KILL_SET.replace("(kill)", "(flood)")),
    in_claims("a combination has steps without a fault", KILL_SET, KILL_SET.replace("(kill)", "(none)")),
    in_claims("a set has a number of states", FIRST_SET, FIRST_SET.replace("()", "() 15")),
    in_claims("rows of no set", FIRST_SET, '(rows "0/0.0")\n(set ())'),
    in_claims("a member is listed twice in a set", '"0/1.0"', '"0/1.1"'),
    in_claims("the system is listed as rows", '"0/0.0"', '"system.smt2"'),
    in_claims("a member is listed by a symbol", '"0/0.0"', "0/0.0"),
    in_claims("two members are listed at once", '"0/0.0"', '"0/0.0" "0/1.0"'),
    of_certificate("format", "a set has no ranks", lambda c: with_set(c, READABLE, TWO_KILLS, ranks=())),
    of_certificate("format", "a set has ranks, and no goal needs them", with_unneeded_ranks),
    of_certificate("format", "a row occurs twice", lambda c: with_row_twice(c, NO_FAULT)),
    of_certificate("format", "a row occurs in two members of a set", lambda c: with_row_twice(c, ONE_KILL)),
    in_claims("a claim about no property", '(claim "no-loss"', '(claim "no-lass"'),
    in_claims("a claim about a symbol", '(claim "no-loss"', "(claim no-loss"),
    in_claims("a claim has no id", '(claim "no-loss" "3f0c"', '(claim "no-loss"'),
    in_claims("a total is negative", '(claim "no-loss" "3f0c" 2)', '(claim "no-loss" "3f0c" (- 1))'),
    in_first("a claim has two witnesses", TRACE_TEXT, "(witness 0 2 5) " + TRACE_TEXT),
    in_first("a witness of no claim", '(claim "no-loss"', '(witness 0 2 5)\n(claim "no-loss"'),
    in_first("a smallest fault set of no claim", '(claim "no-loss"', f'{TRACE_TEXT}\n(claim "no-loss"'),
    in_first("a smallest fault set is no list", TRACE_TEXT, "(smallest power-loss 0 2 5 14)"),
    in_first("a trace has an unknown action", TRACE_TEXT, TRACE_TEXT.replace("0 2 5", "17 2 5")),
    in_first("a trace has a negative action", TRACE_TEXT, TRACE_TEXT.replace("0 2 5", "(- 17) 2 5")),
    in_first("a trace has a name of an action", TRACE_TEXT, TRACE_TEXT.replace("0 2 5", '"write" 2 5')),
    in_first("a trace has a list", TRACE_TEXT, TRACE_TEXT.replace("0 2 5", "0 (2) 5")),
    of_members("format", "the claims are not UTF-8", lambda found: {**found, CLAIMS: found[CLAIMS] + b"; \xc3\n"}),
    of_members(
        "format", "the claims are 600,000 parentheses", lambda found: {**found, CLAIMS: b"(" * 300_000 + b")" * 300_000}
    ),
    of_members("format", "the claims are empty", lambda found: {**found, CLAIMS: b""}),
)
"""Forgeries of the form of `certificate.txt`."""
