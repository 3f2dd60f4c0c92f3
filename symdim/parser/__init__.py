"""From text to an expression.

    lexemes.py     names, numbers, words and operators      grammar.py      an operator-precedence parser
    functions.py   floor, ceiling, Mod, Max ...              rational.py     exact quotients, for an exact `/`

The room uses `algebra`. Its face is `symdim.parsing`; begin there.
"""
