"""The pictures of the benchmarks, drawn by matplotlib: each as NAME-light.svg and NAME-dark.svg.

Colours mark engines; this project's is the only saturated one and always comes first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl

mpl.use("svg")
from matplotlib import pyplot as plt
from matplotlib.ticker import FuncFormatter, NullFormatter
from timing import multiple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

OURS = "#d9480f"
COLOURS = {
    "light": {"text": "#24292f", "grid": "#d8dee4", "others": ["#5c7cfa", "#0ca678", "#868e96", "#ae3ec9", "#1098ad"]},
    "dark": {"text": "#d1d7e0", "grid": "#3d444d", "others": ["#91a7ff", "#38d9a9", "#adb5bd", "#e599f7", "#66d9e8"]},
}
MARKERS = "osD^vP"
WIDTH = 8.2  # inches
_LEGIBLE = 8  # shorter pieces of a bar have no number in them


class Picture:
    """One picture in one theme: a figure with one axes, no frame, and a quiet grid along the values."""

    def __init__(self, theme: str, height: float, title: str) -> None:
        colours = COLOURS[theme]
        self.text, self.grid, self.others = colours["text"], colours["grid"], colours["others"]
        mpl.rcParams.update(
            {"svg.fonttype": "none", "svg.hashsalt": "symdim", "font.family": "sans-serif", "font.size": 10}
            | dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color"), self.text)
        )
        self.figure, self.axes = plt.subplots(figsize=(WIDTH, height), layout="constrained")
        self.axes.set_title(title, loc="left", fontsize=11)
        self.axes.set_axisbelow(True)
        for side in self.axes.spines.values():
            side.set_visible(False)
        self.axes.tick_params(which="both", length=0)

    def colour(self, place: int) -> str:
        """That of the engine in this place; this project's comes first."""
        return OURS if place == 0 else self.others[(place - 1) % len(self.others)]

    def legend(self, columns: int) -> None:
        """Engines in one row below the picture."""
        self.figure.legend(loc="outside lower left", ncols=columns, frameon=False, handletextpad=0.4, columnspacing=1.2)

    def save(self, path: Path) -> None:
        """Write the file; the same figures give the same bytes."""
        self.figure.savefig(path, transparent=True, metadata={"Date": None})
        plt.close(self.figure)


def dots(picture: Picture, rows: Mapping[str, Mapping[str, float]], engines: Sequence[str]) -> None:
    """A row for each workload, a mark for each engine at its ratio to the first one; logarithmic."""
    axes = picture.axes
    for place, engine in enumerate(engines):
        points = [(row[engine], y) for y, row in enumerate(rows.values()) if engine in row]
        axes.scatter(
            *zip(*points, strict=True),
            label=engine,
            color=picture.colour(place),
            marker=MARKERS[place % len(MARKERS)],
            s=42 if place == 0 else 30,
            zorder=3 if place == 0 else 2,
        )
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: multiple(value)))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.axvline(1, color=OURS, linewidth=1)
    axes.set_yticks(range(len(rows)), list(rows))
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.grid(color=picture.grid, linewidth=0.6)
    picture.legend(len(engines))


def bars(
    picture: Picture, rows: Mapping[str, Mapping[str, float]], engines: Sequence[str], label: Any, *, log: bool = True
) -> None:
    """Horizontal bars, a group for each row and a bar for each engine, with the value written at its end."""
    axes, thick = picture.axes, 0.8 / len(engines)
    most = max(value for row in rows.values() for value in row.values())
    for place, engine in enumerate(engines):
        for y, row in enumerate(rows.values()):
            if engine in row:
                at = y + (place - (len(engines) - 1) / 2) * thick
                axes.barh(at, row[engine], thick * 0.86, color=picture.colour(place), label=engine if y == 0 else None)
                axes.annotate(
                    label(row[engine]), (row[engine], at), (4, 0), textcoords="offset points", va="center", fontsize=8
                )
    if log:
        axes.set_xscale("log")
    axes.set_xlim(right=most * (3 if log else 1.15))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: label(value)))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_yticks(range(len(rows)), list(rows))
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.grid(axis="x", color=picture.grid, linewidth=0.6)
    picture.legend(len(engines))


def curves(picture: Picture, lines: Mapping[str, Mapping[int, float]], x_label: str, y_label: str) -> None:
    """A line for each engine over sizes, both axes logarithmic, its name at its end."""
    axes = picture.axes
    for place, (engine, points) in enumerate(lines.items()):
        sizes, values = list(points), list(points.values())
        colour = picture.colour(place)
        axes.plot(sizes, values, color=colour, marker=MARKERS[place % len(MARKERS)], markersize=5, linewidth=1.6)
        axes.annotate(
            engine, (sizes[-1], values[-1]), (8, 0), textcoords="offset points", va="center", color=colour, fontsize=9
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(right=max(size for points in lines.values() for size in points) * 4)
    plain = FuncFormatter(lambda value, _: f"{value:,.10g}")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(plain)
        axis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.grid(color=picture.grid, linewidth=0.6)


def stacked(picture: Picture, rows: Mapping[str, Mapping[str, int]], kinds: Mapping[str, str]) -> None:
    """One horizontal bar for each engine, made of counts of each kind, with the colours given."""
    axes = picture.axes
    for y, row in enumerate(rows.values()):
        left = 0
        for kind, colour in kinds.items():
            count = row.get(kind, 0)
            axes.barh(y, count, 0.66, left=left, color=colour, label=kind if y == 0 else None)
            if count > _LEGIBLE:
                axes.annotate(str(count), (left + count / 2, y), ha="center", va="center", fontsize=8, color="#fff")
            left += count
    axes.set_yticks(range(len(rows)), list(rows))
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xticks([])
    picture.legend(len(kinds))
