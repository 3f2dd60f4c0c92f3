"""The kinds of parameters that rules declare, as types. See `onnx_infer.operators.parameters` for what a rule gets.

Each alias carries its name, so that an annotation which is evaluated still says which kind is meant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Protocol, TypeAlias

from onnx_infer.laws.windows import IntVector, Windows
from onnx_infer.values.tensor import Dim, Shape, SymTensor, Value

if TYPE_CHECKING:
    from symdim import Var

AnyRank: TypeAlias = Annotated[SymTensor, "AnyRank"]
"""A tensor whose shape may be None."""
Variadic: TypeAlias = Annotated[tuple[SymTensor, ...], "Variadic"]
"""The rest of the inputs, all of known rank."""
AnyRanks: TypeAlias = Annotated[tuple[SymTensor, ...], "AnyRanks"]
"""The rest of the inputs, their shapes may be None."""
Values: TypeAlias = Annotated[tuple[Value, ...], "Values"]
"""The rest of the inputs, whatever they are, with their elements."""
Elements: TypeAlias = Annotated[SymTensor, "Elements"]
"""A tensor whose elements the rule reads itself; its shape may be None."""
Ints: TypeAlias = Annotated[tuple[Dim, ...], "Ints"]
"""A vector of integers: an attribute, or the data of an input; an element that is not known is None."""
Sizes: TypeAlias = Annotated[tuple[Dim, ...], "Sizes"]
"""As `Ints`; an input must have rank 1."""
Floats: TypeAlias = Annotated[tuple[float, ...], "Floats"]
"""A vector of floats, likewise."""
Strings: TypeAlias = Annotated[tuple[str, ...], "Strings"]
"""A vector of strings, likewise."""


class Graph(Protocol):
    """A subgraph: a function from input values to output values. `engine/subgraph.py` says what each part does."""

    @property
    def input_count(self) -> int:
        """The number of formal inputs."""

    @property
    def output_count(self) -> int:
        """The number of formal outputs."""

    @property
    def refusal(self) -> str | None:
        """The law that a node broke in the last walk, so that no run survives the graph."""

    def forget_errors(self) -> None:
        """Take the errors of the last walk back."""

    def declared_rank(self, index: int) -> int | None:
        """The rank that a formal input is declared with."""

    def __call__(self, *inputs: Value, repeated: bool = False, reached: bool | None = None) -> list[Value]:
        """The outputs for these inputs."""

    def may_repeat(self) -> bool:
        """Whether another walk over the body is worth its time."""

    def remembered(self) -> tuple[list[Value], frozenset[Var]]:
        """The state of a walk over the body before, in the same node of the main graph, and its sizes of the inside."""

    def remember(self, state: list[Value], inside: frozenset[Var]) -> None:
        """Keep the state of a walk, and the sizes in it that mean something inside only."""

    def node_count(self) -> int:
        """The number of nodes of the graph itself."""

    def size(self, why: str, *, at_most: Dim | None = None, at_least: int | None = 0) -> Var:
        """A new size that the inside of the body is written with."""

    def locals(self, values: list[Value], outside: list[Value]) -> frozenset[Var]:
        """The variables of values that mean something inside of the body only."""

    def release(self, values: list[Value]) -> None:
        """Let values with sizes of the inside out as they are."""


__all__ = [
    "AnyRank",
    "AnyRanks",
    "Dim",
    "Elements",
    "Floats",
    "Graph",
    "IntVector",
    "Ints",
    "Shape",
    "Sizes",
    "Strings",
    "SymTensor",
    "Value",
    "Values",
    "Variadic",
    "Windows",
]
