"""Wrong declared shapes, told once for each cause.

The tool that wrote a wrong size computed others from it, and wrote these, too. So values with the same two shapes are
one cause, and so is a value whose node reads a value with a wrong declared shape: what comes first is told, with the
number of the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.diagnostics import Diagnostic, WrongShape

if TYPE_CHECKING:
    from onnx_infer.engine.walk import Walk


class _Cause:
    """The first of the warnings with one cause; `alike` are the values with the same sizes, `behind` those after it."""

    def __init__(self, first: WrongShape) -> None:
        self.first = first
        self.alike: dict[str, None] = {}
        self.behind: dict[str, None] = {}

    def told(self) -> WrongShape:
        """The first warning, with the numbers of further values."""
        alike = [name for name in self.alike if name != self.first.node]
        behind = [name for name in self.behind if name not in self.alike]
        counts = [f"{len(alike)} more values" if alike else "", f"{len(behind)} computed from it" if behind else ""]
        rest = " and ".join(filter(None, counts))
        return self.first._replace(message=f"{self.first.message} (and {rest})") if rest else self.first


def told_once(walk: Walk) -> list[Diagnostic]:
    """The diagnostics of a walk, in which each cause of wrong declared shapes is told once."""
    wrong = [found for found in walk.diagnostics if isinstance(found, WrongShape)]
    if len(wrong) < 2:
        return walk.diagnostics
    read = {name: node[2] for node in walk.main_nodes for name in node[3]}
    causes: dict[str, _Cause] = {}
    of: dict[str, list[_Cause]] = {}  # value -> the causes of what is wrong with it
    for found in wrong:
        name, text = found.node, found.message.removeprefix(f"value '{found.node}': ").partition(" at axis ")[0]
        before = next((of[operand] for operand in read.get(name, ()) if operand in of), None)
        if text in causes or before is None:
            cause = causes.setdefault(text, _Cause(found))
            cause.alike[name] = None
        else:
            cause = before[0]
            cause.behind[name] = None
        of.setdefault(name, []).append(cause)
    told = iter([cause.told() for cause in causes.values()])
    firsts = {id(cause.first) for cause in causes.values()}
    kept = (d for d in walk.diagnostics if not isinstance(d, WrongShape) or id(d) in firsts)
    return [next(told) if isinstance(d, WrongShape) else d for d in kept]
