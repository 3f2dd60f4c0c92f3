"""Powers of powers in a short text: every call ends soon, with an answer or with an error that is documented."""

from __future__ import annotations

import subprocess
import sys

import pytest

from symdim import Facts, Rational, Shape, Var, at_least, compile_shape, equal, parse, simplify, text_in
from symdim.algebra.magnitude import MAX_BITS
from symdim.dialects.languages import LANGUAGES
from symdim.dialects.straight_code import StraightCode
from symdim.errors import ParseError, SizeOverflow, UnboundName
from symdim.prove import counterexample

TEXTS = {
    "powers of rounded powers": "(((N//2)**14000//3)**14000//5)**14000",
    "squares": "(" * 40 + "N" + "//2)**2" * 40,
    "a maximum": "max((N//2)**13000, 3)**13000",
    "a remainder": "((N//2)**13000 % (7 + N//3)**900)**13000",
    "an exact quotient": "floor(((N//2)**13000/3)**1000/7)**1000",
    "a shift": "lshift(lshift(N, 13000)//3, 13000)**9",
}
CALLS = {
    "evaluate": lambda e: e.evaluate(N=9),
    "substitute": lambda e: e.substitute({"N": 9}),
    "substitute itself": lambda e: e.substitute({"N": e}),
    "compile": lambda e: compile_shape(Shape([e]), ["N"])(9),
    "quotient": lambda e: Rational(e, 7).evaluate(N=9),
    "prover": lambda e: [
        at_least(e, 3),
        equal(e, e + 1),
        simplify(e, Facts(["N % 4 == 0"])),
        counterexample(e, "==", 3),
    ],
    "bounds": lambda e: [e.bounds(), e.guarantee(), str(e), text_in(e, "sympy")],
    "bounds of sizes": lambda e: e.substitute({"N": Var("N", 2, 10**9)}).bounds(),
}
PROGRAM = """
from symdim import SymdimError, parse
from tests.symdim.test_huge_numbers import CALLS, TEXTS
for name, text in TEXTS.items():
    for call in CALLS.values():
        try:
            call(parse(text))
        except SymdimError:
            pass
print("ended")
"""


def test_every_call_ends() -> None:
    """In a process of its own: a call that does not end cannot be interrupted otherwise."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout == "ended\n", done.stderr


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_number_that_is_too_large_is_an_error(text: str) -> None:
    with pytest.raises((SizeOverflow, ParseError)):
        parse(text).evaluate(N=10**6)  # type: ignore[union-attr]
    with pytest.raises((UnboundName, ParseError)):
        compile_shape(Shape([text]), ["N"])


def test_numbers_within_the_limit_are_exact() -> None:
    assert parse("(N//2)**3000 % 7").evaluate(N=9) == 4**3000 % 7  # type: ignore[union-attr]
    assert compile_shape(Shape(["N**3000"]), ["N"])(9) == (9**3000,)
    limit = parse("N**2")
    assert limit.evaluate(N=1 << MAX_BITS // 2 - 1)  # type: ignore[union-attr]
    with pytest.raises(SizeOverflow):
        limit.evaluate(N=1 << MAX_BITS)  # type: ignore[union-attr]


def test_emitted_code_has_no_value_for_it() -> None:
    N = Var("N")
    code = StraightCode(LANGUAGES["js"], [N])
    huge = parse(TEXTS["squares"], {"N": N})
    names = [code.operand(huge), code.operand(huge + 1), code.operand(N + 1)]
    assert [LANGUAGES["js"].nothing in line for line in code.statements] == [True, True, False]
    assert len(set(names)) == 3
