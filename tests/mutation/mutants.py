"""The faults that a source can have: one expression or statement of a function, changed.

Comparisons and arithmetic are exchanged, constants moved by one, conditions negated, operands, arguments and statements
left out, arguments exchanged, results replaced by None. Texts stay as they are, and so does `strict` of `zip`.
"""

from __future__ import annotations

import ast
from collections import Counter
from copy import copy
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}

ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}

SYMMETRIC = {"max", "min", "maximum", "minimum", "gcd", "lcm"}
SYMMETRIC |= {"add", "multiply", "plus", "times", "meet", "hull", "disjoint", "differ"}
"""Functions whose arguments are not exchanged, since that changes nothing."""

NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum"}


@dataclass(frozen=True)
class Mutant:
    """A fault: in the function at `path`, the code `before` becomes `after`."""

    path: str
    function: str
    before: str
    after: str
    nth: int
    line: int
    """The first line of the statement."""
    _place: tuple[Any, Any] = field(repr=False, compare=False)
    _node: ast.AST = field(repr=False, compare=False)
    _tree: ast.Module = field(repr=False, compare=False)

    @property
    def name(self) -> str:
        """What tells it from all others, whatever its line."""
        again = f" ({self.nth})" if self.nth > 1 else ""
        return f"{self.path} {self.function}: {self.before} -> {self.after}{again}"

    def compiled(self, path: str) -> Any:
        """The code of the whole module with the fault."""
        holder, key = self._place
        former = _get(holder, key)
        _set(holder, key, self._node)
        try:
            return compile(self._tree, path, "exec", dont_inherit=True)
        finally:
            _set(holder, key, former)


def mutants_of(source: str, path: str) -> list[Mutant]:
    """All mutants of the functions in a source.

    >>> [mutant.name for mutant in mutants_of("def f(a): return a < 3", "m.py")]  # doctest: +NORMALIZE_WHITESPACE
    ['m.py f: return a < 3 -> return None', 'm.py f: a < 3 -> a <= 3', 'm.py f: a < 3 -> a >= 3',
     'm.py f: a < 3 -> a < 4', 'm.py f: a < 3 -> a < 2']
    """
    tree = ast.parse(source)
    found: list[Mutant] = []
    seen: Counter[tuple[str, str, str]] = Counter()
    for function, line, owner, place, new in _changes(tree):
        former = _get(*place)
        before = _text(owner)
        _set(*place, new)
        after = _text(owner) if owner is not former else _text(new)
        _set(*place, former)
        if before == after:
            continue
        seen[function, before, after] += 1
        nth = seen[function, before, after]
        found.append(Mutant(path, function, before, after, nth, line, place, new, tree))
    return found


def sample(mutants: Iterable[Mutant], seed: int, count: int) -> list[Mutant]:
    """So many mutants, drawn evenly over the functions: one of each function, then a second one of each, and so on.

    What is drawn of a function does not depend on the other functions.
    """
    functions: dict[tuple[str, str], list[Mutant]] = {}
    for mutant in mutants:
        functions.setdefault((mutant.path, mutant.function), []).append(mutant)
    ranked: list[tuple[int, float, Mutant]] = []
    for key, of_one in functions.items():
        random = Random(f"{seed} {key}")
        random.shuffle(of_one)
        ranked += [(turn, random.random(), mutant) for turn, mutant in enumerate(of_one)]
    ranked.sort(key=lambda drawn: drawn[:2])
    return [mutant for _, _, mutant in ranked[:count]]


Change = tuple[str, int, ast.AST, tuple[Any, Any], ast.AST]
"""A function, the line of the statement, the code to show, the place of the change (holder, key), what is put there."""


def _changes(tree: ast.Module) -> Iterator[Change]:
    """Every change of every function, outermost functions under their qualified names."""
    waiting: list[tuple[ast.AST, str]] = [(statement, "") for statement in reversed(tree.body)]
    while waiting:
        node, prefix = waiting.pop()
        if isinstance(node, ast.ClassDef):
            waiting.extend((inner, f"{prefix}{node.name}.") for inner in reversed(node.body))
        elif isinstance(node, ast.FunctionDef):
            name = prefix + node.name
            for decorator in node.decorator_list:
                yield from _of_lambdas(decorator, name)
            yield from _within(node, name)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.Expr | ast.For):
            target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
            yield from _of_lambdas(node, prefix + (_text(target) if target is not None else "module"))


def _of_lambdas(node: ast.AST, name: str) -> Iterator[Change]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Lambda):
            yield from _within(inner, f"{name}.lambda")


