"""The kinds of parameters of rules, as types. `onnx_infer.operators.arguments` describes their arguments.

Each alias has its name in it, so that an evaluated annotation still shows the kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Protocol, TypeAlias

from onnx_infer.laws.windows import IntVector, Windows
from onnx_infer.values.tensor import Dim, Shape, SymTensor, Value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx_infer.laws.statements import Statement
    from symdim import Var

AnyRank: TypeAlias = Annotated[SymTensor, "AnyRank"]
"""A tensor whose shape may be None."""
Variadic: TypeAlias = Annotated[tuple[SymTensor, ...], "Variadic"]
"""The remaining inputs, all of known rank."""
AnyRanks: TypeAlias = Annotated[tuple[SymTensor, ...], "AnyRanks"]
"""The remaining inputs; their shapes may be None."""
Values: TypeAlias = Annotated[tuple[Value, ...], "Values"]
"""The remaining inputs of any kind, with their elements."""
Elements: TypeAlias = Annotated[SymTensor, "Elements"]
"""A tensor whose elements the rule reads. Its shape may be None."""
Ints: TypeAlias = Annotated[tuple[Dim, ...], "Ints"]
"""A vector of integers: an attribute, or the data of an input. An unknown element is None."""
Sizes: TypeAlias = Annotated[tuple[Dim, ...], "Sizes"]
"""As `Ints`, but an input must have rank 1."""
FlatSizes: TypeAlias = Annotated[tuple[Dim, ...], "FlatSizes"]
"""As `Sizes`, but rank 1 is an assumed law: onnxruntime takes the elements of tensors of other ranks, too."""
Floats: TypeAlias = Annotated[tuple[float, ...], "Floats"]
"""A vector of floats, like `Ints`."""
Strings: TypeAlias = Annotated[tuple[str, ...], "Strings"]
"""A vector of strings, like `Ints`."""


Scales: TypeAlias = Annotated[dict[str, SymTensor], "Scales"]
"""The scales and zero points of a node's quantized tensors, by the names of the inputs. Absent ones are not in it."""


class Graph(Protocol):
    """A subgraph: a function from input values to output values. `engine/subgraph.py` describes the methods."""

    @property
    def input_count(self) -> int:
        """The number of formal inputs."""

    @property
    def output_count(self) -> int:
        """The number of formal outputs."""

    @property
    def refusal(self) -> str | None:
        """The law that a node broke in the last walk, so that every run of the graph fails; or None."""

    @property
    def breach(self) -> str | None:
        """The assumed law that a node broke in the last walk. A runtime may go on. None if the graph may not run."""

    def forget(self) -> None:
        """Remove the errors and the assumptions of the last walk."""

    def declared_rank(self, index: int) -> int | None:
        """The declared rank of a formal input, or None."""

    def __call__(self, *inputs: Value, repeated: bool = False, reached: bool | None = None) -> list[Value]:
        """The outputs for these inputs."""

    @property
    def is_nested(self) -> bool:
        """Whether its node stands in a body itself, so no guard can name the sizes that its node sees."""

    def may_repeat(self) -> bool:
        """Whether another walk over the body is allowed."""

    def remembered(self) -> tuple[list[Value], frozenset[Var]]:
        """The state of an earlier walk over the body, in the same node of the main graph, and its inside sizes."""

    def remember(self, state: list[Value], inside: frozenset[Var]) -> None:
        """Remember the state of a walk, and the sizes in it that belong to the inside."""

    def size(self, why: str, *, at_most: Dim | None = None, at_least: int | None = 0) -> Var:
        """A new size for the inside of the body."""

    def locals(self, values: list[Value], outside: list[Value]) -> frozenset[Var]:
        """The variables in values that have a meaning only inside the body."""

    def demands(self, sizes: Mapping[Var, Dim], outside: list[Value]) -> list[Statement]:
        """What the last repeated walk demands of the values outside, in the iteration in which it has these sizes."""

    def certain_demands(self) -> list[Statement]:
        """What each run of the last walk demands of the values outside."""

    def release(self, values: list[Value]) -> None:
        """Allow sizes of the inside in values outside."""


__all__ = [
    "AnyRank", "AnyRanks", "Dim", "Elements", "FlatSizes", "Floats", "Graph", "IntVector", "Ints", "Scales",
    "Shape", "Sizes", "Strings", "SymTensor", "Value", "Values", "Variadic", "Windows",
]  # fmt: skip
