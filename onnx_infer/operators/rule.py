"""A registered rule, as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from symdim.algebra.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from onnx_infer import Node, ShapeInferenceContext
    from onnx_infer.values.tensor import Dim, Shape, Value

Attributes: TypeAlias = "Mapping[str, Any]"
Values: TypeAlias = "Sequence[Value | None]"
Shapes: TypeAlias = "Sequence[Shape | None]"
Cost: TypeAlias = "Callable[[Shapes, Shapes, Attributes], Dim | None]"
Least: TypeAlias = "list[tuple[Dim, int]]"
"""Sizes, each with the number that it is at least."""


class Reread(NamedTuple):
    """What a node may read in place of what it reads, with the same result in every run.

    `elements`: input -> its elements: sizes, or floats; None leaves the input out. `attributes`: those that change with
    them; None for one that goes.
    """

    elements: Mapping[int, Sequence[Any] | None]
    attributes: Mapping[str, Any] = {}


class Traits(NamedTuple):
    """What is known of an operator besides its types: for tools, and for what the inference says of a run.

    Functions take the inputs of a node, its outputs and its attributes. An absent value is None. Of an unknown value,
    the element type and the shape are None.

    - `cost`: the multiply-adds, from shapes. Without it the operator contracts nothing.
    - `computes`: the only output as a numpy array, from arrays, its shape, its numpy type and the attributes; or a
      numpy ufunc of the arrays. `fold` may compute it then, so every runtime must have the same bits. None: it may not.
    - `same`: the first output is the first input, always, or if their types are alike. A function says of a node whose
      types are alike whether it is so.
    - `rereads`: what a node may read in place of what it reads.
    - `total`: the rule states every law by which a run is refused, given the elements that it reads, and `demands`.
    - `demands`: sizes that a run must have, because it is refused otherwise, beyond what the rule states; None if they
      are not known.
    - `demands_if_empty`: a run of empty tensors is refused by `demands`, too.
    - `indices`: the inputs that hold indices. A run is refused if one is out of bounds.
    - `bounded`: no element of an operand decides whether those of the results are in bounds: they are sizes or places.
    - `random`: two nodes that are equal may have different results.
    - `reads`: "nothing": no element of an operand is read. "selected": as many elements of the first input as the first
      output has. Without it all of them are.
    - `view`: outputs may share the storage of the first input. "whole": the output has all elements in their order. A
      function gives for each output the number of its first element there; None if it has no successive elements.
    - `in_place`: the first output may take the storage of an operand of its type. "elements": an element needs only
      those at its place. "rows": it needs others along the axes of the operator, which a kernel reads before it writes.
    - `packs`: a runtime rearranges a constant weight, which is any operand but the first, before the run.
    """

    cost: Cost | None = None
    computes: Callable[..., Any] | None = None
    same: Callable[[Values, Values, Attributes], bool] | Literal["always", "alike"] | None = None
    rereads: Callable[[Values, Values, Attributes], Reread | None] | None = None
    demands: Callable[[Values, Values, Attributes], Least | None] | None = None
    demands_if_empty: bool = False
    indices: tuple[int, ...] = ()
    total: bool = False
    bounded: bool = False
    random: bool = False
    reads: Literal["nothing", "selected"] | None = None
    view: Callable[[Values, Values, Attributes], Sequence[Dim | None]] | Literal["whole"] | None = None
    in_place: Literal["elements", "rows"] | None = None
    packs: bool = False


NO_TRAITS = Traits()


def uncounted(inputs: Shapes, outputs: Shapes, attributes: Attributes) -> None:
    """The cost of an operator with multiply-adds that are not counted."""
    return


class Rule(NamedTuple):
    """A registered rule.

    `shape` computes the results. `data`, if given, computes the elements of the outputs on numpy object arrays.
    `dtype`, if given, computes the output element types that the schema does not determine. The parameters of all three
    are the schema's names. A rule of style `context` is a function `(ctx, node)` instead. `inputs` names the inputs of
    an operator without a schema in onnx: `X W B? rest*`. `moves`: the first output has exactly the elements of the
    first input, unless it is empty. `module` is the module that registers the rule; its function may come from another.
    """

    domain: str
    name: str
    since: int
    shape: Callable[..., Any]
    data: Callable[..., Any] | None = None
    dtype: Callable[..., Any] | None = None
    style: str = "schema"
    inputs: str | None = None
    moves: bool = False
    module: str = ""
    traits: Traits = NO_TRAITS

    def __call__(self, ctx: ShapeInferenceContext, node: Node) -> None:
        """Apply the rule to a node; see `operators/context.py`."""
        from onnx_infer import call_rule

        call_rule(self, ctx, node)
