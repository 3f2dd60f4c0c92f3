"""The arguments of a rule's functions, from the inputs and attributes of a node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.errors import OpUsageError
from onnx_infer.operators.parameters import NOT_GIVEN, PLAIN, absent, collected, parameters, reader

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onnx_infer.model.graph import Attributes
    from onnx_infer.operators.schema import Schema
    from onnx_infer.values.tensor import Value


class Arguments:
    """The arguments of one function of a rule, bound to one version of an operator. Data functions take `arrays`.

    What does not depend on the inputs is computed once for each `Attributes`, which caches it.
    """

    __slots__ = ("_fixed", "_inputs", "_since_version", "_specials", "_variadic", "parameters")

    def __init__(self, function: Callable[..., Any], schema: Schema, arrays: bool = False) -> None:
        self.parameters = parameters(function, schema)
        self._fixed = tuple(p for p in self.parameters if p.source.startswith("attribute") or p.source == "input")
        self._inputs, self._variadic = (
            tuple((p.name, p.at, reader(p, arrays)) for p in self.parameters if p.source == source)
            for source in ("input", "variadic")
        )
        self._specials = frozenset(p.name for p in self.parameters if p.source == "special")
        self._since_version = schema.since_version

    def __call__(
        self, inputs: tuple[Value | None, ...], attributes: Attributes, dtypes: list[int | None]
    ) -> dict[str, Any]:
        """The arguments by name. `dtypes` are the element types of the outputs.

        Raises `Unknown` if the function asks for an unknown value, and `OpUsageError` for a missing attribute.
        """
        fixed = attributes.made.get(self)
        if fixed is None:
            fixed = attributes.made[self] = self._of_attributes(attributes.values)
        out: dict[str, Any] = fixed.copy()
        count = len(inputs)
        for name, at, read in self._inputs:
            if at < count and (given := inputs[at]) is not None:
                out[name] = read(given, name)
        for name, at, read in self._variadic:
            out[name] = tuple([x and read(x, name) for x in inputs[at:]])
        if self._specials:
            if "output_count" in self._specials:
                out["output_count"] = len(dtypes)
            if "output_dtype" in self._specials:
                out["output_dtype"] = dtypes[0] if dtypes else None
        return out

    def _of_attributes(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments from attributes, and those from inputs that are left out.

        Split-1 has `split` as an optional input and as an attribute.
        """
        out: dict[str, Any] = {}
        for p in self._fixed:
            if p.source == "attributes":
                out[p.name] = collected(p, values)
            elif p.source == "input":
                out[p.name] = values[p.name] if p.name in values and p.want in PLAIN else absent(p)
            else:
                out[p.name] = values.get(p.name, p.default)
            if out[p.name] is NOT_GIVEN:
                raise OpUsageError(f"required attribute {p.name} is missing")
        if "since_version" in self._specials:
            out["since_version"] = self._since_version
        return out
