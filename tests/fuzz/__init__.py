"""Random models, judged by runs in onnxruntime and by laws of inference: `python -m tests.fuzz --minutes 10 --seed 1`.

    runtime.py      onnxruntime in a process of its own
    growing.py      a model that grows node by node; a node stays if it runs
    arithmetic.py   nodes that compute with sizes
    uses.py         nodes whose sizes depend on what was computed
    cases.py        nodes of every operator and version, from the operator cases
    kernels.py      quantised tensors, texts, recurrent layers, onnxruntime's own operators
    control.py      If, Loop, Scan, functions, sequences and optionals
    carried.py      sequences and optionals through bodies, functions in functions
    subject.py      a model with its runs
    judges.py       what must hold of the inference of a model
    disputes.py     where runtimes and the specification disagree
    shrinking.py    a smaller model with the same fault
    texts.py        random dim_params

    damaged.py      damaged and hostile models through every entry point, and what this costs
    damage.py       the damaged forms of a model
    hostile.py      models made to be hostile: depth, width, recursion, lies
    hostile_sizes.py  the same with sizes: texts, huge numbers, expressions that grow
    entry_points.py every way into the library

Begin with `growing.py`. A fault is printed as the text of a model that a test can parse.
"""
