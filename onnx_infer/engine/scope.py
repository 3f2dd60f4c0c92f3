"""The values that are visible in a graph by name: its own, and those of the graphs around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.values.propagated import is_small, may_be_read
from onnx_infer.values.tensor import SymTensor

if TYPE_CHECKING:
    from onnx_infer.model.graph import Attributes, Model
    from onnx_infer.operators.lookup import Operators
    from onnx_infer.operators.operator import Operator
    from onnx_infer.values.tensor import Value


class UndefinedInput(KeyError):  # noqa: N818  (a signal inside the engine)
    """A node reads a name without a value. The nodes may be out of order."""


class Scope(dict[str, "Value"]):
    """The values of a graph by name. Constants are entered at their first use; outer values come from `parent`.

    `operators` are those of the graph's opset imports. In the body of a function an absent optional input is None, and
    `attributes` are those of the call. In the body of a Loop, at any depth, `repeated` is true: types declared there
    may hold only in the first iteration. `unread` are the names of constants, here and in graphs around, whose elements
    may be read but were not.
    """

    __slots__ = ("attributes", "constants", "loaded", "model", "operators", "parent", "repeated", "unread")

    def __init__(
        self,
        model: Model,
        constants: Any,
        operators: Operators,
        parent: Scope | None = None,
        attributes: Attributes | None = None,
    ) -> None:
        super().__init__()
        self.model, self.constants, self.operators, self.parent = model, constants, operators, parent
        self.attributes = attributes
        self.repeated = False
        self.loaded: dict[str, Value] = {}
        self.unread: set[str] = set() if parent is None else parent.unread

    def __reduce__(self) -> tuple[Any, ...]:
        """A pickle has the values, and not the model."""
        return dict, (dict(self),)

    def inside(self, constants: Any, repeated: bool) -> Scope:
        """The scope of a graph inside this one; `repeated` if it is the body of a Loop."""
        scope = Scope(self.model, constants, self.operators, self, self.attributes)
        scope.repeated = repeated or self.repeated
        return scope

    def __missing__(self, name: str) -> Value:
        handle = self.constants.get(name)
        if handle is not None:
            value = self[name] = self.model.header(handle)
            if value.data is None and may_be_read(value):
                self.unread.add(name)
            return value
        if self.parent is None:
            raise UndefinedInput(name)
        return self.parent[name]

    def touch(self, names: list[str]) -> None:
        """Enter the constants of these names."""
        for name in names:
            self[name]

    def knows(self, name: str) -> bool:
        """Whether the name has a value here or in a graph around this one."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope or name in scope.constants:
                return True
            scope = scope.parent
        return False

    def holder(self, name: str) -> Scope | None:
        """The scope that has this name as a constant, or None."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.constants:
                return scope
            if name in scope:
                return None
            scope = scope.parent
        return None

    def load(self, name: str) -> Value:
        """The constant of this name in this scope, with its elements if they may be read."""
        value = self.loaded.get(name)
        if value is None:
            value = self.loaded[name] = self.model.load(self.constants[name])
        return value

    def with_elements(
        self, operator: Operator, names: list[str], values: tuple[Value | None, ...]
    ) -> tuple[Value | None, ...]:
        """The inputs of a node; constants have elements if its rule or its data function asks for them.

        The data function asks in vain if another operand has none, unless it is applied to samples.
        """
        wants, needs, reads = operator.asked(len(values))
        for i in needs:
            value = values[i]
            if value is None or value.data is not None:
                continue
            if isinstance(value, SymTensor) and (value.fill is not None or value.samples):
                continue
            if self.holder(names[i]) is None:
                reads = wants
                break
        loaded: list[Value | None] | None = None
        for i in reads:
            value = values[i]
            if value is not None and value.data is None:
                holder = self.holder(names[i])
                if holder is not None and (i in wants or is_small(value)):
                    loaded = loaded or list(values)
                    loaded[i] = holder.load(names[i])
        return values if loaded is None else tuple(loaded)
