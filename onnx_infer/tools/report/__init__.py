"""Reports of a finished inference for people and for programs.

    causes.py         why something is unknown              layout.py         texts within a width
    table.py          all values as text                    explanation.py    where one type comes from
    plain_data.py     everything as JSON (docs/json.md)     summary.py        one line, and a table for notebooks
    plans.py          costs and memory                      differences.py    two results side by side

Begin with `table.py`.
"""
