// A reader of `dim_param` texts by the specification dim_param.md: an ES module without dependencies.
//   import { read } from "./dim_param_reader.js";
//   const size = read("floor(H/2 - 1/2) + f(H)", { declared: ["H"] });
//   size.reads                                    "expression", "name", "nothing", or "error" if there is no `declared`
//   size.names                                    ["H"]
//   size.value({ H: 224 }, { f: (h) => 2n * h })  559n; null where there is none
// An error has a `kind` ("syntax", "function" or "value"), a `position` in characters and a `message`.

const MAX_LEXEMES = 1 << 14, MAX_DEPTH = 200, MAX_BITS = 1 << 17, MAX_EXPONENT = 4000;

const fail = (kind, message) => { throw Object.assign(new Error(message), { kind }); };
const NO_VALUE = Object.assign(new Error("there is no value"), { kind: "value" }), none = () => { throw NO_VALUE; };

// Exact fractions n/d in lowest terms, d > 0.
const gcd = (a, b) => { while (b) [a, b] = [b, a % b]; return a < 0n ? -a : a; };
const fraction = (n, d = 1n) => {
  if (!d) none();
  const common = d < 0n ? -gcd(n, d) : gcd(n, d);
  return { n: n / common, d: d / common };
};
const ZERO = fraction(0n), ONE = fraction(1n), TWO = fraction(2n);
const negate = (x) => fraction(-x.n, x.d);
const add = (...xs) => xs.reduce((x, y) => fraction(x.n * y.d + y.n * x.d, x.d * y.d));
const subtract = (x, y) => add(x, negate(y));
const times = (...xs) => xs.reduce((x, y) => fraction(x.n * y.n, x.d * y.d));
const divide = (x, y) => fraction(x.n * y.d, x.d * y.n);
const trunc = (x) => fraction(x.n / x.d);
const floor = (x) => fraction(x.n / x.d - (x.n % x.d < 0n ? 1n : 0n));
const ceil = (x) => negate(floor(negate(x)));
const round = (x) => floor(add(x, x.d === 2n && floor(x).n % 2n === 0n ? ZERO : divide(ONE, TWO)));
const quotient = (round) => (x, y) => round(divide(x, y));
const modulo = (x, y) => subtract(x, times(y, floor(divide(x, y))));
const max = (...xs) => xs.reduce((x, y) => (x.n * y.d < y.n * x.d ? y : x));
const min = (...xs) => xs.reduce((x, y) => (y.n * x.d < x.n * y.d ? y : x));
const root = (n) => { let x = n; while (x * x > n) x = (x + n / x) / 2n; return x; };
const sqrt = (x) => {
  const found = x.n < 0n ? ZERO : fraction(root(floor(x).n));
  return subtract(times(found, found), x).n ? none() : found;
};
const sign = (x) => fraction(x.n > 0n ? 1n : x.n < 0n ? -1n : 0n);
const power = (x, k) => {
  if (k.d > 1n || k.n < 0n) fail("value", "an exponent is an integer of at least 0");
  const bits = (x.n * x.n * x.d * x.d).toString(2).length - 1;
  return BigInt(bits) * k.n > MAX_BITS ? fail("value", "a power is too large") : fraction(x.n ** k.n, x.d ** k.n);
};
const integer = (x) => (x.d === 1n ? x : fail("value", `the value is the fraction ${x.n}/${x.d}`));

