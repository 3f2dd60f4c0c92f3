"""One function from symbols to all sizes of a model, as source text in another language (docs/emit.md).

    content.py       the symbols, distinct sizes, values and guards of the function, as data
    source_text.py   what the texts of all languages share: the statements and the tables
    forms.py         what differs: how a language writes the entries of tables
    function.*.txt   the text in each language, with `$name` for its parts
    source.py        the text in the language that a caller names

How a language writes arithmetic is in `symdim/dialects/`. Begin with `source.py`.
"""
