// The answers above and beside the steps: what the rules give, the same call in Python, and the table of all rules.
"use strict";

/** m * 2**e as a double, its first 64 bits; an m of more than 1,000 bits is beyond every double. */
function doubleOf({ m, e }) {
  const drop = Math.max((m < 0n ? -m : m).toString(2).length - 64, 0);
  return Number(m >> BigInt(drop)) * 2 ** (e + drop);
}

/** The exact value, and where it lies. */
function exactWords(state) {
  const exact = exactly(state.acc, realScale(state), state.zero), { m, e } = exact, n = BigInt(-e);
  const tie = e < 0 && BigInt.asUintN(-e, m) === 2n ** (n - 1n);
  const plus = state.zero < 0n ? ` ${MINUS} ${-state.zero}` : state.zero ? ` + ${state.zero}` : "";
  const value = real(doubleOf(exact));
  return `${text(state.acc)} × ${real(realScale(state))}${plus} = ${strong(value)}${tie ? ", a tie" : ""}`;
}

const named = (names) => names.map((name) => `<code>${name}</code>`).join(", ");

function summaryHtml(all, state) {
  const own = all[state.rule];
  if (own.refused !== undefined) return `<p class="refused"><code>${state.rule}</code> ${own.refused}.</p>`;
  const byCode = {};
  for (const [name, { code }] of Object.entries(all)) if (code !== undefined) (byCode[code] ??= []).push(name);
  const others = Object.entries(byCode).filter(([code]) => code !== `${own.code}`);
  const off = rounded(Number(own.code) - doubleOf(exactly(state.acc, realScale(state), state.zero)), 7);
  const takers = Object.values(byCode).flat();
  const list = others.map(([code, names]) => `<li>${strong(code)}: ${named(names)}</li>`).join("");
  return `<p class="exact">${exactWords(state)}</p>
<p class="code"><code>${state.rule}</code> gives <output id="code">${text(own.code)}</output>
<small>${off === "0" ? "exactly" : `${off.startsWith(MINUS) ? "" : "+"}${off} of a step from it`}</small></p>
<p>${byCode[own.code].length} of ${takers.length} rules give this code${list ? "; the others:" : "."}</p>
<ul>${list}</ul>`;
}

/** Who computes by a rule, and what is particular to it. */
function systemsOf({ systems, wraps, zeroPoint }) {
  const offset = zeroPoint.startsWith("offset")
    ? " It adds an offset to the accumulator: what is given here is their sum, with the zero point 0." : "";
  return `Who computes so: ${systems}.${wraps ? ` What wraps: ${wraps}.` : ""}${offset}`;
}

/** The same call in Python. */
function pythonOf(state) {
  const [lowest, highest] = TYPES[state.type];
  const given = state.by === "scale" ? `scale=${state.scale}` : `integers=(${state.multiplier}, ${state.rightShift})`;
  const cut = (state.lo === lowest ? "" : `, qmin=${state.lo}`) + (state.hi === highest ? "" : `, qmax=${state.hi}`);
  const how = `${given}, zero_point=${state.zero}, dtype="${state.type}"${cut}`;
  return `qops.rules.requantize(${state.acc}, "${state.rule}", ${how})`;
}

function tableHtml(all, state) {
  const own = all[state.rule].code;
  const rows = Object.entries(all).map(([name, { code, integers, tie, refused }]) => {
    const differs = own !== undefined && code !== own;
    const kinds = [name === state.rule ? "chosen" : "", differs ? "differs" : ""].join(" ").trim();
    const how = integers ? `${text(integers.multiplier)} / ${power(integers.rightShift)}` : RULES[name].multiplier;
    const off = differs && refused === undefined ? code - own : "";
    const cells = refused === undefined
      ? `<td class="how">${how}</td><td class="n">${text(code)}</td><td class="n">${off > 0 ? "+" : ""}${text(off)}</td>
<td>${tie ? "tie" : ""}</td>`
      : `<td class="refused" colspan="4">${refused}</td>`;
    const button = `<button type="button" data-rule="${name}" aria-pressed="${name === state.rule}">${name}</button>`;
    return `<tr class="${kinds}"><th scope="row">${button}</th>${cells}</tr>`;
  });
  const heads = '<th>rule</th><th>the scale as</th><th class="n">code</th><th class="n">off</th><td></td>';
  return `<thead><tr>${heads}</tr></thead><tbody>${rows.join("")}</tbody>`;
}
