"""What a reader sees of an expression: the display tree, and its text.

    printing.py     the printed form, and the beginning of a long one
    display.py      the shortest tree of an expression, and trees as texts
    tree.py         trees, and those of the stored form
    remainders.py   the remainders in a sum
    factoring.py    sums that are products
    push_down.py    terms of a sum inside of a minimum, maximum, division or remainder
    written.py      the length of a text, in names, too, and the work to build it

Begin with `tree.py`. The rest of `algebra` imports none of these files. The methods of nodes call the functions below,
which load the files when something is printed.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.algebra.expr import Dim, Expr
    from symdim.algebra.texts.tree import Tree


def tree_of(node: Expr) -> Tree:
    """The display tree."""
    from symdim.algebra.texts import display

    return display.tree_of(node)


def to_text(dim: Dim) -> str:
    """The printed form."""
    from symdim.algebra.texts import printing

    return printing.to_text(dim)


def brief(dim: Dim) -> str:
    """The printed form, or the beginning of a long one."""
    from symdim.algebra.texts import printing

    return printing.brief(dim)
