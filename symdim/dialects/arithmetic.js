// Sizes are BigInt, so all arithmetic is exact. A size without a value is null: a divisor was 0.

/** floor(a / b), as Python's a // b. */
function floordiv(a, b) {
  if (b === 0n) return null;
  return a % b !== 0n && (a < 0n) !== (b < 0n) ? a / b - 1n : a / b;
}

/** a - b*floor(a / b), as Python's a % b: it has the sign of b. */
function mod(a, b) {
  if (b === 0n) return null;
  return a % b !== 0n && (a < 0n) !== (b < 0n) ? a % b + b : a % b;
}

const max = (...sizes) => sizes.reduce((a, b) => (b > a ? b : a));
const min = (...sizes) => sizes.reduce((a, b) => (b < a ? b : a));

// Relations of sizes; none holds for a size without a value.
const both = (a, b) => a !== null && b !== null;
const equal = (a, b) => both(a, b) && a === b;
const at_least = (a, b) => both(a, b) && a >= b;
const at_most = (a, b) => both(a, b) && a <= b;
const divides = (a, b) => both(a, b) && a !== 0n && b % a === 0n;
const broadcast = (a, b) => both(a, b) && (a === b || a === 1n || b === 1n);
const broadcast_to = (a, b) => both(a, b) && (a === b || a === 1n);
