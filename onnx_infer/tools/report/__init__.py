"""Reports of a finished inference for people and for programs.

    table.py          all values as text or HTML            explanation.py    where one type comes from
    plain_data.py     everything as JSON (docs/json.md)     plans.py          costs and memory
    arena.py          an arena plan                         layout.py         texts within a width

Begin with `table.py`.
"""
