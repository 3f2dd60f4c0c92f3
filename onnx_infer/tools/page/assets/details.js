// The explanation of one value: its type, its node and operands, guards, messages, and why something is unknown.

import { element, exactText, link } from "./format.js";
import { Neighbourhood } from "./neighbourhood.js";

const MOST = 40;

export class Details {
  /** `go(value)` is called for a value that is clicked, `close()` by the button. */
  constructor(root, model, go, close) {
    Object.assign(this, { root, model, go, close, value: null });
    this.neighbourhood = new Neighbourhood(model, go);
    new ResizeObserver(() => this.fit()).observe(root);
  }

  show(value, evaluation) {
    Object.assign(this, { value, evaluation });
    this.root.hidden = false;
    const { model } = this;
    const bytes = evaluation.exactBytesOf(value);
    const heading = element("h2", "", value.name);
    heading.title = value.name;
    const rest = [
      element("p", "code", model.typeText(value)),
      value.axes === null ? null : this.fact("at these sizes", evaluation.shapeText(value)),
      bytes === null ? null : this.fact("bytes", `${evaluation.bytesTextOf(value)} (${exactText(bytes)})`),
      value.elements ? this.fact("elements", value.elements) : null,
      this.reason(value),
      this.drawing(value, evaluation),
      ...this.node(value, evaluation),
      this.list("Read by", value.readers.map((node) => [`${node.operator} ${node.label}`, node.outputs[0]])),
    ];
    this.root.replaceChildren(
      element("div", "top", element("span", `chip ${value.verdict}`, value.verdict), link("Close", this.close, "quiet")),
      heading,
      ...rest.filter(Boolean),
    );
  }

  /** Draw the neighbourhood anew if the panel has another width. */
  fit() {
    if (this.value && this.width !== this.root.clientWidth) this.show(this.value, this.evaluation);
  }

  drawing(value, evaluation) {
    const { paddingLeft, paddingRight } = getComputedStyle(this.root);
    this.width = this.root.clientWidth;
    const room = this.width - parseFloat(paddingLeft) - parseFloat(paddingRight);
    return this.neighbourhood.draw(value, evaluation, Math.max(Math.floor(room), 240));
  }

  hide() {
    this.value = null;
    this.root.hidden = true;
  }

  fact(name, text) {
    return element("p", "fact", element("span", "key", name), element("span", "code", text));
  }

  reason(value) {
    const reason = this.model.reasonOf(value);
    if (!reason) return null;
    const { text, from } = reason;
    const away = from && from !== value.giver;
    const begins = away ? link(`begins at ${from.operator} ${from.label}`, () => this.go(from.outputs[0])) : null;
    return element("div", "why", element("h3", "", "Why it is not known"), element("p", "", text), begins);
  }

  node(value, evaluation) {
    const node = value.giver;
    if (!node) {
      const given = this.model.data.inputs.includes(value.index) ? "a graph input" : "an initializer or constant";
      return [element("h3", "", "Given"), element("p", "", given)];
    }
    const operands = node.inputs.map((operand) => [operand.name, operand, this.model.typeText(operand)]);
    const adds = evaluation.addsOf(node);
    return [
      element("h3", "", "Node"),
      element("p", "", element("strong", "", node.operator), node.label === value.name ? "" : ` ${node.label}`),
      adds ? this.fact("multiply-adds", exactText(adds)) : null,
      this.list("Operands", operands),
      ...node.messages.map((message) => element("p", `message ${message.severity}`, message.text)),
      ...node.guards.map((guard) => {
        const verdict = evaluation.verdicts[guard.index];
        const law = element("span", "law", `${guard.law} (${guard.kind})`);
        return element("p", `guard ${verdict}`, element("span", "code", guard.text), law);
      }),
    ];
  }

  /** Links to values, with their types below. */
  list(heading, entries) {
    if (!entries.length) return null;
    const items = entries.slice(0, MOST).map(([text, value, type]) =>
      element("li", "", value ? link(text, () => this.go(value)) : text, type ? element("span", "code", type) : null),
    );
    if (entries.length > MOST) items.push(element("li", "", `and ${entries.length - MOST} more`));
    return element("div", "", element("h3", "", heading), element("ul", "links", ...items));
  }
}
