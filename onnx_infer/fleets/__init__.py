"""Fleets: one line of JSON for each of many models, in worker processes that may die.

    fleet.py      files and folders, slots, totals          journal.py    the file of lines; going on where it ends
    worker.py     a worker process as its parent sees it    child.py      the worker process itself
    examine.py    one model -> one line

A bad model costs its own line and nothing else: a worker that crashes or exceeds a limit had one model. So there is one
process per slot, with a pipe of its own; a pool that shares a queue would lose the models of others.

The room uses `api` and `results`. Begin with `fleet.py`.
"""

from onnx_infer.fleets.fleet import Totals, files_of, run_fleet
from onnx_infer.fleets.worker import Limits, lines_of

__all__ = ["Limits", "Totals", "files_of", "lines_of", "run_fleet"]
