"""What follows from a finished inference. Nothing here is computed before somebody asks for it.

    inferred.py           what a walk found, as data
    guards.py             what must hold for the model to run    guarantees.py    what the sizes are worth
    assumed.py            which statements rest on assumptions        saved.py         what a pickle keeps of an engine
    reasons.py            why something is unknown               deciding.py      conditions that would tell it
    materialization.py    sizes as ONNX nodes                    sources.py       where a symbol can be read
    verdicts.py           whether a type is exact
    report/               tables, explanations, JSON
    planning/             memory, costs and compiled sizes

The room uses `engine` and what is below it. Begin with `guards.py`.
"""
