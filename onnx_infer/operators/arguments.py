"""The arguments of a rule's functions, from the inputs and attributes of a node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.errors import OpUsageError
from onnx_infer.operators.parameters import NOT_GIVEN, PLAIN, argument, collected, parameters
from onnx_infer.values.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onnx_infer.model.graph import Attributes
    from onnx_infer.operators.schema import Schema
    from onnx_infer.values.tensor import Value


class Arguments:
    """The arguments of one function of a rule, bound to one version of an operator.

    Arguments from attributes are computed once for each `Attributes`, which caches them.
    """

    __slots__ = ("_attributes", "_inputs", "_since_version", "_specials", "parameters")

    def __init__(self, function: Callable[..., Any], schema: Schema) -> None:
        self.parameters = parameters(function, schema)
        self._attributes = tuple(p for p in self.parameters if p.source.startswith("attribute"))
        taken = [p for p in self.parameters if p.source in ("input", "variadic")]
        self._inputs = tuple((p.name, p.at, p, p.source == "variadic", p.want == "SymTensor") for p in taken)
        self._specials = frozenset(p.name for p in self.parameters if p.source == "special")
        self._since_version = schema.since_version

    def __call__(
        self,
        inputs: tuple[Value | None, ...],
        attributes: Attributes,
        dtypes: list[int | None],
        arrays: bool = False,
    ) -> dict[str, Any]:
        """The arguments by name. `dtypes` are the element types of the outputs; data functions need `arrays`.

        Raises `Unknown` if the function asks for an unknown value, and `OpUsageError` for a missing attribute.
        """
        fixed = attributes.made.get(self)
        if fixed is None:
            fixed = attributes.made[self] = self._of_attributes(attributes.values)
        out: dict[str, Any] = fixed.copy()
        for name, at, p, variadic, ranked in self._inputs:
            if variadic:
                out[name] = tuple([argument(p, x, arrays) for x in inputs[at:]])
                continue
            given = inputs[at] if at < len(inputs) else None
            if ranked and isinstance(given, SymTensor) and given.shape is not None and not arrays:
                out[name] = given
            elif given is None and name in attributes.values and p.want in PLAIN:
                out[name] = attributes.values[name]  # Split-1 has `split` as an optional input and as an attribute
            else:
                out[name] = argument(p, given, arrays)
        if self._specials:
            if "output_count" in self._specials:
                out["output_count"] = len(dtypes)
            if "output_dtype" in self._specials:
                out["output_dtype"] = dtypes[0] if dtypes else None
        return out

    def _of_attributes(self, values: Mapping[str, Any]) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for p in self._attributes:
            out[p.name] = values.get(p.name, p.default) if p.source == "attribute" else collected(p, values)
            if out[p.name] is NOT_GIVEN:
                raise OpUsageError(f"required attribute {p.name} is missing")
        if "since_version" in self._specials:
            out["since_version"] = self._since_version
        return out
