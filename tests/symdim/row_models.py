"""Models of written facts by enumeration: the oracle for the store."""

from __future__ import annotations

from itertools import product as tuples

SIZES = (1, 2, 3, 4)
ROWS = [row for rank in range(4) for row in tuples((1, 2, 3), repeat=rank)]


def size(dim, model):
    """The value of a written size; None where it has none."""
    if isinstance(dim, int):
        return dim
    if isinstance(dim, str):
        return model[dim]
    if "concat" in dim:
        return sum(size(part, model) for part in dim["concat"])
    over, stride = size(dim["over"], model), dim["stride"]
    if dim.get("padding") is False:
        return stride * (over - 1) + 1 + (size(dim["kernel"], model) - 1) * dim["dilation"]
    return stride * over


def row(data, model):
    """The axes of a written row, and the place of its gap."""
    if isinstance(data, dict):
        return [size(d, model) for d in data["lead"] + data["trail"]], len(data["lead"])
    found, gap = [], 0
    for item in data:
        if isinstance(item, str) and item.startswith(".."):
            gap = len(found)
            found += model[item]
        else:
            found.append(size(item, model))
    return found, gap


def refines(result, operand, gap):
    """Whether the operand, with 1s put at its gap, is 1 or equal to the result axis by axis."""
    missing = len(result) - len(operand)
    if missing < 0:
        return False
    padded = operand[:gap] + [1] * missing + operand[gap:]
    return all(m in (1, n) for n, m in zip(result, padded, strict=True))


def broadcast(operands):
    """NumPy's broadcast of rows of known sizes; None where there is none."""
    rank = max(map(len, operands))
    found = []
    for column in zip(*([1] * (rank - len(row)) + row for row in operands), strict=True):
        others = {n for n in column if n != 1}
        if len(others) > 1:
            return None
        found.append(others.pop() if others else 1)
    return found


def satisfied(fact, model):
    """Whether a written fact holds in a model."""
    ((kind, content),) = fact.items()
    match kind:
        case "dim_eq":
            return size(content[0], model) == size(content[1], model)
        case "dim_le":
            return size(content["operand"], model) in (1, size(content["result"], model))
        case "at_least":
            return size(content[0], model) >= content[1]
        case "row_eq":
            return row(content[0], model)[0] == row(content[1], model)[0]
        case "row_le":
            return refines(row(content["result"], model)[0], *row(content["operand"], model))
        case "exact":
            axes = [n for r in content["rows"] for n in row(r, model)[0]]
            return axes == [size(d, model) for d in content["dims"]]
        case "elements":
            count = 1
            for r in content["rows"]:
                for n in row(r, model)[0]:
                    count *= n
            return count == size(content["equals"], model)
        case "join":
            operands = [row(r, model)[0] for r in content["operands"]]
            return row(content["result"], model)[0] == broadcast(operands)
        case "window":
            return window(content, model)
    raise ValueError(kind)


def window(content, model):
    """Whether the number of windows is that of ONNX, counted one by one."""
    n, out, k = (size(content[name], model) for name in ("in", "out", "kernel"))
    stride, dilation, auto_pad = content["stride"], content["dilation"], content["auto_pad"]
    if auto_pad.startswith("SAME"):
        return out == -(-n // stride)
    before, after = (0, 0) if auto_pad == "VALID" else content["pads"]
    room = n + before + after - (dilation * (k - 1) + 1)
    if room < 0:
        return False
    begins = range(0, room + stride, stride) if content["ceil"] else range(0, room + 1, stride)
    return out == len([i for i in begins if i < n + before or not content["ceil"]])


def models(facts, sizes=SIZES, rows=ROWS):
    """All models of facts over small sizes and ranks, as dicts; row variables by their text `..r..`."""
    names, variables = set(), set()

    def walk(data):
        if isinstance(data, str):
            (variables if data.startswith("..") else names).add(data)
        elif isinstance(data, list):
            for item in data:
                walk(item)
        elif isinstance(data, dict):
            for key, item in data.items():
                if key != "auto_pad":
                    walk(item)

    for fact in facts:
        walk(list(fact.values()))
    names, variables = sorted(names), sorted(variables)
    found = []
    for values in tuples(sizes, repeat=len(names)):
        model = dict(zip(names, values, strict=True))
        for axes in tuples(rows, repeat=len(variables)):
            model.update(zip(variables, map(list, axes), strict=True))
            if all(satisfied(fact, model) for fact in facts):
                found.append(dict(model))
    return found