// Sections 3 and 4: operations by name. An operation gives an integer ("whole"), also if "/" is exact in its arguments
// ("rounds"), an exact fraction ("splits"), or one if an argument is one ("keeps"). An exponent must be a constant. The
// value of an "open" one, sqrt or a function without a meaning, need not exist. "floats" are only operands of floats.
const OPERATIONS = new Map();
function define(gives, operations, hasExponent = false) {
  for (const [names, apply] of Object.entries(operations))
    for (const name of names.split(" ")) OPERATIONS.set(name, { apply, gives, hasExponent });
}
define("keeps", { "+ add": add, "- sub": subtract, "* mul": times, "% mod pythonmod": modulo, "~": negate, max, min });
define("keeps", { abs: (x) => max(x, negate(x)), non_negative: (x) => max(x, ZERO), "identity tofloat": (x) => x });
define("keeps", { "** pow powbynatural floatpow": power, lshift: (x, k) => times(x, power(TWO, k)) }, true);
define("splits", { "exact: inttruediv floattruediv": divide });
define("rounds", { "floor floortoint": floor, "trunc trunctoint trunctofloat": trunc, "round roundtoint": round });
define("rounds", { "ceil ceiling": ceil, ceiltoint: (x, y) => ceil(y ? divide(x, y) : x) });
define("whole", { "// /: / floor: floordiv cleandiv": quotient(floor), "trunc: truncdiv": quotient(trunc) });
define("whole", { ceildiv: quotient(ceil), heaviside: (x, z) => (x.n ? max(sign(x), ZERO) : z), sign });
define("whole", { modularindexing: (x, y, z) => modulo(floor(divide(x, y)), z), "checked:": quotient(integer) });
define("whole", { rshift: (x, k) => floor(divide(x, power(TWO, k))) }, true);
define("open", { sqrt });

// Functions of floats: exact results, rounded to the nearest float of a type.
const power2 = (k) => (k < 0 ? fraction(1n, 1n << BigInt(-k)) : fraction(1n << BigInt(k)));
const lengthOf = (n) => n.toString(2).replace("-", "").length;
const isBelow = (x, k) => max(x, negate(x)).n * power2(k).d < power2(k).n * x.d; // |x| < 2**k
const nearest = (bits, most) => (x) => {
  const top = lengthOf(x.n) - lengthOf(x.d), digits = isBelow(x, top) ? top : top + 1; // 2**(digits - 1) <= |x|
  const unit = power2(Math.max(digits - bits, 3 - most - bits)), found = times(round(divide(x, unit)), unit);
  return isBelow(found, most) ? found : none();
};
for (const [type, near] of Object.entries({ "[f32]": nearest(24, 128), "[f64]": nearest(53, 1024) })) {
  for (const [name, apply] of Object.entries({ floor, ceil, trunc, round }))
    define("rounds", { [name + type]: (x) => apply(near(x)) });
  for (const [name, apply] of Object.entries({ add, sub: subtract, mul: times, div: divide, max, min }))
    define("floats", { [name + type]: (x, y) => near(apply(near(x), near(y))) });
  define("floats", { ["value" + type]: near });
}

// Section 2: lexemes { kind, text, at }, the last one first.
const WORD = "[\\p{L}\\p{N}_.:]", NAME = "[\\p{L}\\p{Nl}\\p{No}_][\\p{L}\\p{N}_.]*";
const DASH = "(?<=[\\p{L}\\p{N}_])[-/](?=[\\p{L}\\p{N}_])";
const NUMBER = "(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)(?:[eE][+-]?[0-9]+)?", QUOTED = '`(?:[^`]|``)*`(?!`)|"[^"]*"';
const BARE = `(?!\\s|(?:${NUMBER}|${NAME})$)(?:[^-+*/%^(),\`"]|${DASH})+(?<!\\s)`;
const matches = (text, pattern) => new RegExp(`^(?:${pattern})$`, "su").test(text);
function lexemesOf(text, declared, dialect) {
  const bare = declared.filter((name) => matches(name, BARE)).sort((a, b) => b.length - a.length)
    .map((name) => name.replace(/[$.?[\]{}|\\/]/g, "\\$&") + (matches(name, `.*${WORD}`) ? `(?!${WORD})` : ""));
  const pattern = `(?<declared>${bare.join("|") || "(?!)"})`
    + `|(?<name>${NAME}(?:\\[f(?:32|64)\\](?=\\s*\\()|(?!${WORD})))|(?<number>${NUMBER}(?!${WORD}))|(?<word>${WORD}+)`
    + `|(?<quoted>${QUOTED})|(?<symbol>[*]{2}|//|${dialect === "onnx-light" ? "/:|" : ""}\\S)`;
  const found = [...text.matchAll(new RegExp(pattern, "gsu"))].map(({ groups, index }) => {
    const [kind, text] = Object.entries(groups).find(([, found]) => found !== undefined);
    return { kind, text, at: index };
  });
  return [...found, { kind: "symbol", text: "the end", at: text.length }].reverse();
}

