"""The symbols of one model: reading its dim_params, and names for fresh sizes."""

from __future__ import annotations

from functools import lru_cache
from itertools import count
from typing import TYPE_CHECKING

from onnx_infer.laws.statements import make_size
from onnx_infer.model.size_texts import GENERATED, AxisNames, Size, generated, is_name
from onnx_infer.values.tensor import UNKNOWN_SIZE, Dim
from symdim import Expr, Scope, SymdimError, Var
from symdim.algebra.caches import clear_with_caches, shared_cache
from symdim.algebra.dims import variables_of
from symdim.algebra.interning import text_fingerprint
from symdim.algebra.origin import Declared, ValueOf
from symdim.algebra.variable import scope_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping


_expressions = shared_cache(1 << 12)  # (text, names) -> the variables of the names in it, and its expression
_MAX_TEXT, _MAX_NAMES = 1 << 13, 1 << 6
"""The longest text of which the expression is remembered, and the most names declared beside it."""


@lru_cache(maxsize=64)
def _scope(lo: int, hi: int | None, assumed: object) -> Scope:
    """The name space of the symbols in assumptions other than bounds: rules conclude more about these symbols.

    It is the same one in later inferences and in other processes.
    """
    identity = repr((lo, hi, assumed))
    return scope_of(identity, text_fingerprint(identity))


clear_with_caches(_scope.cache_clear)


