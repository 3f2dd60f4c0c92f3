"""Reports of a finished inference for people and for programs.

    rows.py           a row for each value, and counts      explanation.py    where one type comes from
    table.py          all values as text or HTML            layout.py         texts within a width, numbers with units
    plain_data.py     everything as JSON (docs/json.md)     plans.py          costs and memory
    arena.py          an arena plan

Begin with `rows.py`.
"""
