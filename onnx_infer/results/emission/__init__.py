"""One function from symbols to all sizes of a model, as source text in another language (docs/emit.md).

content.py       what is emitted, as data: symbols, distinct sizes, values, guards
statements.py    the statements of the function, and what the languages share around them
source.py        the text in a language, by one file for each: c.py, rust.py, javascript.py, python.py
"""
