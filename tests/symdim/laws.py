"""The identities that constructors use, and well-known consequences, as data.

Each law holds for all integers in the given ranges that satisfy `where`, with Python's `//` and `%`. `where` leaves
out divisors that are 0. The constructors map both sides to the same object. A test evaluates both sides on a grid and
compares the objects. `LOOK_ALIKES` are identities without their side condition. Each one has a point at which it
fails, and no constructor may apply it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from symdim.algebra.expr import Interval

ANY: Interval = (None, None)
SIZE: Interval = (1, None)


@dataclass(frozen=True)
class Law:
    """`lhs == rhs` in Python's grammar, for variables within `bounds` and for each of the `numbers`, if `where` holds.

    Names in neither table are variables without bounds.
    """

    name: str
    lhs: str
    rhs: str
    where: str = "True"
    bounds: Mapping[str, Interval] = field(default_factory=dict)
    numbers: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class LookAlike:
    """`lhs == rhs` fails at `point`, although the variables are within their bounds."""

    name: str
    lhs: str
    rhs: str
    point: Mapping[str, int]
    bounds: Mapping[str, Interval] = field(default_factory=dict)


_MODULI = (1, 2, 3, 4, 6)
_SIGNED = (-6, -4, -3, -2, -1, 1, 2, 3, 4, 6)
_FACTORS = (-5, -2, -1, 0, 1, 3)

LAWS = (
    Law("commutative", "x*y + y*z", "z*y + y*x"),
    Law("distributive", "x*(y + z)", "x*y + x*z"),
    Law("square of a sum", "(x + y)**2", "x**2 + 2*x*y + y**2"),
    Law("zero", "0*(x // c)", "0", numbers={"c": _SIGNED}),
    Law("Euclid", "c*(x // c) + x % c", "x", numbers={"c": _SIGNED}),
    Law("Euclid, symbolic", "y*(x // y) + x % y", "x", "y != 0"),
    Law("divisor one", "x // 1", "x"),
    Law("negative divisor", "x // -c", "-x // c", numbers={"c": _MODULI}),
    Law("both signs", "-x // -y", "x // y", "y != 0"),
    Law("multiples", "(c*q*y + x) // c", "q*y + x // c", numbers={"c": _MODULI, "q": _FACTORS}),
    Law("multiples, symbolic", "(y*d + x) // d", "y + x // d", "d != 0"),
    Law("multiples of a sum", "(x*d + x + y) // (d + 1)", "x + y // (d + 1)", "d != -1"),
    Law("exact", "x*d // d", "x", "d != 0"),
    Law("zero over a divisor", "0 // d", "0", "d != 0"),
    Law("quotient by itself", "(x + 3) // (x + 3)", "1", "x != -3"),
    Law(
        "content", "(g*x + r) // (g*c)", "(x + r // g) // c", numbers={"g": (2, 3), "c": (2, 5), "r": (0, 1, 2, 7, -1)}
    ),
    Law(
        "content, symbolic",
        "(g*x + r) // (g*d)",
        "(x + r // g) // d",
        bounds={"d": SIZE},
        numbers={"g": (2, 3), "r": (1, 5, -1)},
    ),
    Law("common factor", "x*e // (e*d)", "x // d", "e*d != 0"),
    Law("common factor, negative", "-4*x*e // (-6*e*d)", "2*x // (3*d)", "e*d != 0"),
    Law("small part", "(g*x + e) // (g*c)", "x // c", bounds={"e": (0, 2)}, numbers={"g": (3, 8), "c": _MODULI}),
    Law("small part, symbolic", "(4*x + e) // (4*d)", "x // d", bounds={"e": (0, 3), "d": SIZE}),
    Law("small part of two", "(8*x + 2*t + e) // 16", "x // 2", bounds={"t": (0, 3), "e": (0, 1)}),
    Law("nesting", "(x // a + r) // c", "(x + a*r) // (a*c)", numbers={"a": _MODULI, "c": _MODULI, "r": (0, 1, -3)}),
    Law("nesting, negated", "(-(x // a)) // c", "(a - 1 - x) // (a*c)", numbers={"a": _MODULI, "c": (1, 3, 4, 6)}),
    Law("nesting of a remainder", "x % (a*c) // a", "x // a % c", numbers={"a": _MODULI, "c": _MODULI}),
    Law(
        "nesting, symbolic divisor",
        "(x // c + y) // d",
        "(x + c*y) // (c*d)",
        bounds={"d": SIZE},
        numbers={"c": _MODULI},
    ),
    Law("nesting, symbolic both", "x // d // e", "x // (d*e)", "d*e != 0", {"d": (0, None), "e": (0, None)}),
    Law("nesting commutes", "x // d // c", "x // c // d", bounds={"d": SIZE}, numbers={"c": _MODULI}),
    Law("reflection", "-x // c", "-((x + c - 1) // c)", numbers={"c": _MODULI}),
    Law("reflection, symbolic", "-x // d", "-1 - (x - 1) // d", bounds={"d": SIZE}),
    Law("small numerator", "x // 8", "0", bounds={"x": (0, 7)}),
    Law("remainder of a small number", "x % 8", "x", bounds={"x": (0, 7)}),
    Law("negative small numerator", "x // 8", "-1", bounds={"x": (-8, -1)}),
    Law("below the divisor", "x // (x + d)", "0", bounds={"x": (0, None), "d": SIZE}),
    Law("remainder of a remainder", "x % (a*c) % a", "x % a", numbers={"a": _MODULI, "c": _MODULI}),
    Law("remainder of a sum", "(x % c + y) % c", "(x + y) % c", numbers={"c": _SIGNED}),
    Law("remainder of a product", "(x % c)*y % c", "x*y % c", numbers={"c": (2, 3, 5)}),
    Law("remainder of a multiple", "c*x % c", "0", numbers={"c": _SIGNED}),
    Law("remainder of common factors", "(g*x) % (g*c)", "g*(x % c)", numbers={"g": (2, 3), "c": (2, 5)}),
    Law("remainder of common factors, symbolic", "(e*x) % (e*d)", "e*(x % d)", "e*d != 0"),
    Law("remainder of a small part", "(4*x + e) % 8", "4*(x % 2) + e", bounds={"e": (0, 3)}),
    Law("round down to a multiple", "(x - x % y) % y", "0", "y != 0"),
    Law("pad to a multiple, symbolic", "(x + -x % y) % y", "0", "y != 0"),
    Law("ceiling", "ceildiv(x, c)", "(x + c - 1) // c", numbers={"c": _MODULI}),
    Law("ceiling, symbolic", "ceildiv(x, d)", "(x + d - 1) // d", bounds={"d": SIZE}),
    Law("pad to a multiple", "x + -x % c", "c*ceildiv(x, c)", numbers={"c": _MODULI}),
    Law("pad and divide", "(x + -x % c) // c", "ceildiv(x, c)", numbers={"c": _MODULI}),
    Law("max and min", "max(x, y) + min(x, y)", "x + y"),
    Law("max commutes", "max(x, y)", "max(y, x)"),
    Law("max is associative", "max(x, max(y, z))", "max(max(x, y), z)"),
    Law("max repeats", "max(x, x, y)", "max(x, y)"),
    Law("max shift", "max(x + z, y + z)", "max(x, y) + z"),
    Law("max scale", "max(k*x, k*y)", "k*max(x, y)", "k >= 0", numbers={"k": (0, 1, 2, 5)}),
    Law("max reflection", "max(-x, -y)", "-min(x, y)"),
    Law("max flattening", "max(2*max(x, y) + z, t)", "max(2*x + z, 2*y + z, t)"),
    Law("max dominance", "max(x, 1)", "x", bounds={"x": SIZE}),
    Law("max dominance of a remainder", "max(x % 5, 4)", "4"),
    Law("max of a sum", "max(x + d, x)", "x + d", bounds={"d": (0, None)}),
    Law("min dominance", "min(x, 0)", "0", bounds={"x": (0, None)}),
    Law("positive part", "max(x - c, 0) + c", "max(x, c)", numbers={"c": (-2, 0, 3)}),
    Law("split at a limit", "min(x, c) + max(x - c, 0)", "x", numbers={"c": (-2, 0, 3)}),
    Law("distance", "max(x, y) - min(x, y)", "max(x - y, y - x)"),
    Law("two halves", "x//2 + (x + 1)//2", "x"),
    Law("product of halves", "(x + 1)//2 * (y//2)", "(x - x//2)*(y//2)"),
    Law("product of minima", "min(x, y)*min(z, t)", "(x + y - max(x, y))*(z + t - max(z, t))"),
    Law("absorption", "max(x, min(x, y))", "x"),
    Law("common part", "max(min(x, y), min(x, z))", "min(x, max(y, z))"),
    Law("context", "max(min(max(x, y), z), y)", "max(min(x, z), y)"),
    Law("clamp", "max(min(x, h), l)", "min(max(x, l), h)", "l <= h", numbers={"l": (-2, 0, 3), "h": (3, 5)}),
    Law("clamp of maxima", "max(x, l) - max(x, h) + h", "min(max(x, l), h)", numbers={"l": (-2, 0, 3), "h": (3, 5)}),
    Law("mean in a maximum", "max(x, y, (x + y + 1)//2)", "max(x, y)"),
    Law("mean in a minimum", "min(x, y, (x + y)//2)", "min(x, y)"),
    Law("multiple of a half", "(2*x - 2*(x//2))//((x + 1)//2)", "2", "x > 0", bounds={"x": SIZE}),
    Law("rounding", "min(x, y) // c", "min(x // c, y // c)", numbers={"c": _MODULI}),
    Law("division of a maximum", "max(2*x, 4) // 2", "max(x, 2)"),
)

LOOK_ALIKES = (
    LookAlike("nesting with a negative divisor", "x // 2 // -3", "x // -6", {"x": 1}),
    LookAlike(
        "nesting with a divisor of any sign", "x // d // e", "x // (d*e)", {"x": 1, "d": 2, "e": -1}, {"d": SIZE}
    ),
    LookAlike("content with a divisor of any sign", "(2*x + 1) // (2*d)", "x // d", {"x": 0, "d": -1}),
    LookAlike("small part below 0", "(4*x + e) // 8", "x // 2", {"x": 0, "e": -1}, {"e": (-1, 3)}),
    LookAlike("small part too large", "(4*x + e) // 8", "x // 2", {"x": 1, "e": 4}, {"e": (0, 4)}),
    LookAlike(
        "small part, divisor of any sign", "(4*x + e) // (4*d)", "x // d", {"x": 0, "e": 1, "d": -1}, {"e": (0, 3)}
    ),
    LookAlike("small remainder too large", "(4*x + y % 5) // 8", "x // 2", {"x": 1, "y": 4}),
    LookAlike("small remainder and a constant", "(4*x + y % 4 + 1) // 8", "x // 2", {"x": 1, "y": 3}),
    LookAlike("division distributes", "(x + y) // 2", "x // 2 + y // 2", {"x": 1, "y": 1}),
    LookAlike("division then product", "x // 3 * 3", "x", {"x": 1}),
    LookAlike("product then division", "2*(x // 2)", "2*x // 2", {"x": 1}),
    LookAlike("division truncates", "-x // 2", "-(x // 2)", {"x": 1}),
    LookAlike("reflection with a negative divisor", "-x // d", "-1 - (x - 1) // d", {"x": 1, "d": -2}),
    LookAlike("nested coefficient", "(2*(x // 3) + 1) // 5", "(2*x + 3) // 15", {"x": 14}),
    LookAlike("remainder without common factor", "x % 6 % 4", "x % 4", {"x": 6}),
    LookAlike("remainder keeps the sign", "-x % 3", "-(x % 3)", {"x": 1}),
    LookAlike("max scale by a negative number", "max(-2*x, -2*y)", "-2*max(x, y)", {"x": 0, "y": 1}),
    LookAlike("beyond the mean", "max(x, y, (x + y)//2 + 1)", "max(x, y)", {"x": 0, "y": 0}),
    LookAlike("below the mean", "min(x, y, (x + y - 1)//2)", "min(x, y)", {"x": 0, "y": 0}),
    LookAlike("a mean of others", "max(x, y, (x + z)//2)", "max(x, y)", {"x": 0, "y": 0, "z": 2}),
    LookAlike("on the line of two, not between them", "min(x, 12, 2*x - 12)", "min(x, 12)", {"x": 0}),
    LookAlike("mean beside one", "max(min(x, y), (x + y)//2)", "min(x, y)", {"x": 0, "y": 2}),
    LookAlike("max over a minimum", "max(min(x, y), z)", "min(max(x, z), y)", {"x": 1, "y": 0, "z": 2}),
    LookAlike("clamp, limits crossed", "max(min(x, 1), 3)", "min(max(x, 3), 1)", {"x": 0}),
    LookAlike("rounding with a negative divisor", "max(x, y)//-2", "max(x//-2, y//-2)", {"x": 0, "y": 2}),
    LookAlike("flattening of a negative multiple", "max(-max(x, y), z)", "max(-x, -y, z)", {"x": 0, "y": 1, "z": -5}),
    LookAlike("two clamps, limits crossed", "max(x, 5) - max(x, 3) + 3", "min(max(x, 5), 3)", {"x": 0}),
    LookAlike("max times another min", "max(x, y)*min(x, z)", "x*y", {"x": 1, "y": 2, "z": 0}),
    LookAlike("sum of three", "max(x, y, z) + min(x, y, z)", "x + y + z", {"x": 1, "y": 2, "z": 3}),
    LookAlike("halves outside", "max(x, y)//2 + min(x, y)//2", "(x + y)//2", {"x": 1, "y": 1}),
    LookAlike("thirds", "x//3 + (x + 1)//3", "x", {"x": 1}),
    LookAlike("max times a variable", "max(x*z, y*z)", "z*max(x, y)", {"x": 0, "y": 1, "z": -1}),
    LookAlike("dominance beyond the bounds", "max(x, 1)", "x", {"x": 0}, {"x": (0, None)}),
    LookAlike("below the divisor, negative", "x // (x + d)", "0", {"x": -1, "d": 3}, {"d": SIZE}),
    LookAlike("content rounds up", "(2*x + 1) // 4", "(x + 1) // 2", {"x": 1}),
    LookAlike("square root of a square", "max(x, -x)", "x", {"x": -1}),
    LookAlike("thirds of both", "max(x//2, y//3)", "max(x, y)//2", {"x": 0, "y": 6}),
    LookAlike("ceiling of a third and a third", "ceildiv(x, 3) + x//3", "x", {"x": 2}),
    LookAlike("upper halves across a product", "(x + 1)//2*(y//2)", "x//2*((y + 1)//2)", {"x": 1, "y": 2}),
)
