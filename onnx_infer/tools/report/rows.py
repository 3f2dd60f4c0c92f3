"""What every report shows of a result: a row for each value, the errors with their consequences, counts and laws.

The table, the notebook, JSON, a line of a fleet and the page are written from these rows.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from onnx_infer.results.data_laws import DataLaw, data_laws
from onnx_infer.results.exactness import is_exact, is_typed
from onnx_infer.results.reasons import Reason, Reasons, Root

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onnx_infer.results.inferred import Inferred
    from onnx_infer.values.tensor import Value
    from symdim import Var

VERDICTS = ("exact", "data-dependent", "unknown")


class Row(NamedTuple):
    """A value of the main graph: its type, the verdict on it, and the reason why it is not exact.

    `exact`: the sizes are functions of the input sizes. `data-dependent`: only the data decide some of them.
    """

    name: str
    value: Value
    verdict: str
    reason: Reason | None

    @property
    def is_exact(self) -> bool:
        return self.verdict == "exact"


class Rows:
    """The rows of a result, and what else all reports show."""

    def __init__(self, result: Inferred) -> None:
        self.result, self.reasons = result, Reasons(result)
        exact = {value: is_exact(value, self.reasons.inputs) for value in dict.fromkeys(result.types.values())}
        self.of = {name: self._row(name, value, exact[value]) for name, value in result.types.items()}
        self.inputs, self.outputs = (self._named(names) for names in (result.inputs, result.outputs))
        ends = {row.name for row in (*self.inputs, *self.outputs)}
        self.inner = [row for row in self.of.values() if row.name not in ends]

    def _row(self, name: str, value: Value, exact: bool) -> Row:
        reason = None if exact else self.reasons.of(name)
        by_data = is_typed(value) and reason is not None and reason.kind in ("data", "value")
        return Row(name, value, VERDICTS[0] if exact else VERDICTS[1] if by_data else VERDICTS[2], reason)

    def _named(self, names: Iterable[str]) -> list[Row]:
        return [self.of[name] for name in dict.fromkeys(names) if name in self.of]

    @cached_property
    def roots(self) -> list[Root]:
        """The errors that no other error causes."""
        return self.reasons.roots()

    @cached_property
    def symbols(self) -> list[Var]:
        """The symbols of the inputs, by name."""
        return sorted(self.reasons.inputs, key=lambda v: v.name)

    @cached_property
    def laws(self) -> list[DataLaw]:
        """The laws that the elements of inputs decide."""
        return data_laws(self.result)

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many values there are, in all and with each verdict, and how many errors and warnings."""
        verdicts = Counter(row.verdict for row in self.of.values())
        warnings = sum(diagnostic.severity == "warning" for diagnostic in self.result.diagnostics)
        errors = len(self.result.diagnostics) - warnings
        of_verdicts = {word: verdicts[word] for word in VERDICTS}
        return {"values": len(self.of), **of_verdicts, "errors": errors, "warnings": warnings}
