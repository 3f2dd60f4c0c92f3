"""Fleets: one line of JSON for each of many models, in worker processes that may die.

    fleet.py      files and folders, slots, totals
    worker.py     a worker process as its parent sees it    child.py    the worker process itself
    examine.py    one model -> one line                    journal.py   the file of lines

A bad model costs only its own line, because a worker has one model at a time. If it crashes or exceeds a limit, the
parent knows the model. A pool with a shared queue could not know it. So each slot has its own process and its own pipe.

The room uses `api` and `results`. Begin with `fleet.py`.
"""

from onnx_infer.tools.fleets.fleet import Totals, files_of, run_fleet
from onnx_infer.tools.fleets.worker import Limits, lines_of

__all__ = ["Limits", "Totals", "files_of", "lines_of", "run_fleet"]
