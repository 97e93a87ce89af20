// The controls: fields, sliders, keys and the address hold one state; whatever changes it draws the page anew.
"use strict";

const at = (id) => document.getElementById(id);
const FIELDS = ["rule", "acc", "scale", "multiplier", "shift", "zero", "type", "min", "max"];
let state = stateOf({});
let late; // the timer of the address: browsers refuse one that changes with every pixel of a slider

function draw() {
  const all = madeByAll(state), own = all[state.rule];
  at("summary").innerHTML = summaryHtml(all, state);
  at("python").textContent = pythonOf(state);
  at("table").innerHTML = tableHtml(all, state);
  at("chosen").textContent = state.rule;
  at("systems").textContent = systemsOf(RULES[state.rule]);
  at("steps").innerHTML = own.refused === undefined ? stepsHtml(own, state) : "";
  show();
  clearTimeout(late);
  late = setTimeout(() => history.replaceState(null, "", `#${addressOf(state)}`), 150);
}

/** Put the state into the controls, but not into the one that is being typed in. */
function show() {
  const texts = textsOf(state), [lowest, highest] = TYPES[state.type], size = Math.abs(realScale(state)) || 1;
  for (const id of FIELDS) if (at(id) !== document.activeElement) at(id).value = texts[id];
  for (const input of document.querySelectorAll("[name=by]")) input.checked = input.value === state.by;
  document.body.dataset.by = state.by;
  const reach = Math.min(2 ** 31 - 1, Math.ceil((1.2 * Number(highest - lowest)) / size));
  Object.assign(at("accSlider"), { min: -reach, max: reach, value: texts.acc });
  at("scaleSlider").value = Math.log2(state.scale);
  Object.assign(at("zeroSlider"), { min: Number(lowest), max: Number(highest), value: texts.zero });
}

function say(words, isWrong = false) {
  at("message").textContent = words;
  at("message").classList.toggle("wrong", isWrong);
}

/** Change some of the texts and draw what they give; or say what is wrong with them. */
function change(texts, words = "") {
  try {
    state = stateOf({ ...textsOf(state), ...texts });
    say(words);
    draw();
  } catch (error) {
    say(error.message, true);
  }
}

function changeType(type) {
  const [lowest, highest] = TYPES[type];
  change({ type, zero: `${clamp(state.zero, lowest, highest)}`, min: undefined, max: undefined });
}

const step = (by) => change({ acc: `${clamp(state.acc + by, ...INT32)}` });

function seek(holds, found, none) {
  const acc = nextWhere(holds, state);
  if (acc === undefined) say(none);
  else change({ acc: `${acc}` }, found);
}

const ACTIONS = {
  less: () => step(-1n),
  more: () => step(1n),
  tie: () => seek(meetsTie, "Here the last rounding meets exactly one half.",
    "No tie was found: with this scale the rule meets none near its codes."),
  split: () => seek(areSplit, "Here rules that all round to nearest give different codes.",
    "None was found: with this scale the rules that round to nearest agree near all codes."),
};

function chooseBeside(by) {
  const names = Object.keys(RULES), index = names.indexOf(state.rule) + by;
  change({ rule: names[(index + names.length) % names.length] });
}

const KEYS = {
  ArrowLeft: ACTIONS.less, ArrowRight: ACTIONS.more, ArrowUp: () => chooseBeside(-1), ArrowDown: () => chooseBeside(1),
  t: ACTIONS.tie, d: ACTIONS.split,
};

function listen() {
  for (const id of FIELDS) {
    if (id === "type") at(id).addEventListener("change", () => changeType(at(id).value));
    else at(id).addEventListener("input", () => change({ [id]: at(id).value }));
    at(id).addEventListener("blur", show);
  }
  at("accSlider").addEventListener("input", () => change({ acc: at("accSlider").value }));
  at("zeroSlider").addEventListener("input", () => change({ zero: at("zeroSlider").value }));
  at("scaleSlider").addEventListener("input", () => {
    const scale = 2 ** Number(at("scaleSlider").value);
    change({ scale: `${Number.isInteger(Math.log2(scale)) ? scale : Number(scale.toPrecision(4))}` });
  });
  for (const input of document.querySelectorAll("[name=by]")) {
    input.addEventListener("change", () => change({ by: input.value }));
  }
  for (const [id, act] of Object.entries(ACTIONS)) at(id).addEventListener("click", act);
  at("table").addEventListener("click", ({ target }) => {
    if (target.dataset.rule) change({ rule: target.dataset.rule });
  });
  at("steps").addEventListener("toggle", ({ target }) => {
    const { value, multiplier } = target.dataset;
    if (target.open && target.children.length === 1) {
      target.insertAdjacentHTML("beforeend", longMultiplication(BigInt(value), BigInt(multiplier)));
    }
  }, true);
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("input, select") || event.ctrlKey || event.metaKey || event.altKey;
    if (typing || !KEYS[event.key]) return;
    event.preventDefault();
    KEYS[event.key]();
  });
  window.addEventListener("hashchange", openAddress);
}

function openAddress() {
  try {
    state = stateAt(location.hash.slice(1));
  } catch (error) {
    say(error.message, true);
  }
  draw();
}

const option = (name) => new Option(name, name);
at("rule").append(...Object.keys(RULES).map(option));
at("type").append(...Object.keys(TYPES).map(option));
listen();
openAddress();
