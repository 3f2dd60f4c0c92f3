"""Tools on top of the inference. The core imports none of them; a method or a command loads what it needs.

    planning/     memory, costs, compiled sizes            arena/                one block of memory for all values
    emission/     all sizes as source text                 materialization.py    sizes as ONNX nodes
    report/       tables, explanations, JSON               page/                 a page for a browser
    comparison/   two models side by side
    transforms/   fold and make_dynamic                    nodes_of_sizes.py     the nodes that compute them
    cli/          the command line                         fleets/               many models in worker processes

Each folder has its own map. Begin there: a tool reads a finished result and changes nothing of it.
"""
