// The formula of a model: equations that wrap, parts that can be pressed, and beside each what its
// absence does.
import { el } from "../explorer/browser/element.js"
/** @import { Mounting } from "../explorer/browser/types.js" */

/** @typedef {(name: string, value: unknown) => void} Tell */
/**
 * What viz/formula/switches.py gives of a term.
 * @typedef {object} Term
 * @property {string} notation
 * @property {string} [part] one that can be pressed has a name and a result
 * @property {string} [name]
 * @property {string} [result]
 * @property {boolean} [chosen]
 * @property {boolean} [shown]
 * @property {boolean} [most]
 * @property {boolean} [out]
 * @property {boolean} [present]
 */
/** @typedef {{ words: string, terms: Term[] }} Line */
/** @typedef {{ words: string, lines: Line[] }} Group */
/** @typedef {{ label: string, groups: Group[], pending?: number, small: boolean }} Formula */

const ASKED_AFTER = 20 // milliseconds
/** @type {WeakMap<HTMLElement, number>} */
const held = new WeakMap()

/** @param {Mounting<Formula>} mounting */
export default function ({ data, parentElement, setTriggerValue }) {
  const root = /** @type {HTMLElement} */ (parentElement.querySelector(".formula"))
  const page = /** @type {Document | ShadowRoot} */ (root.getRootNode())
  const focused = /** @type {HTMLElement | null} */ (page.activeElement)?.dataset.part
  root.setAttribute("aria-label", data.label)
  root.classList.toggle("small", data.small)
  root.replaceChildren(...data.groups.map((group) => groupOf(group, setTriggerValue)))
  if (focused)
    [...root.querySelectorAll("button")].find(({ dataset }) => dataset.part === focused)?.focus()
  clearTimeout(held.get(parentElement))
  const askForMore = () => {
    if (window.headlightLeaving?.()) held.set(parentElement, setTimeout(askForMore, ASKED_AFTER))
    else setTriggerValue("more", data.pending)
  }
  if (data.pending) held.set(parentElement, setTimeout(askForMore, ASKED_AFTER))
  return () => clearTimeout(held.get(parentElement))
}

/** @type {(group: Group, tell: Tell) => HTMLElement} */
function groupOf({ words, lines }, tell) {
  return el(
    "section",
    { className: "group" },
    el("h4", {}, words),
    ...lines.map((line) => lineOf(line, tell)),
  )
}

/** @type {(line: Line, tell: Tell) => HTMLElement} */
function lineOf({ words, terms }, tell) {
  return el(
    "div",
    { className: "line" },
    el("span", { className: "words" }, words),
    el("div", { className: "terms" }, ...terms.map((term) => termOf(term, tell))),
  )
}

/** @type {(term: Term, tell: Tell) => HTMLElement} */
function termOf(
  { notation, name = "", part, result = "", chosen, shown, most, out, present },
  tell,
) {
  const written = el("span", { className: "notation" }, ...piecesOf(notation))
  const classes = [
    "term",
    out && "out",
    present && "present",
    chosen && "chosen",
    shown && "shown",
    most && "most",
  ]
    .filter(Boolean)
    .join(" ")
  if (present) written.setAttribute("aria-current", "step")
  if (!part) return el("span", { className: classes }, written)
  return el(
    "button",
    {
      type: "button",
      className: classes,
      "data-part": part,
      "aria-pressed": Boolean(chosen),
      onclick: () => tell("press", part),
    },
    written,
    el("span", { className: "name" }, name),
    el("span", { className: "result" }, result),
  )
}

// "W_Q", "Q K^T", "A_{12}": letters that stand alone are variables, words are not.
/** @type {(notation: string) => (string | HTMLElement)[]} */
function piecesOf(notation) {
  return notation.split(/([_^](?:\{[^}]*\}|.))/).flatMap((piece) => {
    if (!/^[_^]/.test(piece)) return lettersOf(piece)
    const letters = lettersOf(piece.slice(1).replace(/[{}]/g, ""))
    return [el(piece[0] === "_" ? "sub" : "sup", {}, ...letters)]
  })
}

/** @type {(text: string) => (string | HTMLElement)[]} */
function lettersOf(text) {
  return text
    .split(/(\p{L}+)/u)
    .map((piece) => (/^\p{L}$/u.test(piece) ? el("i", {}, piece) : piece))
}
