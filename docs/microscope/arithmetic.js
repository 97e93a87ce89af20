// The rules of requantization, one accumulator at a time, with every value on the way.
//
// Integers are BigInt, so nothing is lost that a chip would keep; doubles are the language's own, and Math.fround gives
// float32. The tests compare every code with the Python library, in node and in a browser. The files of this page are
// plain scripts that share one scope: later ones use what those before them define.
"use strict";

// name, the scale's integer, both roundings, where the shift is split, zero point, what wraps, what floats beyond int32
// become, who computes so
const ROWS = [
  ["tflite-double", "31 bits", "half_up", "half_away", "at 31", "outside", "left shift", "",
   "LiteRT 2.3 reference conv, depthwise, mul, add, quantize; TFLM 90b983c; CMSIS-NN 99f736a; gemmlowp 16e8662" +
   "; ExecuTorch 1.5.1 Cortex-M eager ops"],
  ["tflite-single", "31 bits, below 2**30", "half_up", "", "once", "outside", "result", "",
   "TFLM 90b983c and CMSIS-NN 99f736a built with single rounding; reference code of ruy, in LiteRT 2.3" +
   "; LiteRT 2.3 optimised conv and fully connected of several columns on 64-bit ARM"],
  ["half-up-double", "31 bits", "half_up", "half_up", "at 31", "outside", "left shift", "",
   "LiteRT 2.3 optimised conv, fully connected, blocks of its depthwise s8 and quantize; ARMv8.1 SQRDMULH, SRSHL"],
  ["double-away", "float64", "half_away", "", "once", "outside", "", "saturates", "LiteRT 2.3 reference fully connected"],
  ["fp32-even", "float32", "half_even", "", "once", "outside", "", "saturates",
   "XNNPACK 75db3c0, so LiteRT 2.3 by default; QNNPACK 7d2a4e9 fp32; onnxruntime 1.31, 1.32 QLinearConv and MatMul" +
   "; LiteRT 2.3 XNNPACK int8 on 64-bit ARM; onnxruntime 1.32 QLinearConv and MatMul on 64-bit ARM; " +
   "rknn-toolkit2 2.5.0 simulator conv; ExecuTorch 1.5.1 XNNPACK delegate"],
  ["torch-fbgemm", "float32", "half_even", "", "once", "outside", "", "lowest", "torch 2.13 and 2.14 linear on fbgemm, x86"],
  ["torch-qnnpack", "float32", "half_even", "", "once", "outside", "", "lowest", "torch 2.13 and 2.14 linear on qnnpack, x86"],
  ["torch-qnnpack-arm", "float32", "half_even", "", "once", "outside", "", "saturates",
   "torch 2.10 linear and conv2d on qnnpack, 64-bit ARM"],
  ["torch-onednn", "float32", "half_even", "", "once", "inside", "", "saturates",
   "torch 2.13 and 2.14 linear on oneDNN: acc * in_scale * w_scale * (1 / out_scale), each product a float32"],
  ["torch-onednn-conv", "float32", "half_even", "", "once", "inside", "", "saturates",
   "torch 2.13 and 2.14 conv2d on oneDNN, x86: as torch-onednn, with w_scale itself and not 1 / (1 / w_scale)" +
   "; torch 2.10 conv2d on onednn, 64-bit ARM"],
  ["torch-onednn-amx", "float32", "half_even", "", "once", "inside", "", "saturates",
   "torch 2.13 and 2.14 linear on oneDNN with AMX, and on AVX2: acc * (in_scale * w_scale) * (1 / out_scale)" +
   "; torch 2.10 linear per channel on onednn, 64-bit ARM"],
  ["torch-onednn-conv-amx", "float32", "half_even", "", "once", "inside", "", "saturates",
   "torch 2.13 and 2.14 conv on oneDNN, x86 with AMX, and with AVX2: as torch-onednn-amx, with w_scale itself"],
  ["torch-acl", "31 bits, below 1", "floor", "half_up", "at 31", "outside", "", "",
   "torch 2.10 linear per tensor on onednn, 64-bit ARM"],
  ["fp32-even-zp-inside", "float32", "half_even", "", "once", "inside", "", "lowest", "onnxruntime 1.31 and 1.32 QLinearMul"],
  ["fp32-away", "float32", "half_away", "", "once", "outside", "", "saturates", "ports by hand"],
  ["double-even-zp-inside", "float64 of a float32", "half_even", "", "once", "inside", "", "saturates",
   "onnx 1.23 ReferenceEvaluator QLinearConv, QLinearMatMul"],
  ["rndnu", "mantissa of 24 bits", "half_up", "", "once", "outside", "result", "",
   "XNNPACK 75db3c0 rndnu: NEON gemm, dwconv, vmul" +
   "; LiteRT 2.3 XNNPACK uint8 conv, fully connected and depthwise on 64-bit ARM"],
  ["rndna", "mantissa of 24 bits", "half_away", "", "once", "outside", "", "", "QNNPACK 7d2a4e9 precise"],
  ["q31", "mantissa, 31 bits", "half_up", "half_away", "at 31", "outside", "", "", "QNNPACK 7d2a4e9 q31"],
  ["q31-wrap", "mantissa, 31 bits", "half_up", "half_away", "at 31", "outside", "sum with the zero point", "",
   "QNNPACK 7d2a4e9 gemmlowp"],
  ["rndnu16", "mantissa, 15 bits", "half_up", "half_up", "16 bits", "outside", "", "",
   "XNNPACK 75db3c0 qu8 rndnu16: the accumulator is shifted into 16 bits first"],
  ["xnnpack-cvt", "8 bits", "half_up", "", "once", "outside", "", "",
   "XNNPACK 75db3c0 convert, 8 bits to 8 bits of the same type"],
  ["tosa-single", "31 bits", "half_up", "", "once", "outside", "", "", "TOSA 1.2 RESCALE, SINGLE_ROUND"],
  ["tosa-double", "31 bits", "half_up", "half_away", "past 31", "outside", "", "",
   "TOSA 1.2 RESCALE, DOUBLE_ROUND: two steps above a shift of 31"],
  ["tosa-inexact", "31 bits as a float32", "half_even", "", "once", "outside", "", "saturates",
   "TOSA 1.2 reference model 2026.8, INEXACT_ROUND"],
  ["tflite-int64acc", "31 bits, 16 of them", "half_up", "", "once", "outside", "result", "",
   "LiteRT 2.3 and TFLM 90b983c int16x8, accumulators of 48 bits"],
  ["cmsis-s64", "16 bits of 31", "floor", "half_up", "last bit", "outside", "result", "",
   "CMSIS-NN 99f736a s16, all but the last bit of the shift floored"],
  ["gemmlowp-legacy", "given", "half_up", "", "once", "offset added to the accumulator", "every step", "",
   "gemmlowp QuantizeDownInt32ToUint8Scale, 2015 to 2017"],
  ["nnlib-supernode", "fraction of 31 bits", "half_up", "half_up", "at 31", "in the accumulator",
   "left shift", "", "Hexagon nnlib 0x00021401 Supernode, DepthwiseSupernode, InputSupernode, SuperFC"],
  ["textbook7-floor", "7 bits", "floor", "", "once", "outside", "", "", "textbooks, code by hand"],
  ["textbook7-half-up", "7 bits", "half_up", "", "once", "outside", "", "", "textbooks, code by hand"],
  ["shift-floor", "31 bits", "floor", "", "once", "outside", "", "", "a bare >>"],
  ["shift-half-up", "31 bits", "half_up", "", "once", "outside", "", "", "half added, then >>"],
  ["shift-toward-zero", "31 bits", "truncate", "", "once", "outside", "", "", "a division in C"],
];
const RULES = Object.fromEntries(
  ROWS.map(([name, multiplier, first, second, split, zeroPoint, wraps, beyond, systems]) => [
    name, { name, multiplier, first, second, split, zeroPoint, wraps, beyond, systems },
  ]),
);
const TYPES = {
  int8: [-128n, 127n], uint8: [0n, 255n], int16: [-32768n, 32767n], uint16: [0n, 65535n],
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
};

