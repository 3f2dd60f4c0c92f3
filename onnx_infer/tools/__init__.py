"""Tools on top of the inference. The core imports none of them; a method or a command loads what it needs.

    materialization.py    sizes as ONNX nodes              comparison.py    two results side by side
    planning/             memory, costs, compiled sizes    arena/           one block of memory for all values
    emission/             all sizes as source text         report/          tables, explanations, JSON
    page/                 a page for a browser             transforms/      fold and make_dynamic
    fleets/               many models in workers           cli/             the command line

Each folder has its own map. Begin there: a tool reads a finished result and changes nothing of it.
"""
