// The parts of the page and their events.

import { Arena } from "./arena.js";
import { Curve } from "./curve.js";
import { Details } from "./details.js";
import { bytesText, countText, element, exactText, fromEnd, link } from "./format.js";
import { Model } from "./model.js";
import { Rows } from "./rows.js";
import { Symbols } from "./symbols.js";

const THEMES = [["", "Theme: auto", "as the system"], ["light", "Theme: light", "light"], ["dark", "Theme: dark", "dark"]];
const FILTERS = [["all", "All"], ["ends", "Inputs and outputs"], ["unknown", "Not exact"], ["failing", "Failing"]];

const byId = (id) => document.getElementById(id);

class Page {
  constructor(data, code) {
    this.model = new Model(data, code);
    this.kind = "all";
    this.evaluation = null;
    this.details = new Details(byId("details"), this.model, (value) => this.go(value), () => this.close());
    this.rows = new Rows(byId("list"), byId("canvas"), this.model, (row) => this.go(row.value));
    this.curve = new Curve(byId("curve"), (step) => this.goToNode(this.model.nodes[step]), (step) => this.tell(step));
    this.arena = new Arena(byId("arena"), this.model, (value) => this.go(value));
    this.drawCounts();
    this.drawFilters();
    this.drawMessages();
    this.symbols = new Symbols(byId("symbols"), this.model, (given) => this.update(given));
    this.update(this.symbols.given);
    this.listen();
  }

  /** Everything at other sizes. Throws RangeError, and changes nothing, where one is out of its bounds. */
  update(given) {
    const evaluation = this.model.at(given);
    this.evaluation = evaluation;
    this.rows.update(evaluation);
    if (this.kind === "failing" || this.rows.order) this.filter();
    this.curve.draw(evaluation);
    this.arena.draw(evaluation);
    this.drawTiles();
    this.drawGuards();
    if (this.details.value) this.details.show(this.details.value, evaluation);
  }

  drawCounts() {
    const { counts, errors } = this.model.data;
    const parts = Object.entries(counts).filter(([, count]) => count);
    if (errors) byId("counts").append(element("span", "chip fails", `${exactText(errors)} ${errors === 1 ? "error" : "errors"}`), " ");
    byId("counts").append(
      `${exactText(this.model.nodes.length)} nodes`,
      ...parts.map(([verdict, count]) => element("span", `chip ${verdict}`, `${exactText(count)} ${verdict}`)),
    );
  }

  drawFilters() {
    byId("filters").replaceChildren(
      ...FILTERS.map(([kind, text]) => {
        const made = link(text, () => this.filter(kind), "filter");
        made.setAttribute("aria-pressed", kind === this.kind);
        made.dataset.kind = kind;
        return made;
      }),
      Object.assign(element("span", "found"), { id: "found" }),
    );
  }

  filter(kind = this.kind) {
    this.kind = kind;
    const found = this.rows.filter(byId("search").value, kind);
    for (const made of byId("filters").querySelectorAll("button")) {
      made.setAttribute("aria-pressed", made.dataset.kind === kind);
    }
    const all = this.rows.all.length;
    byId("found").textContent = found === all ? "" : `${exactText(found)} of ${exactText(all)}`;
  }

  /** The largest first in this column; at the second click the order of the nodes again. */
  sort(head) {
    const sorted = head.getAttribute("aria-sort") === "descending";
    for (const other of document.querySelectorAll(".head [aria-sort]")) other.removeAttribute("aria-sort");
    if (!sorted) head.setAttribute("aria-sort", "descending");
    this.rows.order = sorted ? "" : head.dataset.order;
    this.filter();
  }

  drawTiles() {
    const { peak, peakText, peakNote, peakStep, adds, unknownAdds, parameters } = this.evaluation;
    const node = this.model.nodes[peakStep];
    const at = link(fromEnd(`at ${node?.label}`), () => this.goToNode(node));
    const tiles = [
      ["Peak memory", peakText, element("span", "", peak && node ? at : null, peakNote), `${exactText(peak)} bytes`],
      ["Multiply-adds", countText(adds), unknownAdds ? `${unknownAdds} ${unknownAdds === 1 ? "node" : "nodes"} not known` : null, exactText(adds)],
      ["Parameters", countText(parameters), null, exactText(parameters)],
    ];
    byId("tiles").replaceChildren(
      ...tiles.map(([name, text, note, exact]) => {
        const value = element("dd", "", text, note ? element("span", "note", note) : null);
        value.title = exact;
        return element("div", "", element("dt", "", name), value);
      }),
    );
  }

