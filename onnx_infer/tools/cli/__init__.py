"""The command line, `python -m onnx_infer` or `onnx-infer`.

    arguments.py   the options, read before onnx is imported     texts.py       the values of options, read from text
    command.py     one call of the command                       terminal.py    width, colour, pipes, progress
    files.py       reading and writing models                    demo.py        the model of --demo
    planning.py    --costs, --memory, --max-memory, --diff       dynamic.py     --dynamic, --apply
    forms.py       --emit, --html, --dialect                     fleet.py       --json-lines: many models
    folding.py     --fold, --check

The room uses all others. The reports come from `results/report/`. A new option is declared in `arguments.py` and used
in `command.py`. Begin with `command.py`.
"""
