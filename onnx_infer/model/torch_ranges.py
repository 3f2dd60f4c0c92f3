"""The ranges of sizes that torch's exporter leaves in the metadata of a graph, as parts of a contract.

torch writes `{s77: VR[2, 64], s53: VR[4, int_oo], 4*s83: VR[8, 400], s83: VR[2, 100]}`, with its own names, and renames
the sizes of inputs only. The ranges are in the order in which the inputs' axes have such a size first; those of symbols
that stand in no axis alone come after them. So a size of torch is the size of the model at its place.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from onnx_infer.model.contract import Condition, Contract, interval, written
from onnx_infer.model.size_texts import Size, is_name
from symdim import Expr, Var
from symdim.algebra.dims import bounds_of
from symdim.parsing import read_dim_param

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from symdim import Dim

_USER_INPUT = re.compile(r"(?m)^(\S+): USER_INPUT\b")
_OF_DATA = re.compile(r"u\d+")
_NUMBER = re.compile(r"-?\d{1,99}")
_UNCHECKED = 2
"""torch traces a dynamic size as at least 2, but also runs the program with 0 and 1. So a lower end of up to 2 means
nothing."""


class Range(NamedTuple):
    """The range of a size, as torch writes both."""

    size: str
    low: int
    high: int | None

    @classmethod
    def of(cls, size: object, low: object, high: object) -> Range:
        """The range with these ends. Infinity is None, and a lower end that means nothing is at most 1."""
        least, most = (int(text) if _NUMBER.fullmatch(text := str(end)) else None for end in (low, high))
        if least is None or least <= _UNCHECKED:
            least = 1 if most is None else max(min(1, most), 0)
        return cls(str(size), least, most)

    def __str__(self) -> str:
        return f"{self.size} in {self.low}..{'' if self.high is None else self.high}"

    @property
    def is_open(self) -> bool:
        """Whether it says nothing."""
        return self.low == 1 and self.high is None


def read_ranges(text: str) -> Iterator[Range]:
    """The ranges in a metadata entry.

    >>> [*map(str, read_ranges("{s77: VR[2, 64], Max(1, s0): VR[3, int_oo]}"))]
    ['s77 in 1..64', 'Max(1, s0) in 3..']
    """
    for piece in text.strip().strip("{}").split("]"):
        size, _, ends = piece.partition(": VR[")
        low, comma, high = ends.partition(", ")
        range_ = Range.of(size.removeprefix(", "), low, high)
        if comma and range_.size and (range_.high is None or range_.low <= range_.high):
            yield range_


def of_torch(text: str, signature: str, inputs: Iterable[tuple[str, Sequence[Size]]]) -> tuple[Contract, list[str]]:
    """What ranges say of the symbols of a model with these inputs, and what is not understood.

    `signature` is that of torch's program, as its metadata have it; empty if they do not.

    >>> text = "{s77: VR[2, 64], 4*s83: VR[8, 400], s83: VR[2, 100]}"
    >>> contract, wrong = of_torch(text, "", [("x", ("batch", "4*words")), ("y", ("batch", 3))])
    >>> contract.bounds, [guard[:3] for guard in contract.guards], wrong
    ({'batch': (1, 64), 'words': (1, 100)}, [('at_least', '4*words', 8)], [])
    """
    ranges = list(read_ranges(text))
    if len(ranges) != text.count(":") or bool(ranges) != bool(text.strip("{} ")):
        return Contract(), [f"no ranges: {text[:60]}"]
    ranges = [range_ for range_ in ranges if not _OF_DATA.fullmatch(range_.size)]
    if all(range_.is_open for range_ in ranges):
        return Contract(), []
    known, axes = dict(inputs), _USER_INPUT.findall(signature)
    sizes = list(dict.fromkeys(size for shape in known.values() for size in shape if not isinstance(size, int)))
    symbols = _by_place(ranges, sizes) if not axes or _in_order(list(known), axes) else {}
    if not symbols:  # nothing was renamed, maybe
        names = {name for size in sizes for name in _free_symbols(size)}
        symbols = {range_.size: Var(range_.size) for range_ in ranges if range_.size in names}
    contract, left = stated(ranges, symbols)
    if not left:
        return contract, []
    return contract, [f"which sizes of the inputs these are cannot be determined: {'; '.join(map(str, left))}"]


def _in_order(inputs: Sequence[str], of_program: Sequence[str]) -> bool:
    """Whether the inputs are those of the program in its order: all of them, or some of the same names."""
    rest = iter(of_program)
    return len(inputs) == len(of_program) or all(name in rest for name in inputs)


def _by_place(ranges: Sequence[Range], sizes: Sequence[Size]) -> dict[str, Dim]:
    """torch's symbols with the sizes of the model, in the order in which these occur first; empty if they do not fit.

    The ranges after the last size must be those of symbols inside of the sizes before, and a symbol that is also one of
    the model must be this one.
    """
    if None in sizes or len(ranges) < len(sizes) or len({range_.size for range_ in ranges}) < len(ranges):
        return {}
    if not all(_free_symbols(range_.size) for range_ in ranges):
        return {}
    placed = [(range_.size, size) for range_, size in zip(ranges, sizes, strict=False)]
    inside = {name for size, _ in placed for name in _free_symbols(size)}
    if any(range_.size not in inside for range_ in islice(ranges, len(sizes), None)):
        return {}
    symbols = symbols_at(placed)
    own = {name for size in sizes for name in _free_symbols(size)}
    return {} if any(name in own and size is not Var(name) for name, size in symbols.items()) else symbols


def symbols_at(placed: Iterable[tuple[Size, Size]]) -> dict[str, Dim]:
    """torch's symbols with the sizes that a model has in their place.

    If torch has an expression, as `4*s83`, and the model has `4*q` in its place, then s83 is q.
    """
    symbols: dict[str, Dim] = {}
    derived: list[tuple[Expr, Dim]] = []
    for size, other in placed:
        of_program, there = _read(size), _read(other)
        if isinstance(of_program, Var) and there is not None:
            symbols.setdefault(of_program.name, there)
        elif isinstance(of_program, Expr) and there is not None:
            derived.append((of_program, there))
    for expression, there in derived:
        new = expression.free_symbols() - symbols.keys()
        if len(new) == 1 and isinstance(there, Expr):
            (name,) = new
            known = {n: symbols[n] for n in expression.free_symbols() & symbols.keys()}
            for candidate in sorted(there.free_symbols()):
                if expression.substitute({**known, name: Var(candidate)}) == there:
                    symbols[name] = Var(candidate)
    return symbols


def stated(ranges: Iterable[Range], symbols: Mapping[str, Dim]) -> tuple[Contract, list[Range]]:
    """What the ranges say of the sizes that stand for torch's symbols, and those of which it is not known."""
    bounds: dict[str, tuple[int, int | None]] = {}
    guards: list[Condition] = []
    left: list[Range] = []
    read = [(range_, _read(range_.size)) for range_ in ranges if not range_.is_open]
    for range_, size in sorted(read, key=lambda item: not isinstance(item[1], Var)):
        if not isinstance(size, Expr) or not size.free_symbols() <= symbols.keys():
            left.append(range_)
            continue
        renamed = size.substitute({name: symbols[name] for name in size.free_symbols()})
        if isinstance(renamed, Var):
            bounds[renamed.name] = range_.low, range_.high
        elif isinstance(renamed, Expr):
            guards += _beyond(renamed, range_, bounds)
    return Contract(bounds, tuple(guards)), left


def _beyond(size: Expr, range_: Range, bounds: Mapping[str, tuple[int, int | None]]) -> Iterator[Condition]:
    """The ends of a range of an expression that do not follow from the intervals of its symbols."""
    variables = {name: Var.fresh(name, *bounds.get(name, (1, None))) for name in size.free_symbols()}
    least, most = bounds_of(size.substitute(variables))
    for end in interval(written(size), range_.low, range_.high, "torch.export"):
        if end.relation == "at_least":
            if range_.low > 1 and (least is None or least < range_.low):
                yield end
        elif range_.high is not None and (most is None or most > range_.high):
            yield end


def _read(size: Size) -> Dim | None:
    """A size as torch or a model writes it; None for one without a name."""
    return read_dim_param(size, {size} if is_name(size) else ()) if isinstance(size, str) else size


def _free_symbols(size: Size) -> frozenset[str]:
    read = _read(size)
    return read.free_symbols() if isinstance(read, Expr) else frozenset()
