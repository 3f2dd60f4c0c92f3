"""One function from symbols to all sizes of a model, as source text in another language (docs/emit.md).

    content.py       the symbols, distinct sizes, values and guards of the function, as data
    source_text.py   what the texts of all languages share: the statements and the tables
    source.py        the text in a language; each language has a file: c.py, rust.py, javascript.py, python.py

How a language writes arithmetic is in `symdim/dialects/`. Begin with `source.py`.
"""
