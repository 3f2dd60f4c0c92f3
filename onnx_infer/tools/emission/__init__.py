"""One function from symbols to all sizes of a model, as source text in another language (docs/emit.md).

    content.py       the symbols, distinct sizes, values and guards of the function, as data
    source.py        the text: what all languages share, and how each writes the entries of tables
    function.*.txt   the text in each language, with `$name` for its parts

How a language writes arithmetic is in `symdim/dialects/`. Begin with `source.py`.
"""
