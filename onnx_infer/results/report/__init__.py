"""A finished inference for people and for programs.

causes.py         why something is unknown, which errors are the first ones
table.py          all values as a text                  explanation.py    where one type comes from
plain_data.py     all of it as JSON (docs/json.md)      summary.py        one line, and a table for notebooks
layout.py         texts within a width
"""