// Section 3. The program has numbers, names and operations, each behind its operands. Known of an operand is its value
// if it is constant, whether it is an exact `fraction` or a `float`, and whether an `open` operation is in it.
function parse(lexemes, dialect, isInModel) {
  const signs = dialect === "onnx-light" ? { "^": "max", "&": "min" } : { "^": "**" }, program = [];
  let depth = 0, exact = 0, linear = true;
  if (lexemes.length > MAX_LEXEMES) fail("syntax", `more than ${MAX_LEXEMES} lexemes`);

  const refuse = (what) => fail("syntax", `${what} is missing before ${lexemes.at(-1).text}`);
  const size = (x) => (x.float ? fail("value", "a float is no size") : x);
  const takes = (...operations) => {
    const { kind, text } = lexemes.at(-1), operation = signs[text] ?? text;
    return kind === "symbol" && operations.includes(operation) && (lexemes.pop(), operation);
  };
  const level = (part, ...operations) => {
    let left = part();
    for (let name; (name = takes(...operations)); ) left = operation(name, [left, part()]);
    return left;
  };
  const sum = () => level(() => level(unary, "*", "/", "//", "/:", "%"), "+", "-");
  const expression = () => level(() => level(sum, "min"), "max");
  const unary = () => {
    if (++depth > MAX_DEPTH) fail("syntax", "nested too deeply");
    const sign = takes("+", "-"), base = sign ? unary() : primary();
    const found = !sign && takes("**") ? operation("**", [base, unary()]) : base;
    depth--;
    return sign === "-" ? operation("~", [found]) : found;
  };
  const primary = () => {
    if (takes("(")) return list(1)[0];
    const { kind, text } = lexemes.at(-1);
    if (!["number", "name", "declared", "quoted"].includes(kind) || /^(``|"")$/.test(text)) refuse("an operand");
    lexemes.pop();
    if (kind === "name" && takes("(")) return call(text);
    const value = kind === "number" ? decimal(text) : null;
    const name = kind === "quoted" ? text.slice(1, -1).replaceAll("``", text[0] === "`" ? "`" : "``") : text;
    program.push(value ? { count: 0, apply: () => value } : { name });
    return { value, fraction: value !== null && value.d > 1n, open: false };
  };
  const list = (most) => {
    const found = [];
    do found.push(expression()); while (found.length < most && takes(","));
    return takes(")") ? found : refuse('")"');
  };
  const call = (text) => {
    const name = text.toLowerCase() === "div" ? "/" : text.toLowerCase();
    if (name.endsWith("]") && !OPERATIONS.has(name)) fail("function", `no function of floats is named ${text}`);
    const called = OPERATIONS.get(name) ?? { apply: given(text), gives: "open" }, { apply, gives } = called;
    const isExact = /rounds|open|floats/.test(gives);
    exact += isExact;
    const operands = list(Infinity), count = operands.length;
    exact -= isExact;
    const fits = !apply.length || count === apply.length || (name === "ceiltoint" && count === 1);
    return fits ? operation(name, operands, called) : fail("function", `${count} arguments of ${text}`);
  };
  const operation = (name, operands, called) => {
    const values = operands.map((x) => x.value), isConstant = values.every(Boolean);
    const hasFraction = operands.some((x) => x.fraction), isOpen = operands.some((x) => x.open);
    const rounded = dialect === "trunc" ? "trunc:" : isConstant && dialect !== "floor" ? "checked:" : "floor:";
    const division = exact || dialect === "exact" || hasFraction ? "exact:" : rounded;
    const { apply, gives, hasExponent } = name === "/" ? OPERATIONS.get(division) : called ?? OPERATIONS.get(name);
    if (hasExponent && !values[1]) fail("value", "an exponent is not constant");
    if (!name.endsWith("]")) operands.forEach(size);
    if (isInModel && isOpen && (apply === modulo || /whole|rounds/.test(gives))) fail("value", "a function is rounded");
    const isFolded = gives !== "open" && !name.endsWith("]");
    const value = isFolded && apply(...values.map((x) => x ?? ONE)); // fails if a constant divisor is 0
    program.push({ count: operands.length, apply });
    linear &&= isConstant || ["+", "-", "~"].includes(name) || (name === "*" && values.some(Boolean));
    const fraction = gives === "splits" || (gives === "keeps" && hasFraction), open = isOpen || gives === "open";
    return { value: isConstant && isFolded ? value : null, fraction, open, float: gives === "floats" };
  };
  const { open } = size(expression());
  return lexemes.length === 1 ? { program, linear, open } : refuse("an operator");
}

