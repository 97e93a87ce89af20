// Every step as HTML: a sentence with the numbers of this very case, and rows of bits.
"use strict";

const TYPE_BITS = { int8: 8, uint8: 8, int16: 16, uint16: 16, int32: 32 };
const ROUNDINGS = {
  floor: "down", truncate: "toward zero", half_up: "to nearest, a tie up", half_away: "to nearest, a tie away from 0",
  half_even: "to nearest, a tie to the even integer",
};
const MULTIPLIER_WORDS = {
  "31 bits": "Its first 31 bits are kept, rounded",
  "31 bits as a float32": "Its first 31 bits are kept, rounded, and made a float32 in the next step",
  "31 bits, below 2**30": "Its first 31 bits are kept, rounded",
  "31 bits, below 1": "Its first 31 bits are kept, rounded; a scale of 1 or more has the multiplier 0",
  "31 bits, 16 of them": "Its first 31 bits are kept, rounded",
  "16 bits of 31": "Its first 31 bits are rounded to 16, so that a product with 48 bits fits 64",
  "mantissa of 24 bits": "The 24 bits that a float32 has of it are taken as they are",
  "mantissa, 31 bits": "The 24 bits that a float32 has of it are taken, and 7 zeros after them",
  "mantissa, 15 bits": "The 24 bits that a float32 has of it are rounded to 15",
  "fraction of 31 bits": "The float32 nearest to it is multiplied by 2<sup>31</sup> and rounded, after a shift below 1",
  "7 bits": "It is multiplied by 2<sup>7</sup> and rounded, however small it is",
  "8 bits": "It is multiplied by 2<sup>8</sup> and rounded, however small it is",
};

// --- numbers as text ---

const MINUS = "\u2212";
const text = (v) => `${v}`.replace("-", MINUS);
const rounded = (x, digits) => text(Number(x.toPrecision(digits)));
const real = (x) => (Number.isSafeInteger(x) ? text(x) : rounded(x, 10));
const strong = (v) => `<b>${text(v)}</b>`;
const power = (n) => `2<sup>${text(n)}</sup>`;

/** The share of a step that n dropped bits are worth; next to one half, by how little it misses it. */
function share(rest, n) {
  if (rest === 0n) return "nothing";
  const off = Number(rest - 2n ** BigInt(n - 1)) / 2 ** n;
  if (off === 0) return "exactly one half of a step";
  if (Math.abs(off) > 1e-4) return `${rounded(Number(rest) / 2 ** n, 6)} of a step`;
  return `one half of a step ${off < 0 ? "less" : "and"} ${rounded(Math.abs(off), 3)} of one`;
}

// --- bits ---

/** A row of bits, most significant first; the lowest `dropped` ones are to be cut off. */
function bitRow(name, value, width, { dropped = 0, parts = "", shown = text(value), note = "" } = {}) {
  const digits = BigInt.asUintN(width, value).toString(2).padStart(width, "0");
  const sign = digits[0], copies = parts ? 0 : digits.search(sign === "0" ? "1" : "0");
  const repeated = copies < 0 ? width - 1 : copies - 1; // bits that only repeat the sign
  const cells = [...digits].map((digit, i) => {
    const index = width - 1 - i;
    const kind = [`b${digit}`];
    if (parts) kind.push(parts[i]);
    else if (i < repeated) kind.push("copy");
    if (index < dropped) kind.push(index === dropped - 1 ? "half" : "rest");
    return `<i class="${kind.join(" ")}" title="bit ${index}">${digit}</i>`;
  });
  const label = `${width} bits: ${digits}`;
  return `<div class="row w${width}"><span class="name">${name}</span><span class="value">${shown}</span>
<span class="bits" role="img" aria-label="${label}">${cells.join("")}</span>${note && `<small>${note}</small>`}</div>`;
}

const integerRow = (name, value, dropped = 0, width = value === wrap32(value) ? 32 : 64) =>
  bitRow(name, value, width, { dropped });

/** A float: sign, exponent, fraction. */
function floatRow(name, x, width) {
  const parts = ["sign", ...Array(width === 32 ? 8 : 11).fill("exponent")];
  while (parts.length < width) parts.push("fraction");
  return bitRow(name, bitsOf(x, width), width, { parts, shown: real(x) });
}