// --- numbers ---

const clamp = (v, lo, hi) => (v < lo ? lo : v > hi ? hi : v);
const wrap32 = (v) => BigInt.asIntN(32, v);
const isFloat = (rule) => rule.multiplier.includes("float");
const isSingle = (rule) => ["float32", "31 bits as a float32"].includes(rule.multiplier);

/** The 64 bits of a double, or the 32 of a float32, as an integer. */
function bitsOf(x, width) {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, x);
  if (width === 64) return view.getBigUint64(0);
  view.setFloat32(0, x);
  return BigInt(view.getUint32(0));
}

/** A finite double as { m, e }, exactly m * 2**e with m an integer. */
function partsOf(x) {
  const bits = bitsOf(Math.abs(x), 64), exponent = Number(bits >> 52n), low = bits & (2n ** 52n - 1n);
  const m = exponent ? low | (1n << 52n) : low;
  return { m: x < 0 ? -m : m, e: Math.max(exponent, 1) - 1075 };
}

/** x > 0 as { m, shift } with m of 53 bits: x = m / 2**53 * 2**shift. */
function mantissaOf(x) {
  let { m, e } = partsOf(x);
  for (; m < 2n ** 52n; e -= 1) m *= 2n;
  return { m, shift: e + 53 };
}

/** Nearest integer to a double; a tie goes to the even one. */
function halfEven(x) {
  const floor = Math.floor(x), rest = x - floor;
  if (!(Math.abs(x) < 2 ** 52)) return x;
  return rest < 0.5 || (rest === 0.5 && floor % 2 === 0) ? floor : floor + 1;
}