  drawGuards() {
    const { failing, verdicts, sizes } = this.evaluation;
    const { guards, data } = this.model;
    const badge = byId("guard-count");
    const open = verdicts.filter((verdict) => verdict === "open").length;
    const parts = [failing.length ? `${failing.length} of ${guards.length} violated` : "", open ? `${open} undetermined` : ""];
    badge.textContent = parts.filter(Boolean).join(", ") || (guards.length ? `${guards.length} ${guards.length === 1 ? "holds" : "hold"}` : "none");
    badge.classList.toggle("fails", failing.length > 0);
    byId("guards").replaceChildren(
      ...guards.map((guard) => {
        const verdict = verdicts[guard.index];
        const sides = `violated (${sizes[guard.lhs] ?? "?"} and ${sizes[guard.rhs] ?? "?"})`;
        const node = this.model.byLabel.get(guard.nodes[0]);
        const text = element("span", "code", guard.text);
        text.addEventListener("click", () => text.classList.toggle("whole"));
        const law = `${guard.kind}: ${guard.law}`;
        const from = node ? link(node.label, () => this.goToNode(node)) : guard.nodes[0] ?? "";
        const others = guard.nodes.length > 1 ? ` and ${guard.nodes.length - 1} more` : "";
        const fault = verdict === "fails" ? element("em", "", sides) : null;
        return element("li", `guard ${verdict}`, text, fault, element("span", "law", law, " \u00b7 ", from, others));
      }),
      ...data.laws.map((law) => element("li", "guard data", element("span", "law", law))),
    );
  }

  drawMessages() {
    const { messages } = this.model.data;
    byId("messages-section").hidden = !messages.length;
    byId("messages").append(
      ...messages.map((message) => {
        const node = this.model.byLabel.get(message.node);
        const from = node ? link(node.label, () => this.goToNode(node)) : null;
        return element("li", `message ${message.severity}`, element("span", "", message.text), from);
      }),
    );
  }

  tell(step) {
    const node = this.model.nodes[step];
    const note = this.evaluation?.peakNote;
    byId("curve-note").textContent = node
      ? `${step + 1}. ${node.operator} ${node.label}: ${bytesText(this.evaluation.live[step])} live`
      : `Bytes live at each node${note ? `, ${note}` : ", in the order of the nodes"}`;
  }

  goToNode(node) {
    if (node?.outputs.length) this.go(node.outputs[0]);
  }

  go(value) {
    if (!this.rows.reveal(value) && this.rows.all.some((row) => row.value === value)) {
      byId("search").value = "";
      this.filter("all");
      this.rows.reveal(value);
    }
    byId("frame").classList.add("with-details");
    this.details.show(value, this.evaluation);
  }

  close() {
    byId("frame").classList.remove("with-details");
    this.details.hide();
    byId("list").focus();
  }

  listen() {
    byId("search").addEventListener("input", () => this.filter());
    for (const head of document.querySelectorAll(".head [data-order]")) {
      head.firstChild.addEventListener("click", () => this.sort(head));
    }
    document.addEventListener("keydown", (event) => {
      const typing = event.target.matches("input");
      if (event.key === "/" && !typing) {
        event.preventDefault();
        byId("search").focus();
      } else if (event.key === "Escape" && this.details.value) this.close();
      else if (event.key === "Escape" && event.target === byId("search")) {
        byId("search").value = "";
        this.filter();
      }
    });
    let theme = 0;
    byId("theme").addEventListener("click", ({ currentTarget }) => {
      theme = (theme + 1) % THEMES.length;
      const [name, text, label] = THEMES[theme];
      document.documentElement.dataset.theme = name;
      currentTarget.textContent = text;
      currentTarget.setAttribute("aria-label", `Theme: ${label}`);
    });
  }
}

new Page(JSON.parse(byId("data").textContent), emitted);