/** Where a value lies between two integers, and to which of them it goes. */
function line(floor, fraction, goesUp) {
  const x = 30 + 260 * fraction, end = goesUp ? 290 : 30;
  const arrow = Math.abs(end - x) > 12 ? `<path d="M${x} 20 H${end + (goesUp ? -7 : 7)}" marker-end="url(#tip)"/>` : "";
  return `<svg class="line" viewBox="0 0 320 52" role="img" aria-label="between ${floor} and ${floor + 1n}">
<path d="M30 20 H290 M30 14 V26 M160 16 V24 M290 14 V26"/>${arrow}<circle cx="${x}" cy="20" r="5"/>
<text x="4" y="44">${text(floor)}</text><text class="half" x="160" y="44">half</text>
<text class="end" x="316" y="44">${text(floor + 1n)}</text></svg>`;
}

function ruler(width) {
  const labels = [56, 48, 40, 32, 24, 16, 8, 0].map((i) => `<span>${i < width ? i : ""}</span>`);
  return `<div class="ruler">${labels.join("")}</div>`;
}

/** One step; rows of integers have the numbers of some bits above them. */
function block(title, words, rows, mark = "") {
  const above = rows.includes("exponent") ? "" : ruler(rows.includes("w64") ? 64 : 32);
  return `<section class="step${mark}"><h3>${title}</h3><p>${words}</p>
<div class="rows">${above}${rows}</div></section>`;
}

// --- the steps ---

function accumulatorStep({ result }) {
  const words = `A sum of products, ${strong(result)}, in 32 bits: the highest one is the sign, and the paler ones only
repeat it.`;
  return block("The accumulator", words, integerRow("accumulator", result, 0, 32));
}

function scaleStep({ scale, multiplier, rightShift, byIntegers, rule }) {
  const about = `${text(multiplier)} / ${power(rightShift)}`, value = Number(multiplier) * 2 ** -rightShift;
  const off = value / scale - 1;
  const error = off === 0 ? "exactly" : `too ${off > 0 ? "large" : "small"} by ${rounded(Math.abs(off), 2)} of it`;
  const found = multiplier === 0n && scale
    ? "and that is 0: nothing is left of the scale, and every code will be the zero point."
    : `so it is ${about}, ${scale ? error : "exactly"}.`;
  const words = byIntegers
    ? `The integers are given: ${about}, which is ${real(value)}.`
    : `The scale, ${real(scale)}, becomes an integer and a shift. ${MULTIPLIER_WORDS[rule.multiplier]}, ${found}`;
  return block("The scale as an integer", words, integerRow("multiplier", multiplier, 0, 32));
}

function leftStep({ value, n, whole, result }) {
  const fits = whole === result;
  const words = fits
    ? `The shift is smaller than the bits of the multiplier: shift left by ${n} first. ${text(value)} becomes
${strong(result)}.`
    : `Shift left by ${n} first, in 32 bits: ${text(whole)} does not fit, so it <em>wraps</em> to ${strong(result)}.`;
  return block("Shift left", words, integerRow("shifted left", result), fits ? "" : " odd");
}

function productStep({ value, multiplier, whole, result }) {
  const words = whole === result
    ? `${text(value)} × ${text(multiplier)} = ${strong(result)}. 64 bits hold it, so nothing is lost here.`
    : `${text(value)} × ${text(multiplier)} = ${text(whole)} does not fit 32 bits: it <em>wraps</em> to
${strong(result)}.`;
  const all = `<details data-value="${value}" data-multiplier="${multiplier}"><summary>bit by bit</summary></details>`;
  return block("Multiply", words, integerRow("product", result) + all, whole === result ? "" : " odd");
}

/** The long multiplication: a shifted copy of the value for each bit that is set, and their sum. */
function longMultiplication(value, multiplier) {
  const size = multiplier < 0n ? -multiplier : multiplier, signed = multiplier < 0n ? -value : value;
  const rows = [...size.toString(2)].reverse().flatMap((digit, k) =>
    digit === "1" ? [bitRow(`× ${power(k)}`, signed << BigInt(k), 64)] : []);
  return `<p>One row for each bit of the multiplier that is 1: the value, shifted left. Their sum is the product.</p>
${ruler(64)}${rows.join("")}${bitRow("sum", value * multiplier, 64)}`;
}

