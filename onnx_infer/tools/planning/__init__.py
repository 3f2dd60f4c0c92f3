"""Planning before a model runs.

    planner.py     the sizes of all values as one compiled function
    scheduled.py   the nodes that run, with the bodies of functions in place of their calls
    memory.py      what is live at each step, in bytes          envelope.py    its maximum as an expression
    costs.py       multiply-adds of operators, costs of nodes and layers
    fits.py        whether all sizes within bounds run within some memory
    traffic.py     bytes that nodes read and write
    samples.py     sizes of several magnitudes at which a model runs

Begin with `memory.py`.
"""
