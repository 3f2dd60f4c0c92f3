"""What other programs write: their functions, and expressions in their languages.

    floats.py              functions of floats, as models compute them
    functions.py           these by name, roots and signs, which the parser asks for
    texts.py               the texts of JAX and torch, and the choice of a dialect
    sympy_texts.py         SymPy's texts, as its printer writes them
    trees.py               expressions as plain nested data
    sympy_expressions.py   SymPy's objects, both ways; the only file that imports sympy, and only in calls
    languages.py           how C, JavaScript and Python write arithmetic
    straight_code.py       expressions as statements of such a language, each part computed once
    arithmetic.*           exact arithmetic in C and JavaScript: the functions that statements call

The room uses `algebra` and `parser`. Begin with `texts.py`, or with `straight_code.py` for code.
"""