const TERM_WORDS = {
  floor: () => "Nothing is added, so the floor stays.",
  truncate: (value) =>
    value < 0n ? "The value is below 0: one less than a step is added, so that it falls toward zero."
      : "The value is not below 0, so the floor is what lies toward zero.",
  half_up: (value, n) => `Half a step, ${power(n - 1)}, is added before: the floor of that is the nearest integer.`,
  half_away: (value, n) =>
    `Half a step, ${power(n - 1)}, is added before${value < 0n ? ", less one bit, for the value is below 0" : ""}: the
floor of that is the nearest integer.`,
};

/** The sentence about a tie, and about its cause if the exact value is no tie. */
function tieWords(step, maker) {
  if (!step.tie || !step.rounding.startsWith("half")) return "";
  const origin = maker && ` <em>${maker} made this tie: the exact value is not one.</em>`;
  return ` <strong>A tie</strong>: ${step.rounding} takes it ${ROUNDINGS[step.rounding].split("a tie ")[1]}.${origin}`;
}

function shiftStep(step, maker) {
  const { value, n, rounding, term, sum, wrapped: wraps, result, rest } = step;
  const words = `Divide by ${power(n)}: shift right by ${n}. The bits right of the mark drop out; they are worth
${share(rest, n)}. ${TERM_WORDS[rounding](value, n)} ${text(value)} / ${power(n)} becomes ${strong(result)}.
${wraps ? "<em>The sum does not fit 32 bits and wraps.</em>" : ""}${tieWords(step, maker)}`;
  const width = [value, sum].every((v) => v === wrap32(v)) ? 32 : 64;
  const rows = [
    integerRow("value", value, n, width),
    term ? integerRow("what is added", term, n, width) : "",
    term ? integerRow("sum", sum, n, width) : "",
    integerRow("shifted", result),
  ];
  const floor = value >> BigInt(n), goes = result - floor;
  const drawn = goes === 0n || goes === 1n ? line(floor, Number(rest) / 2 ** n, goes === 1n) : "";
  const title = `Shift and round ${ROUNDINGS[rounding]}`;
  return block(title, words, rows.join("") + drawn, `${step.tie ? " tie" : ""}${wraps ? " odd" : ""}`);
}

function wrapStep({ value, result }) {
  const words = value === result
    ? `The result is kept in 32 bits: ${strong(result)} fits.`
    : `The result is kept in 32 bits: ${text(value)} does not fit, and <em>wraps</em> to ${strong(result)}.`;
  return block("Keep 32 bits", words, integerRow("kept", result, 0, 32), value === result ? "" : " odd");
}

function floatStep({ what, width, given, result }) {
  const kind = width === 32 ? "float32, which has 24 bits of it" : "double, which has 53 bits of it";
  const found = given === result
    ? `Nothing is lost: ${strong(real(result))}.`
    : `${real(given)} becomes ${strong(text(result))}, off by ${rounded(Math.abs(result / given - 1), 2)} of it.`;
  return block(`The ${what} as a float`, `The ${what} is made a ${kind}. ${found} Sign, exponent and fraction are
coloured.`, floatRow(what, result, width));
}

/** The exact product of two doubles, { m, e }. */
function exactProduct(a, b) {
  const x = partsOf(a), y = partsOf(b);
  return { m: x.m * y.m, e: x.e + y.e };
}

function floatProductStep({ width, a, b, result }) {
  const exact = exactProduct(a, b), near = Number.isFinite(result) ? partsOf(result) : { m: 0n, e: 0 };
  const low = Math.min(exact.e, near.e);
  const same = exact.m << BigInt(exact.e - low) === near.m << BigInt(near.e - low);
  const kept = same ? "which the float holds exactly" : `rounded to the ${width === 32 ? 24 : 53} bits of the float`;
  const words = `${real(a)} × ${real(b)} = ${strong(text(result))}, ${kept}.`;
  return block("Multiply", words, floatRow("product", result, width));
}

