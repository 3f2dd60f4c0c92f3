"""From text to an expression.

    tokens.py      lexemes                        grammar.py     the grammar, an operator-precedence parser
    functions.py   floor, ceiling, Mod, Max ...   rational.py    exact quotients, for texts in which `/` is exact
    shapes.py      whole shapes

The room uses `algebra`. Its face is `symdim.parsing`; begin there.
"""
