"""Reports of a finished inference for people and for programs.

    table.py          all values as text or HTML            explanation.py    where one type comes from
    plain_data.py     everything as JSON (docs/json.md)     comparison.py     two results side by side
    plans.py          costs and memory                      layout.py         texts within a width
    arena.py          an arena plan

Begin with `table.py`.
"""