/** Nearest integer to a double; a tie goes away from 0. */
function halfAway(x) {
  const size = Math.abs(x), floor = Math.floor(size);
  if (!(size < 2 ** 52)) return x;
  return Math.sign(x) * (size - floor >= 0.5 ? floor + 1 : floor);
}

// --- a real scale as integers: scale = multiplier / 2**rightShift, about ---

function of31Bits(scale, below30) {
  if (scale === 0) return [0n, 31];
  let { m, shift } = mantissaOf(scale);
  m = (m + 2n ** 21n) >> 22n;
  if (m === 2n ** 31n) [m, shift] = [m / 2n, shift + 1];
  if (shift < -31) return [0n, 31];
  return below30 && shift > 30 ? [2n ** 31n - 1n, 1] : [m, 31 - shift];
}

function ofMantissa(scale, bits) {
  const near = Math.fround(scale);
  if (near === 0) return [0n, bits];
  const { m, shift } = mantissaOf(near);
  return [m >> BigInt(53 - bits), bits - shift];
}

/** A multiplier of 31 bits, rounded to 16. */
const reduced = (m) => (m < 0x7fff0000n ? (m + 2n ** 15n) >> 16n : 0x7fffn);

const MULTIPLIERS = {
  "31 bits": (scale) => of31Bits(scale, false),
  "31 bits as a float32": (scale) => of31Bits(scale, false),
  "31 bits, below 2**30": (scale) => of31Bits(scale, true),
  "31 bits, below 1": (scale) => {
    const made = of31Bits(scale, false);
    return made[1] < 31 ? [0n, 31] : made;
  },
  "31 bits, 16 of them": (scale) => of31Bits(scale, false),
  "16 bits of 31": (scale) => {
    const [m, n] = of31Bits(scale, false);
    return [reduced(m), n - 16];
  },
  "mantissa of 24 bits": (scale) => ofMantissa(scale, 24),
  "mantissa, 31 bits": (scale) => ofMantissa(scale, 31),
  "mantissa, 15 bits": (scale) => {
    const [m, n] = ofMantissa(scale, 24), short = (m + 256n) >> 9n;
    return short === 2n ** 15n ? [short / 2n, n - 10] : [short, n - 9];
  },
  "7 bits": (scale) => [BigInt(halfEven(scale * 128)), 7],
  "fraction of 31 bits": ofFraction,
  "8 bits": (scale) => [BigInt(halfEven(256 * Math.fround(scale))), 8],
};

/** The float32 scale times 2**31, rounded half up in float32; scales above 1 are shifted below it first. */
function ofFraction(scale) {
  const near = Math.fround(scale);
  if (!(near < 2 ** 31)) return [2n ** 31n, 0]; // none that fits
  const shift = near > 1 ? mantissaOf(near).shift : 0;
  const m = BigInt(Math.trunc(Math.fround(near * 2 ** (31 - shift) + 0.5)));
  return [m < 2n ** 31n ? m : 2n ** 31n - 1n, 31 - shift];
}

