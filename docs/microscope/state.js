// What the page shows, as text: fields, the address of a case, and the next accumulator that is worth a look.
"use strict";

const START = {
  rule: "tflite-double", acc: "1000", scale: "0.0033", multiplier: "1814194186", shift: "39", zero: "5", type: "int8",
};
const INT32 = TYPES.int32;
const COARSE = ["7 bits", "8 bits", "mantissa, 15 bits", "given"]; // multipliers that may be codes away

/** The value of a text such as 0.0033, 2^-7, 1/256, 1 - 2**-24; NaN if it is none. */
function valueOf(text) {
  const tokens = text.replaceAll("**", "^").match(/\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|\S/g) ?? [];
  const take = (...signs) => (signs.includes(tokens[0]) ? tokens.shift() : undefined);
  const signed = () => (take("-") ? -signed() : power());
  const power = () => {
    const base = Number(tokens.shift() ?? NaN);
    return take("^") ? base ** signed() : base;
  };
  const product = () => {
    let value = signed();
    for (let sign; (sign = take("*", "/")); ) value = sign === "*" ? value * signed() : value / signed();
    return value;
  };
  let sum = product();
  for (let sign; (sign = take("+", "-")); ) sum += sign === "+" ? product() : -product();
  return tokens.length ? NaN : sum;
}

/** The value of a text that is an integer in [lo, hi], as BigInt; a RangeError that says what is wanted. */
function integerOf(text, name, lo, hi) {
  const value = valueOf(text);
  if (!Number.isInteger(value) || value < lo || value > hi) {
    throw new RangeError(`${name}: an integer from ${lo} to ${hi} is wanted, not ${text || "nothing"}`);
  }
  return BigInt(value);
}

function scaleOf(text) {
  const value = valueOf(text);
  if (!(value >= 0 && value < Infinity)) {
    throw new RangeError(`scale: a number from 0 on is wanted, not ${text || "nothing"}`);
  }
  return value;
}

const oneOf = (value, name, all) => {
  if (Object.hasOwn(all, value)) return value;
  throw new RangeError(`${name}: ${value} is none of ${Object.keys(all).join(", ")}`);
};

/** The state that texts by name give; what they do not name is as at the start. */
function stateOf(texts) {
  const of = { ...START, by: "multiplier" in texts ? "integers" : "scale", ...texts };
  const type = oneOf(of.type, "type", TYPES), [lowest, highest] = TYPES[type];
  const lo = integerOf(of.min ?? `${lowest}`, "min", lowest, highest);
  return {
    rule: oneOf(of.rule, "rule", RULES),
    acc: integerOf(of.acc, "accumulator", ...INT32),
    by: of.by,
    scale: scaleOf(of.scale),
    multiplier: integerOf(of.multiplier, "multiplier", ...INT32),
    rightShift: Number(integerOf(of.shift, "right shift", 0n, 62n)),
    zero: integerOf(of.zero, "zero point", ...INT32),
    type,
    lo,
    hi: integerOf(of.max ?? `${highest}`, "max", lo, highest),
  };
}

/** The same texts of a state. */
function textsOf({ rule, acc, by, scale, multiplier, rightShift, zero, type, lo, hi }) {
  const numbers = { acc, scale, multiplier, shift: rightShift, zero, min: lo, max: hi };
  return { rule, by, type, ...Object.fromEntries(Object.entries(numbers).map(([name, v]) => [name, `${v}`])) };
}

/** What stands behind the # of an address: rule=q31&acc=3&scale=0.5&zero=0&type=int8, or multiplier and shift. */
function addressOf(state) {
  const { rule, acc, scale, multiplier, shift, zero, type, min, max } = textsOf(state);
  const [lowest, highest] = TYPES[state.type];
  const by = state.by === "scale" ? { scale } : { multiplier, shift };
  const cut = { ...(state.lo === lowest ? {} : { min }), ...(state.hi === highest ? {} : { max }) };
  return Object.entries({ rule, acc, ...by, zero, type, ...cut }).map((pair) => pair.join("=")).join("&");
}

function stateAt(address) {
  try {
    const pairs = address.split("&").map((pair) => pair.split("=", 2).map(decodeURIComponent));
    return stateOf(Object.fromEntries(pairs));
  } catch (error) {
    throw error instanceof URIError ? new RangeError(`address: ${error.message}`) : error;
  }
}

// --- what the rules do with it ---

const givenBy = ({ by, scale, multiplier, rightShift }) => (by === "scale" ? { scale } : { multiplier, rightShift });
const realScale = (state) => (state.by === "scale" ? state.scale : Number(state.multiplier) * 2 ** -state.rightShift);
const madeBy = (rule, state) => requantize(rule, givenBy(state), state.acc, state.zero, state.lo, state.hi);

/** What every rule makes of a state, by name. */
const madeByAll = (state) => Object.fromEntries(Object.keys(RULES).map((name) => [name, madeBy(name, state)]));

const isNearest = ({ multiplier, first, second }) =>
  !COARSE.includes(multiplier) && (second !== "" || first.startsWith("half"));

/** Whether the rules that round to nearest, with a fine multiplier, are of two minds. */
function areSplit(state) {
  const codes = Object.values(RULES).filter(isNearest).map((rule) => madeBy(rule.name, state).code);
  return new Set(codes.filter((code) => code !== undefined)).size > 1;
}

const meetsTie = (state) => madeBy(state.rule, state).tie === true;

/** Accumulators above `start`: around every half code where a code has many, else one by one. */
function* accumulatorsAbove(start, state) {
  const size = Math.abs(realScale(state)), sparse = size > 2 ** -40 && size < 1 / 8;
  const first = sparse ? Math.floor(2 * Number(start) * size) : 0;
  for (let k = 0, last = Number(start); k < 2000; k += 1) {
    const around = sparse ? Math.round((first + k) / 2 / size) : last + 1;
    for (let acc = sparse ? around - 3 : around; acc <= (sparse ? around + 3 : around); acc += 1) {
      if (acc > last && acc <= Number(INT32[1])) yield BigInt((last = acc));
    }
  }
}

/** The next accumulator at which `holds`, after the last one from the lowest code on; undefined if there is none. */
function nextWhere(holds, state) {
  const size = Math.abs(realScale(state)) || 1, below = Number(state.lo - state.zero) - 2;
  const lowest = BigInt(Math.round(clamp(below / size, -(2 ** 31) + 1, 2 ** 31 - 1)));
  for (const start of [state.acc, lowest - 1n]) {
    for (const acc of accumulatorsAbove(start, state)) if (holds({ ...state, acc })) return acc;
  }
  return undefined;
}
