"""Tools on top of the inference. The core imports none of them; a method or a command loads what it needs.

    planning/     memory, costs, compiled sizes            emission/             all sizes as source text
    report/       tables, explanations, JSON, --diff       page/                 a page for a browser
    transforms/   fold and make_dynamic                    materialization.py    sizes as ONNX nodes
    fleets/       many models in worker processes          cli/                  the command line

Each folder has its own map. Begin there: a tool reads a finished result and changes nothing of it.
"""
