"""Two models side by side: whether a run can tell them apart, and what differs in words.

    comparison.py   two results -> what differs, and the verdict     told.py       it as text and JSON
    graphs.py       graphs and functions as plain nodes and values   contents.py   constants by their bits, in blocks
    numbering.py    values that compute the same: one number         matching.py   pairs of nodes
    differences.py  what differs in the pairs                        types.py      types and guards

The verdict rests on `numbering.py` and `differences.py`. Pairs only decide how a difference is told: if a pair is badly
chosen, more differs, and never less. Begin with `comparison.py`.
"""
