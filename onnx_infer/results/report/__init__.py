"""A finished inference for people and for programs.

causes.py         which errors have others behind them     layout.py         texts within a width
table.py          all values as a text                     explanation.py    where one type comes from
plain_data.py     all of it as JSON (docs/json.md)
"""