function decimal(text) {
  const [, whole, digits = "", exponent = "0"] = /^([0-9]*)(?:\.([0-9]*))?(?:e(.*))?$/i.exec(text);
  const scale = Number(exponent) - digits.length;
  if (Math.abs(scale) > MAX_EXPONENT) fail("value", "the exponent of a number is too large");
  return (scale < 0 ? divide : times)(fraction(BigInt(whole + digits)), fraction(10n ** BigInt(Math.abs(scale))));
}

const given = (name) => function (...operands) { // `this` are the functions
  return fraction(BigInt((this?.[name] ?? none)(...operands.map((x) => (x.d === 1n ? x.n : x)))));
};

function evaluate(program, sizes, functions) {
  const stack = [], size = (name) => fraction(BigInt(sizes[name]));
  for (const { name, count, apply } of program)
    stack.push(name === undefined ? apply.apply(functions, stack.splice(stack.length - count)) : size(name));
  return integer(stack[0]).n;
}

// Section 5.
export function read(text, { declared, dialect } = {}) {
  const asName = { reads: "name", names: [text], value: (sizes) => BigInt(sizes[text]) };
  if (declared && (!/[\p{L}\p{N}]/u.test(text) || /^\s*-\s*\d+\s*$/.test(text))) return { reads: "nothing", names: [] };
  const lexemes = lexemesOf(text, declared ?? [], dialect), parts = lexemes.filter((x) => x.kind !== "symbol");
  const isWord = matches(text, `${WORD}+([-/]${WORD}+)*`) && lexemes.every((x) => x.text !== "/:");
  const isOdd = parts.some((x) => x.kind === "word" && /\p{L}/u.test(x.text));
  const isUnknown = parts.length > 1 && parts.some((x) => x.kind !== "number" && !declared?.includes(x.text));
  if (declared?.includes(text) || (isWord && (isOdd || (declared && isUnknown)))) return asName;
  try {
    const { program, linear, open } = parse(lexemes, dialect, declared !== undefined);
    const names = [...new Set(program.flatMap(({ name }) => name ?? []))].sort();
    const value = (...bound) => {
      try { return evaluate(program, ...bound); } catch (error) { if (error === NO_VALUE) return null; throw error; }
    };
    const at = (size) => value(Object.fromEntries(names.map((name, i) => [name, size(i)])));
    for (let k = 0; k < 8; k++) at((i) => 1 + ((k * k * (i + 2)) % 13)); // here fractions are seen
    const isNegative = linear && names.length < 2 && at(() => 1) < 0n && at(() => 2) <= at(() => 1);
    const isOfOthers = open && !names.every((name) => declared?.includes(name));
    if (declared && (isNegative || isOfOthers)) return asName;
    return { reads: text === names[0] ? "name" : "expression", names, value };
  } catch (error) {
    const { kind, message } = error, position = [...text.slice(0, lexemes.at(-1).at)].length;
    if (!kind) throw error;
    return declared ? asName : { reads: "error", kind, position, message, names: [] };
  }
}