/** { multiplier, rightShift } that a rule makes of a scale; a RangeError with the reason where it makes none. */
function integersOf(rule, scale) {
  if (rule.multiplier === "given") throw new RangeError("has no rule for a scale: give it integers");
  const beyond = rule.multiplier.startsWith("31") ? false : Math.fround(scale) === Infinity;
  const [multiplier, rightShift] = beyond ? [2n ** 31n, 0] : MULTIPLIERS[rule.multiplier](scale);
  if (multiplier >= 2n ** 31n || rightShift < 0 || rightShift > 62) {
    throw new RangeError("does not take this scale: its integers do not hold it");
  }
  return { multiplier, rightShift };
}

// --- the steps: each is pushed to a list with its values, and gives its result ---

const TERMS = { // what is added to v, so that the floor of a shift by n rounds so
  floor: () => 0n,
  truncate: (v, n) => (v < 0n ? 2n ** n - 1n : 0n),
  half_up: (v, n) => 2n ** (n - 1n),
  half_away: (v, n) => 2n ** (n - 1n) - (v < 0n ? 1n : 0n),
};

function shifted(steps, value, n, rounding, wraps = false) {
  if (n === 0) return value;
  const term = TERMS[rounding](value, BigInt(n)), whole = value + term, sum = wraps ? wrap32(whole) : whole;
  const result = sum >> BigInt(n), rest = BigInt.asUintN(n, value), tie = rest === 2n ** BigInt(n - 1);
  steps.push({ kind: "shift", value, n, rounding, term, sum, wrapped: sum !== whole, result, rest, tie });
  return result;
}

function wrapped(steps, value) {
  steps.push({ kind: "wrap", value, result: wrap32(value) });
  return wrap32(value);
}

function times(steps, value, multiplier, wraps = false) {
  const whole = value * multiplier, result = wraps ? wrap32(whole) : whole;
  steps.push({ kind: "product", value, multiplier, whole, result });
  return result;
}

function movedLeft(steps, value, n, wraps) {
  if (n === 0) return value;
  const whole = value << BigInt(n), result = wraps ? wrap32(whole) : whole;
  steps.push({ kind: "left", value, n, whole, result });
  return result;
}

function clamped(steps, value, lo, hi, why) {
  const result = clamp(value, lo, hi);
  steps.push({ kind: "clamp", value, lo, hi, result, why });
  return result;
}

/** The accumulator plus the zero point in its steps, in 32 bits. */
function moved(steps, acc, zero, scale) {
  if (zero === 0n) return acc;
  const near = Math.fround(scale), word = halfEven(Math.fround(Number(zero) / near));
  if (near === 0 || !(Math.abs(word) < 2 ** 31)) throw new RangeError("does not take this zero point: no int32 holds it");
  const result = wrap32(acc + BigInt(word));
  steps.push({ kind: "in the sum", value: acc, zero, word: BigInt(word), result });
  return result;
}

/** acc * multiplier / 2**rightShift as a rule rounds it, before the zero point. */
function scaledInteger(steps, rule, acc, multiplier, n) {
  if (rule.multiplier === "31 bits, 16 of them") {
    if (n < 16) throw new RangeError("shifts by 16 at least");
    steps.push({ kind: "reduce", value: multiplier, n, result: reduced(multiplier) });
    [multiplier, n] = [reduced(multiplier), n - 16];
  }
  if (rule.split === "16 bits") {
    const left = movedLeft(steps, acc, Math.max(15 - n, 0), false);
    const near = shifted(steps, left, Math.max(n - 15, 0), rule.first);
    const short = clamped(steps, near, -(2n ** 15n), 2n ** 15n - 1n, "16 bits");
    return shifted(steps, times(steps, short, multiplier), 15, rule.second);
  }
  if (rule.split === "last bit") {
    if (n === 0) throw new RangeError("shifts by 1 at least");
    const high = shifted(steps, times(steps, acc, multiplier), n - 1, rule.first);
    return shifted(steps, wrapped(steps, high), 1, rule.second);
  }
  if (rule.split === "at 31" || (rule.split === "past 31" && n > 31)) {
    const near = movedLeft(steps, acc, Math.max(31 - n, 0), true);
    const high = shifted(steps, times(steps, near, multiplier), 31, rule.first);
    return shifted(steps, high, Math.max(n - 31, 0), rule.second);
  }
  const every = rule.wraps === "every step";
  const high = shifted(steps, times(steps, acc, multiplier, every), n, rule.first, every);
  return rule.wraps === "result" ? wrapped(steps, high) : high;
}