function floatSumStep({ width, value, zero, result }) {
  const words = `The zero point comes <b>before</b> the rounding: ${real(value)} + ${text(zero)} =
${strong(text(result))}. A tie of this sum is not always one of the product.`;
  return block("Add the zero point", words, floatRow("sum", result, width));
}

function floatRoundStep(step) {
  const { value, result, rounding, width } = step, floor = Math.floor(value), fraction = value - floor;
  const words = `${text(value)} becomes ${strong(result)}.${tieWords(step, "")}`;
  const isNear = Math.abs(floor) < 2 ** 40 && fraction !== 0;
  const drawn = isNear ? line(BigInt(floor), fraction, result > floor) : "";
  const rows = floatRow("value", value, width) + integerRow("rounded", result) + drawn;
  return block(`Round ${ROUNDINGS[rounding]}`, words, rows, step.tie ? " tie" : "");
}

function beyondStep({ value, result }) {
  const words = `${text(value)} does not fit 32 bits: the instruction that makes it an integer gives ${strong(result)},
whatever its sign. Other rules cut it to the nearest end.`;
  return block("Make it an integer", words, integerRow("integer", result, 0, 32), " odd");
}

function zeroStep({ value, zero, whole, result }) {
  const wraps = whole === result ? "" : ` It does not fit 32 bits and <em>wraps</em> to ${strong(result)}.`;
  const words = `${text(value)} + ${text(zero)} = ${strong(whole)}.${wraps}`;
  return block("Add the zero point", words, integerRow("sum", result), wraps && " odd");
}

function inSumStep({ value, zero, word, result }) {
  const wraps = result === value + word ? "" : " It does not fit 32 bits and <em>wraps</em>.";
  const words = `The zero point becomes a part of the sum: ${text(zero)} is ${text(word)} of its steps, and ${text(value)} +
${text(word)} = ${strong(result)}.${wraps}`;
  return block("Add the zero point", words, integerRow("sum", result, 0, 32), wraps && " odd");
}

function clampStep({ value, lo, hi, result, why }, type) {
  const range = `${text(lo)} to ${text(hi)}`, is16 = why === "16 bits";
  const words = value === result
    ? `${text(value)} lies in ${range}, so it stays.`
    : `${text(value)} is ${value < lo ? "below" : "above"} ${range}: it becomes ${strong(result)}, the end.`;
  const width = is16 ? 16 : TYPE_BITS[type], title = is16 ? "Cut to 16 bits" : `Clamp: the code, ${type}`;
  return block(title, words, bitRow(is16 ? "kept" : "code", result, width), value === result ? "" : " cut");
}

function reduceStep({ value, n, result }) {
  const words = `${text(value)} is rounded to ${strong(result)}, and the shift is ${n} − 16: a product with an accumulator
of 48 bits then fits 64.`;
  return block("Round the multiplier to 16 bits", words, bitRow("multiplier", result, 16));
}

const STEPS = {
  accumulator: accumulatorStep, scale: scaleStep, left: leftStep, product: productStep, wrap: wrapStep,
  float: floatStep, "float product": floatProductStep, "float sum": floatSumStep, "float round": floatRoundStep,
  beyond: beyondStep, reduce: reduceStep, "zero point": zeroStep, "in the sum": inSumStep,
};

/** What made a tie of a value that lies exactly between no two codes; "" if it does, or if another shift follows. */
function makerOf(found, index, state) {
  const { m, e } = exactly(state.acc, realScale(state), 0n);
  const shifts = (steps) => steps.some((step) => step.kind === "shift");
  if ((e < 0 && BigInt.asUintN(-e, m) === 2n ** BigInt(-e - 1)) || shifts(found.steps.slice(index + 1))) return "";
  return shifts(found.steps.slice(0, index)) ? "The rounding before" : "The rounded multiplier";
}

/** All steps of a requantization, as HTML. */
function stepsHtml(found, state) {
  return found.steps.map((step, index) => {
    if (step.kind === "shift") return shiftStep(step, makerOf(found, index, state));
    return step.kind === "clamp" ? clampStep(step, state.type) : STEPS[step.kind](step);
  }).join("\n");
}
