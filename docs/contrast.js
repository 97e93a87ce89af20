"use strict";
// Text whose colour has too little contrast with what is behind it, of one page after the other, each in a frame.
const LEAST = 4.5;
const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const known = new Map();

/** Red, green, blue from 0 to 255 and alpha from 0 to 1, of any colour that a style can have. */
function channels(colour) {
  if (!known.has(colour)) known.set(colour, painted(colour));
  return [...known.get(colour)];
}

function painted(colour) {
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = "#000";
  canvas.fillStyle = colour;
  canvas.fillRect(0, 0, 1, 1);
  const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
  return [r, g, b, a / 255];
}

const over = (front, back) => [0, 1, 2].map((i) => front[i] * front[3] + back[i] * (1 - front[3]));

/** The relative luminance of WCAG 2. */
function luminance(rgb) {
  const [r, g, b] = rgb.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

/** The colour behind an element, and how opaque it is with all that it is in; `seen` keeps both for each element. */
function surroundings(element, view, page, seen) {
  if (!element) return { back: page, opacity: 1 };
  if (!seen.has(element)) {
    const outer = surroundings(element.parentElement, view, page, seen);
    const style = view.getComputedStyle(element);
    const back = over(channels(style.backgroundColor), outer.back);
    seen.set(element, { back, opacity: outer.opacity * Number(style.opacity) });
  }
  return seen.get(element);
}

/** The colour behind a text of a drawing: that of the shapes which are drawn before it and reach below its middle. */
function behindDrawn(text, view, back) {
  const box = text.getBoundingClientRect();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  for (const shape of text.ownerSVGElement.querySelectorAll("rect, circle")) {
    const at = shape.getBoundingClientRect();
    const before = shape.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING;
    if (!before || x < at.left || x > at.right || y < at.top || y > at.bottom) continue;
    const style = view.getComputedStyle(shape);
    if (style.fill === "none") continue;
    const fill = channels(style.fill);
    fill[3] *= Number(style.fillOpacity) * Number(style.opacity);
    back = over(fill, back);
  }
  return back;
}

function shown(element) {
  const box = element.getBoundingClientRect();
  return box.width > 1 && box.height > 1 && element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
}

/** Elements that have text of their own. */
function* texts(page) {
  const walker = page.createTreeWalker(page.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (walker.currentNode.data.trim() && !element.closest("script, style, noscript, title, desc")) yield element;
  }
  yield* page.querySelectorAll("select, button, input:not([type=range], [type=radio], [type=checkbox])");
}

/** What is hard to read on a page, a line each. */
function faint(page) {
  const view = page.defaultView;
  for (const closed of page.querySelectorAll("details")) closed.open = true;
  const probe = page.body.appendChild(page.createElement("i"));
  probe.style.color = "Canvas";
  const canvasColour = channels(view.getComputedStyle(probe).color);
  probe.remove();
  const found = new Map();
  const seen = new Map();
  for (const element of new Set(texts(page))) {
    if (!shown(element) || element.disabled) continue;
    const style = view.getComputedStyle(element);
    const isDrawn = element instanceof view.SVGElement;
    const plain = surroundings(element, view, canvasColour, seen);
    const back = isDrawn ? behindDrawn(element, view, plain.back) : plain.back;
    const front = channels(isDrawn ? style.fill : style.color);
    front[3] *= plain.opacity;
    const ratio = contrast(over(front, back), back);
    const name = `${element.tagName.toLowerCase()}.${element.getAttribute("class") || ""}`.trim();
    const text = (element.textContent.trim() || element.value || "").slice(0, 30);
    if (ratio < LEAST && !found.has(name)) found.set(name, `${name} ${JSON.stringify(text)}: ${ratio.toFixed(2)}`);
  }
  return [...found.values()];
}

async function opened(frame, address) {
  await new Promise((done) => {
    frame.onload = done;
    frame.src = address;
  });
  await new Promise((done) => setTimeout(done, 50));
  return frame.contentDocument;
}

/** Read every page at every width; the answer stands in the page itself. */
async function all(pages, widths) {
  const frame = document.body.appendChild(document.createElement("iframe"));
  frame.style.height = "3000px";
  const found = [];
  for (const address of pages) {
    const page = await opened(frame, address);
    for (const width of widths) {
      frame.style.width = `${width}px`;
      const count = [...new Set(texts(page))].filter(shown).length;
      const wide = page.documentElement.scrollWidth > width ? [`is ${page.documentElement.scrollWidth} wide`] : [];
      found.push({ page: address, width, count, faint: faint(page).concat(wide) });
    }
  }
  document.getElementById("found").textContent = JSON.stringify(found);
}
