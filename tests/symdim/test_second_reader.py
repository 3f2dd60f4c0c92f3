"""A second reader of `dim_param` texts, written from docs/dim_param.md alone: it uses nothing of symdim."""

import json
import re
from fractions import Fraction
from math import ceil, floor, isqrt, prod
from pathlib import Path

import pytest

VECTORS = json.loads((Path(__file__).parents[2] / "docs" / "dim_param_vectors.json").read_text("utf-8"))["vectors"]
PROBES = [[1, 1, 1, 1], [2, 3, 5, 7], [7, 5, 3, 2], [1, 4, 9, 2], [9, 2, 4, 1], [10**6, 10, 1, 99], [1, 99, 10, 10**6]]
NUMBER = r"(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(?![\w.:])"
NAME = r"(?P<name>[^\W\d][\w.]*(?:\[f(?:32|64)\](?=\s*\()|(?![\w.:])))"
TOKEN = NAME + r'|(?P<word>[\w.:]+)|(?P<text>`(?:[^`]|``)*`(?!`)|"[^"]*")'
BARE = r"(?!\s)(?:[^-+*/%^(),`\"]|\b[-/]\b)+(?<!\s)"
ROUNDS = {"ceil": ceil, "ceiling": ceil, "floor": floor, "floortoint": floor, "ceiltoint": lambda x, y=1: ceil(x / y)}
ROUNDS |= dict.fromkeys(["trunc", "trunctoint", "trunctofloat"], int)
ROUNDS |= dict.fromkeys(["round", "roundtoint"], lambda x: round(x))
POWERS = dict.fromkeys(["**", "pow", "powbynatural", "floatpow"], lambda x, k: x**k)
POWERS |= {"lshift": lambda x, k: x * 2**k, "rshift": lambda x, k: x // 2**k}
FRACTIONS = {  # exact on fractions
    **POWERS, **dict.fromkeys(["/", "inttruediv", "floattruediv"], lambda x, y: x / y), "+": lambda x, y: x + y,
    "-": lambda x, y: x - y, "*": lambda x, y: x * y, **dict.fromkeys(["%", "mod", "pythonmod"], lambda x, y: x % y),
    **dict.fromkeys(["identity", "tofloat"], lambda x: x), "negate": lambda x: -x, "abs": abs,
    **dict.fromkeys(["max", "^"], lambda *x: max(x)), **dict.fromkeys(["min", "&"], lambda *x: min(x)),
    "non_negative": lambda x: max(x, 0),
    "add": lambda x, *y: sum(y, x), "sub": lambda x, y: x - y, "mul": lambda x, *y: prod(y, start=x),
}  # fmt: skip
FUNCTIONS = {
    **ROUNDS, **FRACTIONS, **dict.fromkeys(["//", "/:", "floordiv", "cleandiv"], lambda x, y: x // y),
    "ceildiv": lambda x, y: ceil(x / y), "truncdiv": lambda x, y: int(x / y), "sign": lambda x: (x > 0) - (x < 0),
    "modularindexing": lambda x, y, z: x // y % z, "heaviside": lambda x, z: z if x == 0 else x > 0,
    "sqrt": lambda x: root(x),
}  # fmt: skip
FLOATS = {}  # functions of floats; what they do with floats of their type


def nearest(bits, most):
    def rounded(x):
        top = x.numerator.bit_length() - x.denominator.bit_length()
        digits = top + (abs(x) >= Fraction(2) ** top)
        unit = Fraction(2) ** max(digits - bits, 3 - most - bits)
        found = round(x / unit) * unit
        if abs(found) >= 2**most:
            raise ZeroDivisionError
        return found

    return rounded


for _kind, _near in (("f32", nearest(24, 128)), ("f64", nearest(53, 1024))):
    for _name, _f in {"add": "+", "sub": "-", "mul": "*", "div": "/", "min": "&", "max": "^"}.items():
        FLOATS[f"{_name}[{_kind}]"] = lambda x, y, f=FRACTIONS[_f], to=_near: to(f(to(x), to(y)))
    FLOATS[f"value[{_kind}]"] = _near
    for _name in ("floor", "ceil", "trunc", "round"):
        ROUNDS[f"{_name}[{_kind}]"] = lambda x, f=ROUNDS[_name], to=_near: f(to(x))
FUNCTIONS |= FLOATS | ROUNDS
DIVISIONS = {"/", "//", "/:", "%", "mod", "pythonmod", "floordiv", "cleandiv", "ceildiv", "truncdiv"}
DIVISIONS |= {"inttruediv", "floattruediv", "ceiltoint", "modularindexing"}
EXACT = {*ROUNDS, *FLOATS, "sqrt", "call"}  # "/" inside is exact
ROUNDING = {"/", *FUNCTIONS} - {*FRACTIONS, *FLOATS, "sqrt"} | {"/", "%", "mod", "pythonmod", "rshift"}


def root(x):
    found = isqrt(max(floor(x), 0))
    return Fraction(found) if found**2 == x else None


def unknown(name, *x):
    """What a function without a meaning gives in the vectors (section 8)."""
    return Fraction(len(name) + sum((i + 1) * floor(y) for i, y in enumerate(x)))


def lexemes(text, declared, dialect=None):
    names = [n for n in declared if re.fullmatch(BARE, n) and not re.fullmatch(NUMBER + r"|[^\W\d][\w.]*", n)]
    ends = [re.escape(n) + r"(?![\w.:])" * bool(re.match(r"[\w.:]", n[-1])) for n in sorted(names, key=len)[::-1]]
    sign = r"\*\*|//|/:|." if dialect == "onnx-light" else r"\*\*|//|."
    pattern = rf"\s*(?:(?P<declared>{'|'.join(ends) or '(?!)'})|{NUMBER}|{TOKEN}|(?P<sign>{sign}))"
    return [(m.lastgroup, m[m.lastgroup]) for m in re.finditer(pattern, text.rstrip(), re.S)]


class Parser:
    """One method for each level. A tree is ("number", x), ("name", x) or (operation, tree, ...). Errors: ValueError."""

    def __init__(self, text, declared=(), dialect=None):
        self.light = dialect == "onnx-light"
        self.rest = [*lexemes(text, declared, dialect), ("end", "")][::-1]

    def takes(self, *symbols):
        return self.rest[-1][0] == "sign" and self.rest[-1][1] in symbols and self.rest.pop()[1]

    def must(self, holds):
        if not holds:
            raise ValueError("syntax")

    def level(self, part, *operators):
        tree = part()
        while operator := self.takes(*operators):
            tree = (operator, tree, part())
        return tree

    def whole(self):
        return self.level(lambda: self.level(self.sum, "&"), "^") if self.light else self.sum()

    def sum(self):
        return self.level(lambda: self.level(self.unary, "*", "/", "//", "/:", "%"), "+", "-")

    def unary(self):
        if sign := self.takes("+", "-"):
            return ("negate", self.unary()) if sign == "-" else self.unary()
        base = self.primary()
        return ("**", base, self.unary()) if self.takes("**", "**" if self.light else "^") else base

    def primary(self):
        if self.takes("("):
            tree = self.whole()
            self.must(self.takes(")"))
            return tree
        kind, lexeme = self.rest.pop()
        self.must(kind in ("number", "name", "declared") or (kind == "text" and len(lexeme) > 2))
        if kind == "text":
            return "name", lexeme[1:-1].replace("``", "`") if lexeme[0] == "`" else lexeme[1:-1]
        if not (kind == "name" and self.takes("(")):
            return (kind, Fraction(lexeme)) if kind == "number" else ("name", lexeme)
        arguments = [self.whole()]
        while self.takes(","):
            arguments.append(self.whole())
        self.must(self.takes(")"))
        known = "/" if lexeme.lower() == "div" else lexeme.lower()
        if known not in FUNCTIONS and not known.endswith("]"):
            return "call", lexeme, *arguments
        try:
            FUNCTIONS[known](*[Fraction(1)] * len(arguments))
        except (KeyError, TypeError):
            raise ValueError("function") from None
        return known, *arguments


def parts_of(tree):
    return () if tree[0] in ("number", "name") else tree[2:] if tree[0] == "call" else tree[1:]


def names(tree):
    return {tree[1]} if tree[0] == "name" else set().union(*map(names, parts_of(tree)))


def is_open(tree):
    """Whether a function of which no value is known stands in a tree."""
    return tree[0] in ("call", "sqrt") or any(map(is_open, parts_of(tree)))


def is_wrong(tree):
    """Whether a part divides by the constant 0, or has an exponent that is not constant."""
    others = parts_of(tree)[1:]
    constants = [x for x in others if not names(x) and not is_open(x)]
    by_zero = tree[0] in DIVISIONS and any(value(x, {}, "exact") == 0 for x in constants)
    return by_zero or (tree[0] in POWERS and constants != [*others]) or any(map(is_wrong, parts_of(tree)))


def is_rounded(tree, exact):
    """Whether such a function is in an operand of what rounds."""
    rounds = tree[0] in ROUNDING and not (exact and tree[0] == "/")
    inner = exact or tree[0] in EXACT
    return (rounds and any(map(is_open, parts_of(tree)))) or any(is_rounded(part, inner) for part in parts_of(tree))


def has_float(tree):
    """Whether a float stands where it does not belong: it is only an operand of functions of floats."""
    is_inside = tree[0].endswith("]")
    return any(has_float(x) or (x[0] in FLOATS and not is_inside) for x in parts_of(tree))


def is_fraction(tree):
    if tree[0] in ("number", "name", "call"):
        return tree[0] == "number" and tree[1].denominator > 1
    return tree[0] in ("inttruediv", "floattruediv") or (tree[0] in FRACTIONS and any(map(is_fraction, tree[1:])))


def value(tree, sizes, dialect, exact=False):
    """Section 4; None where there is no value."""
    kind, *parts = tree
    if kind in ("number", "name"):
        return parts[0] if kind == "number" else Fraction(sizes[parts[0]])
    operands = [value(part, sizes, dialect, exact or kind in EXACT) for part in parts_of(tree)]
    if None in operands:
        return None
    if kind in POWERS and (names(parts[1]) or operands[1] < 0 or operands[1].denominator > 1):
        raise ValueError("value")
    try:
        result = unknown(parts[0], *operands) if kind == "call" else FUNCTIONS[kind](*operands)
    except ZeroDivisionError:
        return None
    result = result if result is None else Fraction(result)
    if kind != "/" or exact or dialect == "exact" or any(map(is_fraction, parts)):
        return result
    if dialect in (None, "onnx-light") and not names(tree) and result.denominator > 1:
        raise ValueError("value")
    return Fraction(int(result) if dialect == "trunc" else floor(result))


def read(text, declared=None, dialect=None):
    """Section 5: what a text is, and its tree or the kind of its error."""
    known = declared or []
    if declared is not None and (not any(map(str.isalnum, text)) or re.fullmatch(r"\s*-\s*\d+\s*", text)):
        return "nothing", None
    parts = [x for x in lexemes(text, known, dialect) if x[1] not in ("-", "/")]
    is_word = re.fullmatch(r"[\w.:]+([-/][\w.:]+)*", text) and ("/:" not in text or dialect != "onnx-light")
    is_odd = any(kind == "word" and any(map(str.isalpha, x)) for kind, x in parts)
    is_unknown = declared is not None and len(parts) > 1 and any(k != "number" and x not in known for k, x in parts)
    if text in known or (is_word and (is_odd or is_unknown)):
        return "name", ("name", text)
    try:
        parser = Parser(text, known, dialect)
        tree = parser.whole()
        parser.must(parser.rest[-1][0] == "end")
        found = [value(tree, dict(zip(sorted(names(tree)), p * 2, strict=False)), dialect) for p in PROBES]
        values = [x for x in found if x is not None]
        is_foreign = is_open(tree) and (is_rounded(tree, dialect == "exact") or not names(tree) <= {*known})
        is_none = has_float(("(", tree)) or any(x.denominator > 1 for x in values) or not (values or is_open(tree))
        is_none = is_none or is_wrong(tree)
        if is_none or (declared is not None and (is_foreign or max(values, default=0) < 0)):
            raise ValueError("value")
    except ValueError as error:
        return ("error", str(error)) if declared is None else ("name", ("name", text))
    return "name" if tree == ("name", text) else "expression", tree


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: f"{vector['group']}: {vector['text']}")
def test_the_vector_is_read_as_it_says(vector):
    reads, found = read(vector["text"], vector.get("declared"), vector.get("dialect"))
    assert (reads, found if reads == "error" else None) == (vector["reads"], vector.get("kind"))
    for sizes, expected in vector.get("values", ()):
        assert value(found, sizes, vector.get("dialect")) == expected