def _within(function: ast.FunctionDef | ast.Lambda, name: str) -> Iterator[Change]:
    """The changes in the body of a function, those of its inner functions included, in the order of the source."""
    body = function.body
    places = [(body, i) for i in range(len(body))] if isinstance(body, list) else [(function, "body")]
    waiting: list[tuple[tuple[Any, Any], ast.AST, int]] = [(place, function, 0) for place in reversed(places)]
    while waiting:
        place, owner, line = waiting.pop()
        node = _get(*place)
        if isinstance(node, ast.stmt) or (isinstance(owner, ast.Lambda) and node is owner.body):
            line = node.lineno
        owner = owner if isinstance(node, ast.Constant | ast.Name) else node
        for new in _variants(node):
            yield name, line, owner, place, new
        if not isinstance(node, ast.JoinedStr):
            waiting.extend((inner, node, line) for inner in reversed(list(_inner(node))))


def _inner(node: ast.AST) -> Iterator[tuple[Any, Any]]:
    """The places inside of a node: of all but annotations, defaults and decorators."""
    for name, value in ast.iter_fields(node):
        if isinstance(node, ast.keyword) and node.arg == "strict":
            continue  # an assertion on lengths
        if name in ("annotation", "returns", "decorator_list", "args") and not isinstance(node, ast.Call):
            continue
        if isinstance(value, list):
            yield from ((value, i) for i in range(len(value)) if isinstance(value[i], ast.AST))
        elif isinstance(value, ast.AST):
            yield node, name


def _variants(node: ast.AST) -> Iterator[ast.AST]:
    """What may stand in place of a node."""
    if isinstance(node, ast.stmt):
        yield from _statements(node)
    elif isinstance(node, ast.comprehension):
        yield from (_with(node, ifs=node.ifs[:i] + node.ifs[i + 1 :]) for i in range(len(node.ifs)))
    else:
        yield from _expressions(node)
    if isinstance(node, ast.If | ast.IfExp) and not isinstance(node.test, ast.Compare):
        yield _with(node, test=_negated(node.test))


def _statements(node: ast.stmt) -> Iterator[ast.AST]:
    match node:
        case ast.Expr(value=ast.Call()) | ast.Continue() | ast.Break() | ast.Raise() | ast.AugAssign():
            yield ast.copy_location(ast.Pass(), node)
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield ast.copy_location(ast.Pass(), node)
        case ast.Return(value=value) if value is not None and not isinstance(value, ast.Constant):
            yield _with(node, value=ast.copy_location(ast.Constant(None), node))
    if isinstance(node, ast.AugAssign) and type(node.op) in ARITHMETIC:
        yield _with(node, op=ARITHMETIC[type(node.op)]())


def _expressions(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(ops=ops):
            for i, op in enumerate(ops):
                yield from (_with(node, ops=[*ops[:i], new(), *ops[i + 1 :]]) for new in COMPARISONS[type(op)])
        case ast.BoolOp(op=op, values=values):
            yield _with(node, op=ast.Or() if isinstance(op, ast.And) else ast.And())
            for i in range(len(values)):
                rest = values[:i] + values[i + 1 :]
                yield rest[0] if len(rest) == 1 else _with(node, values=rest)
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield operand
        case ast.BinOp(op=op) if type(op) in ARITHMETIC:
            yield _with(node, op=ARITHMETIC[type(op)]())
        case ast.Constant(value=bool(value)):
            yield _with(node, value=not value)
        case ast.Constant(value=int(value)):
            yield from (_with(node, value=value + step) for step in (1, -1))
        case ast.Call():
            yield from _calls(node)


def _calls(node: ast.Call) -> Iterator[ast.AST]:
    """The call of the opposite function, with two arguments exchanged, and without a keyword."""
    if isinstance(node.func, ast.Name) and node.func.id in NAMES:
        yield _with(node, func=_with(node.func, id=NAMES[node.func.id]))
    args = node.args
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    if name in ("isinstance", "cast"):
        return
    for i in range(len(args) - 1 if name not in SYMMETRIC or node.keywords else 0):
        yield _with(node, args=[*args[:i], args[i + 1], args[i], *args[i + 2 :]])
    for i in range(len(node.keywords)):
        if node.keywords[i].arg != "strict":
            yield _with(node, keywords=node.keywords[:i] + node.keywords[i + 1 :])


def _with(node: Any, **fields: Any) -> Any:
    new = copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def _negated(test: ast.expr) -> ast.expr:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    return ast.copy_location(ast.UnaryOp(ast.Not(), test), test)


def _get(holder: Any, key: Any) -> Any:
    return holder[key] if isinstance(key, int) else getattr(holder, key)


def _set(holder: Any, key: Any, value: Any) -> None:
    if isinstance(key, int):
        holder[key] = value
    else:
        setattr(holder, key, value)


def _text(node: ast.AST) -> str:
    """The code of a node, of a compound statement its first line."""
    return ast.unparse(node).strip().split("\n")[0]