/** The same of the rules in float32 or double; the zero point may come before the rounding. */
function scaledFloat(steps, rule, acc, factor, zero) {
  const width = isSingle(rule) ? 32 : 64, kept = isSingle(rule) ? Math.fround : (x) => x;
  const near = kept(Number(acc));
  steps.push({ kind: "float", what: "accumulator", width, given: Number(acc), result: near });
  if (!Number.isFinite(factor.result)) throw new RangeError("does not take this scale: it is beyond float32");
  steps.push({ kind: "float", what: "scale", width, ...factor });
  const product = kept(near * factor.result);
  steps.push({ kind: "float product", width, a: near, b: factor.result, result: product });
  const inside = rule.zeroPoint === "inside", sum = inside ? kept(product + kept(Number(zero))) : product;
  if (inside) steps.push({ kind: "float sum", width, value: product, zero, result: sum });
  const rounded = rule.first === "half_even" ? halfEven(sum) : halfAway(sum);
  const result = BigInt(clamp(rounded, -(2 ** 62), 2 ** 62)); // what is so far out saturates anyway
  const tie = Math.abs(sum % 1) === 0.5;
  steps.push({ kind: "float round", width, value: sum, rounding: rule.first, result, tie });
  if (rule.beyond !== "lowest" || result === wrap32(result)) return result;
  steps.push({ kind: "beyond", value: result, result: TYPES.int32[0] });
  return TYPES.int32[0];
}

/** The real scale as a float rule has it, { given, result }. */
function factorOf(rule, scale, integers) {
  if (rule.multiplier === "31 bits as a float32") {
    const m = Number(integers.multiplier), unit = 2 ** -integers.rightShift;
    return { given: m * unit, result: Math.fround(m) * unit };
  }
  return { given: scale, result: rule.multiplier === "float64" ? scale : Math.fround(scale) };
}

/**
 * What a rule does with an accumulator: { code, steps, integers, tie }, or { refused } with the reason.
 *
 * `tie` tells whether the last rounding met exactly one half.
 * `given` is { scale } or { multiplier, rightShift }; the accumulator, the zero point and the ends are BigInt.
 */
function requantize(name, given, acc, zero, lo, hi) {
  const rule = RULES[name], steps = [{ kind: "accumulator", result: acc }];
  const byIntegers = given.scale === undefined;
  const scale = byIntegers ? Number(given.multiplier) * 2 ** -given.rightShift : given.scale;
  try {
    const hasIntegers = !rule.multiplier.startsWith("float");
    const integers = hasIntegers ? (byIntegers ? given : integersOf(rule, scale)) : undefined;
    if (hasIntegers) steps.push({ kind: "scale", scale, byIntegers, rule, ...integers });
    const inSum = rule.zeroPoint === "in the accumulator", outside = !inSum && rule.zeroPoint !== "inside";
    const sumOf = () => (inSum ? moved(steps, acc, zero, scale) : acc);
    const high = isFloat(rule)
      ? scaledFloat(steps, rule, acc, factorOf(rule, scale, integers), zero)
      : scaledInteger(steps, rule, sumOf(), integers.multiplier, integers.rightShift);
    const whole = outside ? high + zero : high;
    const sum = rule.wraps === "sum with the zero point" ? wrap32(whole) : whole;
    if (outside) steps.push({ kind: "zero point", value: high, zero, whole, result: sum });
    const code = clamped(steps, sum, lo, hi, "codes");
    return { code, steps, integers, tie: Boolean(steps.findLast((step) => step.tie !== undefined)?.tie) };
  } catch (error) {
    if (error instanceof RangeError) return { refused: error.message };
    throw error;
  }
}

/** acc * scale + zero without any rounding, as { m, e }: m * 2**e. */
function exactly(acc, scale, zero) {
  const { m, e } = partsOf(scale);
  return e > 0 ? { m: acc * (m << BigInt(e)) + zero, e: 0 } : { m: acc * m + (zero << BigInt(-e)), e };
}