class Symbols:
    """Reads dims as sizes, and makes fresh names that differ from all names of the model.

    `declared` are the dim_params of the graph's inputs. A name among them is a symbol >= `min_dim`. A text over such
    names is an expression (`2*H`, `past + seq`). Any other text is a symbol with this text as its name. Names that only
    other values declare are sizes >= 0. `bounds` gives symbols other intervals (both ends inclusive). An axis of an
    input without a name gets one; `axes` are the symbols of these. A `fixed` name stands for a number, another name or
    an expression of other names. `elements` are the names of elements of inputs. `related` are the names in assumed
    `relations` that are more than that and bounds.

    >>> symbols = Symbols(["N", "2*N", "seq len", "_d0"])
    >>> symbols.text("2*N"), symbols.text("seq len"), symbols.text("M").bounds(), symbols.name()
    (2*N, seq len, (0, None), '_d1')
    """

    def __init__(
        self,
        declared: Iterable[str],
        reserved: Iterable[str] = (),
        *,
        bounds: Mapping[str, tuple[int, int | None]] | None = None,
        min_dim: int = 1,
        fixed: Mapping[str, int | str] | None = None,
        related: Collection[str] = (),
        relations: tuple[str, ...] = (),
        elements: Mapping[str, tuple[str, int]] | None = None,
    ) -> None:
        declared = list(dict.fromkeys(declared))
        self._bounds = dict(bounds or {})
        self._min_dim = min_dim
        self._fixed = dict(fixed or {})
        self.related = frozenset(related)
        self._elements = elements or {}
        self._assumed = relations, tuple(sorted(self._bounds.items())), min_dim
        self._dims: dict[str, Dim] = {}
        self._meanings: dict[str, Dim] = {}
        self.count = 0
        self.inner_count = 0
        texts = (*declared, *reserved)
        self.reserved: frozenset[str] = frozenset()  # no text of an input is about a size of another value
        self.axes: set[Var] = set()
        self._axis_names = AxisNames(texts)
        self.names = frozenset(filter(is_name, declared))
        for text in declared:
            self._dims[text] = self._declared(text)
        self.reserved = frozenset(texts).union(*map(generated, texts))

    def _declared(self, text: str) -> Dim:
        size = None if text in self.names else self.expression(text)
        if size is None and text not in self.names:
            size = self._sum_or_product(text)
        return self._settled(self.var(text) if size is None else size)

    def declare(self, texts: Iterable[str]) -> None:
        """Let more texts be dim_params of inputs. What was read before stays what it is.

        Names that inference gives stay those of data-dependent sizes, and are not given again.

        >>> symbols = Symbols([])
        >>> symbols.declare(["N", "_d0 + 1"])
        >>> symbols.text("2*N").bounds(), symbols.name()
        ((2, None), '_d1')
        """
        new = [t for t in dict.fromkeys(texts) if t not in self._dims]
        made = frozenset(name for t in new for name in generated(t))
        if made:
            self.reserved |= made
        self.names |= {t for t in new if is_name(t) and t not in made}
        for t in new:
            self._dims[t] = self.text(t) if generated(t) else self._declared(t)

    def _settled(self, size: Dim) -> Dim:
        """The size with what the fixed symbols stand for."""
        if not self._fixed or not isinstance(size, Expr):
            return size
        return size.substitute({v: self._meaning(v.name) for v in size.variables() if v.name in self._fixed})

    def _meaning(self, name: str) -> Dim:
        """What a fixed name stands for. None of the names in an expression stands for another expression."""
        size = self._meanings.get(name)
        if size is None:
            text = self._fixed[name]
            if isinstance(text, str) and (text in self.names or text.isidentifier()):
                size = self.var(text)
            elif isinstance(text, str):
                from symdim.parsing import parse  # few calls give an expression

                size = parse(text, self.names, scope=self)
            else:
                size = text
            size = self._meanings[name] = self._settled(size)
        return size

    def bound(self, size: Dim) -> Dim:
        """The size with what stands for symbols by the caller's word, other than names, and numbers by their bounds.

        An assumption about such a symbol is one about its expression.
        """
        if not self._fixed or not isinstance(size, Expr):
            return size
        meanings = {v: self._meaning(v.name) for v in size.variables() if v.name in self._fixed}
        written = {v: m for v, m in meanings.items() if not isinstance(m, Var)}
        return size.substitute(
            {v: m for v, m in written.items() if not (isinstance(m, int) and v.name in self._bounds)}
        )

    def known(self) -> dict[str, Var]:
        """The symbols of all texts, and those in assumptions, by name."""
        known = {v.name: v for v in variables_of(self._dims.values())}
        known |= {name: self.var(name) for name in (*self._fixed, *self.names) if name not in known}
        same = ((name, other) for name, other in self._fixed.items() if isinstance(other, str) and other in known)
        return known | {name: known[other] for name, other in same}

    def _sum_or_product(self, text: str) -> Dim | None:
        """The declared text as an expression of one undeclared name, as in `2*N` and `N + N`; else None.

        With two such names it would not be clear that each is a size.
        """
        from symdim.parsing import read_dim_param

        reading = _Reading(self)
        size = read_dim_param(text, self.names, scope=reading)
        if isinstance(size, Var) and size.name == text:
            return None
        new = set(reading.others) if isinstance(size, int) else size.free_symbols()
        if len(new) != 1 or new & self.names:
            return None
        self._dims.update(reading.others)
        return size

    def symbol(self, name: str) -> Var | None:
        """The symbol of a name that the model declares, or that an earlier inference gave; None for other names."""
        symbol = self._dims.get(name)
        if not isinstance(symbol, Var) or symbol.name != name:
            if name in self.names:
                symbol = self.var(name)
                if name in self._fixed:
                    return symbol
            elif GENERATED.fullmatch(name) or (name in self.reserved and is_name(name)):
                symbol = self._of_others(name, *self._bounds.get(name, (0, None)))
            else:
                return None
            self._dims[name] = symbol
        return symbol

    def var(self, name: str, /) -> Var:
        """The symbol of a name, with its bounds, the same one for every call."""
        low, high = self._bounds.get(name, (self._min_dim, None))
        if name in self._elements:
            origin = ValueOf(*self._elements[name], "the element")
            return _scope(low, high, ("element", self._assumed)).restored(name, low, high, None, origin)
        if name in self.related:
            return _scope(low, high, self._assumed).var(name, low, high)
        return Var(name, low, high)

    def _of_others(self, name: str, low: int = 0, high: int | None = None) -> Var:
        """The size of a name that no input has. Rules conclude more about it if an assumption may name it."""
        make = Var.fresh if self._assumed[0] else make_size
        return make(name, low, high, None, Declared(name))

    def renamed(self, axis: Var, name: Var) -> Var:
        """The symbol of an axis under a declared name, with the bounds of both."""
        low, high = axis.bounds()
        if name.name not in self._bounds and (low, high) == (self._min_dim, None):
            return self.var(name.name)
        ends = [end for end in (high, name.hi) if end is not None]
        low, high = max(low or 0, name.lo or 0), min(ends, default=None)
        return axis if high is not None and high < low else Var(name.name, low, high)

    def expression(self, text: str) -> Dim | None:
        """The text as an expression of names that the model declares, whatever the order of its values, and of names
        from an earlier inference; None if it has others.
        """
        if not text:
            return None
        made = generated(text)
        if made == [text]:
            return self.symbol(text)
        names = self.names.union(made) if made else self.names
        few = len(names) <= _MAX_NAMES and len(text) <= _MAX_TEXT
        known: tuple[tuple[Var, ...], Dim] | None = _expressions.get((text, names)) if few else None
        if known is not None:
            variables, size = known
            if all(v is self.symbol(v.name) for v in variables):  # under other bounds they are others
                return size
        from symdim.parsing import part_of  # most models have only names

        reading = _Reading(self)
        try:
            size = part_of(text, names, scope=reading, cautious=True)
        except SymdimError:
            return None
        if reading.others or (isinstance(size, int) and (size < 0 or not reading.declared)):
            return None
        if few:
            _expressions[text, names] = tuple(reading.declared), size
        return size

    def text(self, text: str) -> Dim:
        """The size that a dim_param stands for."""
        size = self._dims.get(text)
        if size is None:
            expression = self.expression(text)
            if expression is None:
                expression = self._of_others(text, *self._bounds.get(text, (0, None)))
            size = self._dims[text] = self._settled(expression)
        return size

    def axis(self, value: str, axis: int) -> Dim:
        """The symbol of an axis of an input without a name. It is declared from then on."""
        name = self._axis_names.new(value, axis)
        self.names |= {name}
        symbol = self.var(name)
        self.axes.add(symbol)
        size = self._dims[name] = self._settled(symbol)
        return size

    def reader(self, value: str) -> Callable[[Size], Dim]:
        """A function that reads the sizes of an input one after the other."""
        axes = count()

        def read(size: Size) -> Dim:
            axis = next(axes)
            if isinstance(size, int):
                return size
            return self.axis(value, axis) if size is None else self.text(size)

        return read

    def read_declared(self, size: Size) -> Dim:
        """The size that is declared for a value other than an input of the main graph; None if it says nothing.

        A dimension without a name says nothing, and neither does a generated name that only a subgraph has.
        """
        if size is None:
            return UNKNOWN_SIZE
        if isinstance(size, int):
            return size
        return self.text(size) if self.reserved.issuperset(generated(size)) else UNKNOWN_SIZE

    def may_be_given(self, text: str) -> bool:
        """Whether a name in this text is, or may be, one that `name` has given."""
        numbers = (int(name[2:]) for name in generated(text) if name not in self.reserved)
        return any(number < self.count for number in numbers)

    def name(self) -> str:
        """The next of `_d0`, `_d1`, ... that the model does not use."""
        while True:
            name = f"_d{self.count}"
            self.count += 1
            if name not in self.reserved:
                return name

    def inner_element(self, name: str, origin: ValueOf) -> Var:
        """The variable for an element of a tensor in a subgraph or a function, without bounds.

        A name there stands for another tensor in each walk, so each call gives another variable. The next inference
        gets the same ones in the same order, so outcomes are remembered.
        """
        walked = scope_of(f"element of output {origin.index}", self.inner_count)
        self.inner_count += 1
        return walked.restored(name, None, None, None, origin)


class _Reading:
    """The variables of one text: those of `declared` names in order, and `others`, of names that nothing declares."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols
        self.declared: list[Var] = []
        self.others: dict[str, Var] = {}

    def var(self, name: str, /) -> Var:
        """The variable of a name, with its bounds, which influence the canonical form."""
        symbol = self._symbols.symbol(name)
        if symbol is not None:
            self.declared.append(symbol)
            return symbol
        symbol = self.others.get(name)
        if symbol is None:
            symbol = self.others[name] = self._symbols.var(name)
        return symbol
