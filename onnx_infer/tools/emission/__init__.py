"""One function from symbols to all sizes of a model, as source text in another language (docs/emit.md).

    code.py          the whole text of a file
    content.py       the symbols, distinct sizes, values, guards and the arena, as data
    source.py        the text: what all languages share, and how each writes the entries of tables
    function.*.txt   the text in each language, with `$name` for its parts; `function.h.txt` is the header of C
    arena.*.txt      the same for the memory of the values

How a language writes arithmetic is in `symdim/dialects/`. Begin with `code.py`.
"""
