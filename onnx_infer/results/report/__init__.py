"""A finished inference for people and for programs.

verdicts.py       whether a type is exact, and which node gives a value
table.py          all values as a text             explanation.py    where one type comes from
plain_data.py     all of it as JSON
"""
