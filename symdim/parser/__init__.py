"""From text to an expression.

    grammar.py     lexemes, and an operator-precedence parser      functions.py    floor, ceiling, Mod, Max ...
    rational.py    exact quotients, for texts in which `/` is exact

The room uses `algebra`. Its face is `symdim.parsing`; begin there.
"""
