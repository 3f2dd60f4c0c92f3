"""The laws that rules share. A rule calls them; they call no rule.

    statements.py    what a rule says beside its result: statements, and fresh sizes
    known.py         what is assumed of sizes
    sizes.py         broadcasting, equal sizes, axes, exact quotients
    windows.py       places of a sliding window
    slices.py        which elements a slice takes
    limits.py        sizes that must not be too small

The room uses `values` and `symdim`. Begin with `sizes.py`.
"""
