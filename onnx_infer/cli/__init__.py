"""The command line, `python -m onnx_infer` or `onnx-infer`.

    arguments.py   the options, read before onnx is imported     command.py    one call of the command
    files.py       reading and writing models                    terminal.py   width, colour, pipes, progress
    planning.py    --costs, --memory, --max-memory, --diff   texts.py       options with units
    fleet.py       many models: --json-lines               dynamic.py     --dynamic, --apply
    forms.py       code, pages and dialects                      demo.py        the model of `--demo`
    folding.py     --fold, --keep-guards

The room uses all others. The reports come from `results/report/`. Begin with `command.py`.
"""
