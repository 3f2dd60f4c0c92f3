"""Two models side by side: whether a run can tell them apart, and what differs in words.

    comparison.py   two results -> what differs, and the verdict     report.py     it as text and JSON
    graphs.py       graphs and functions as plain nodes and values   contents.py   constants by their bits, in blocks
    matching.py     values that compute the same, pairs of nodes     types.py      types and guards
    differences.py  what differs in the pairs

The verdict rests on the numbers in `matching.py` and `differences.py`. Pairs only decide how a difference is told: if a
pair is badly chosen, more differs, and never less. Begin with `comparison.py`.
"""
