"""The loops of a plan as a Python function, for any containers that are indexed by tuples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product as points
from keyword import iskeyword
from typing import TYPE_CHECKING, Any

from symdim.algebra.canonical import total
from symdim.algebra.dims import substituted, variables_of
from symdim.algebra.expr import Expr
from symdim.algebra.texts.printing import to_text
from symdim.algebra.variable import Scope
from symdim.einsum.loopnest import LoopNest
from symdim.einsum.projection import Access, Affine, Dim, Index, Projections, terms_of
from symdim.errors import SymdimError

if TYPE_CHECKING:
    from symdim.einsum.loopnest import Walk

_NESTED = 12  # Python limits the nesting of blocks: more loops become one loop over all their points
_RESERVED = ("range", "points", "min", "max")
_OPERATORS = ("*", "+", "-", "/", "//", "%", "&", "|", "^", "<<", ">>", "==", "!=", "<", "<=", ">", ">=")


class _Source:
    """The source has only numbers, operators and names made by `_name`, so it is safe to run."""

    def __init__(self, plan: LoopNest, product: str) -> None:
        if product not in _OPERATORS:
            raise SymdimError(f"elements are combined by one of {' '.join(_OPERATORS)}, not {product!r}")
        self.plan, self.product = plan, product
        self.taken = {*_RESERVED, "out", *(f"in{i}" for i in range(len(plan.args)))}
        dims = [dim for shape in plan.shapes for dim in shape] + list(plan.sizes.values())
        dims += [dim for margins in plan.margins for margin in margins for dim in margin]
        for index in (index for indices in (plan.out, *plan.args) for index in indices):
            if isinstance(index, Affine):
                dims += [*(coefficient for coefficient, _ in index.terms), index.offset]
        variables = variables_of(dims)
        scope = Scope()
        self.sizes = {v: scope.var(self._name(v.name), max(v.lo or 0, 0), v.hi) for v in variables}
        self.names = {name: scope.var(self._name(name), 0) for name in (*plan.sizes, *plan.statics)}

    def _name(self, wanted: str) -> str:
        """An unused identifier, similar to the wanted name."""
        plain = "".join(c if c.isalnum() and c.isascii() else "_" for c in wanted) or "_"
        stem = plain if plain.isidentifier() and not iskeyword(plain) else f"_{plain}"
        name, count = stem, 1
        while name in self.taken:
            count += 1
            name = f"{stem}_{count}"
        self.taken.add(name)
        return name

    def function(self, name: str) -> str:
        keywords = [v.name for v in self.sizes.values()] + [self.names[static].name for static in self.plan.statics]
        parameters = ["out", *(f"in{i}" for i in range(len(self.plan.args))), *(["*", *keywords] if keywords else [])]
        lines = [f"def {name}({', '.join(parameters)}):"]
        for walk in self.plan.walks():
            lines += self._nest(walk)
        return "\n".join(lines if len(lines) > 1 else [*lines, "    pass"])

    def _nest(self, walk: Walk) -> list[str]:
        names = [self.names[name].name for name in walk.iterators]
        ranges = [f"range({self._text(self.plan.sizes[name])})" for name in walk.iterators]
        heads = [f"for {name} in {values}:" for name, values in zip(names, ranges, strict=True)]
        if len(heads) > _NESTED:
            heads = [f"for {', '.join(names)} in points({', '.join(ranges)}):"]
        if guards := list(self._guards(walk)):
            heads.append(f"if {' and '.join(guards)}:")
        values = [self._element(f"in{i}", indices) for i, indices in walk.args.items()]
        heads.append(
            f"{self._element('out', walk.out)} {'+=' if self.plan.accumulates else '='} "
            + (f" {self.product} ".join(values) or "1")
        )
        return [f"{'    ' * depth}{head}" for depth, head in enumerate(heads, 1)]

    def _guards(self, walk: Walk) -> Iterable[str]:
        """The conditions that indices lie inside their axes. Outside is padding, which adds nothing."""
        accesses = [*walk.args.items(), (len(self.plan.args), walk.out)]
        for tensor, indices in accesses:
            for index, size, margin in zip(indices, self.plan.shapes[tensor], self.plan.margins[tensor], strict=True):
                if margin != (0, 0):
                    yield f"0 <= {self._index(index)} < {self._text(size)}"

    def _element(self, tensor: str, indices: tuple[Index, ...]) -> str:
        return f"{tensor}[{', '.join(map(self._index, indices)) or '()'}]"

    def _index(self, index: Index) -> str:
        terms, offset = terms_of(index)
        numbers = [self.names[name] * c for c, name in terms if isinstance(c, int)]
        text = to_text(total([self._renamed(offset), *numbers]))
        factors = [(self._text(c), self.names[name].name) for c, name in terms if isinstance(c, Expr)]
        symbolic = " + ".join(f"{c if c.isidentifier() else f'({c})'}*{name}" for c, name in factors)
        return " + ".join(part for part in (symbolic, text) if part and part != "0") or text

    def _text(self, dim: Dim) -> str:
        return to_text(self._renamed(dim))

    def _renamed(self, dim: Dim) -> Dim:
        return substituted(dim, self.sizes)


@dataclass(frozen=True, slots=True, repr=False)
class Plan(LoopNest):
    """A loop nest that can be printed and run."""

    def __repr__(self) -> str:
        return f"<Plan {self.source().partition(':')[0].removeprefix('def ')}>"

    def source(self, name: str = "run", product: str = "*") -> str:
        """The loops as a function `name(out, in0, in1, ..., *, sizes and statics)`.

        `product` is the binary operator of Python that combines the operands' elements. Raises SymdimError for others.

        >>> from symdim.einsum import plan
        >>> print(plan("o=+k; k => o", [["N"], [3]]).source())
        def run(out, in0, in1, *, N):
            for o in range(N):
                for k in range(3):
                    if 0 <= k + o - 1 < N:
                        out[o] += in0[k + o - 1] * in1[k]
        """
        return _Source(self, product).function(name)

    def compiled(self, product: str = "*") -> Callable[..., None]:
        """The function of `source`. It adds to a result, which must start as zero if the plan `clears`."""
        namespace: dict[str, Any] = {"points": points}
        exec(self.source("run", product), namespace)
        run: Callable[..., None] = namespace["run"]
        return run

    def __str__(self) -> str:
        return self.source()


def lowered(projections: Projections, accesses: Sequence[Access]) -> Plan:
    """The plan of an operation, after its projections have been equated, from its operands and, last, its result."""
    shapes = tuple(tuple(size for _, size, _ in access) for access in accesses)
    margins = tuple(tuple(margin for _, _, margin in access) for access in accesses)
    (out, *args), components = projections.indices([accesses[-1], *accesses[:-1]])
    return Plan(components, out, tuple(args), shapes, margins, projections.statics)
