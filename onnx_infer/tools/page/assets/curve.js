// The memory curve: bytes that are live at each node, with the peak and a cursor.

import { bytesText, exactText, shape } from "./format.js";

const MARGIN = { top: 18, right: 12, bottom: 18, left: 64 };

/** About four round steps up to a number of bytes. */
function ticks(most) {
  if (most <= 0) return [0];
  const unit = 1000 ** Math.floor(Math.log10(most) / 3);
  const rough = most / unit / 4;
  const scale = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((k) => k * scale).find((k) => k >= rough) * unit;
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => i * step);
}

export class Curve {
  /** `pick(step)` is called for a click, `tell(step)` for every place of the cursor (null: none). */
  constructor(svg, pick, tell) {
    Object.assign(this, { svg, pick, tell, cursor: null, evaluation: null });
    svg.addEventListener("pointermove", (event) => this.point(this.stepAt(event)));
    svg.addEventListener("pointerleave", () => this.point(null));
    svg.addEventListener("click", (event) => this.steps && pick(this.stepAt(event)));
    svg.addEventListener("blur", () => this.point(null));
    svg.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.evaluation && this.draw(this.evaluation)).observe(svg);
  }

  get steps() {
    return this.evaluation?.live.length ?? 0;
  }

  key(event) {
    const from = this.cursor ?? this.evaluation.peakStep;
    const moves = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: this.steps - 1 };
    if (!this.steps) return;
    if (event.key in moves) this.point(Math.min(Math.max(moves[event.key], 0), this.steps - 1));
    else if (event.key === "Enter") this.pick(from);
    else return;
    event.preventDefault();
  }

  stepAt(event) {
    const box = this.svg.getBoundingClientRect();
    const share = (event.clientX - box.left - MARGIN.left) / Math.max(this.width, 1);
    return Math.min(Math.max(Math.floor(share * this.steps), 0), this.steps - 1);
  }

  x(step) {
    return MARGIN.left + ((step + 0.5) / this.steps) * this.width;
  }

  y(bytes) {
    return MARGIN.top + this.height * (1 - bytes / (this.most || 1));
  }

  draw(evaluation) {
    this.evaluation = evaluation;
    const box = this.svg.getBoundingClientRect();
    this.width = Math.max(box.width - MARGIN.left - MARGIN.right, 1);
    this.height = Math.max(box.height - MARGIN.top - MARGIN.bottom, 1);
    const marks = ticks(evaluation.peak);
    this.most = Math.max(evaluation.peak, marks[marks.length - 1]) * 1.04;
    const { svg } = this;
    svg.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
    svg.replaceChildren();
    const right = MARGIN.left + this.width;
    for (const bytes of marks) {
      const y = this.y(bytes);
      svg.append(shape("line", { class: "grid", x1: MARGIN.left, x2: right, y1: y, y2: y }));
      const text = bytesText(bytes).replace(/\.0+(?=\D)/, "");
      svg.append(shape("text", { class: "tick", x: MARGIN.left - 8, y: y + 4, "text-anchor": "end" }, text));
    }
    if (!this.steps) return;
    const line = this.outline();
    svg.append(shape("path", { class: "area", d: `${line}V${this.y(0)}H${MARGIN.left}Z` }));
    svg.append(shape("path", { class: "line", d: line }));
    this.drawPeak(right);
    svg.append(shape("text", { class: "tick", x: MARGIN.left, y: box.height - 4 }, "node 1"));
    svg.append(shape("text", { class: "tick", x: right, y: box.height - 4, "text-anchor": "end" }, exactText(this.steps)));
    this.mark = shape("line", { class: "cursor", y1: MARGIN.top, y2: MARGIN.top + this.height, visibility: "hidden" });
    svg.append(this.mark);
    this.point(this.cursor === null ? null : Math.min(this.cursor, this.steps - 1));
  }

  /** Steps as a path. Where several nodes share a pixel, their maximum is drawn. */
  outline() {
    const { live } = this.evaluation;
    const columns = Math.min(this.steps, Math.ceil(this.width));
    let path = `M${MARGIN.left},${this.y(0).toFixed(1)}`;
    for (let column = 0; column < columns; column += 1) {
      const first = Math.floor((column * this.steps) / columns);
      const last = Math.max(Math.floor(((column + 1) * this.steps) / columns), first + 1);
      const bytes = live.subarray(first, last).reduce((a, b) => Math.max(a, b), 0);
      const end = MARGIN.left + ((column + 1) / columns) * this.width;
      path += `V${this.y(bytes).toFixed(1)}H${end.toFixed(1)}`;
    }
    return path;
  }

  drawPeak(right) {
    const { peak, peakStep, model } = this.evaluation;
    if (!peak) return;
    const x = this.x(peakStep);
    const y = this.y(peak);
    const anchor = x > MARGIN.left + this.width * 0.66 ? "end" : x < MARGIN.left + this.width * 0.33 ? "start" : "middle";
    const node = model.nodes[peakStep];
    this.svg.append(shape("circle", { class: "peak", cx: x, cy: y, r: 3 }));
    const at = Math.min(Math.max(x, MARGIN.left), right);
    const text = `${bytesText(peak)} at ${node.operator}`;
    this.svg.append(shape("text", { class: "peak-text", x: at, y: y - 7, "text-anchor": anchor }, text));
  }

  point(step) {
    this.cursor = this.steps ? step : null;
    if (this.mark && this.cursor !== null) {
      this.mark.setAttribute("x1", this.x(step));
      this.mark.setAttribute("x2", this.x(step));
    }
    this.mark?.setAttribute("visibility", this.cursor === null ? "hidden" : "visible");
    this.tell(this.cursor);
  }
}
