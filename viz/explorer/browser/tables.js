// Small matrices as tables: every number in its coloured cell, and all digits of the one that is
// pointed at.
import { el } from "./element.js"
import { inkOn, shade, shadesOf, themeOf } from "./paint.js"
/** @import { Mounting, Shades, Theme } from "./types.js" */

/** @typedef {{ number: number, text: string, exact: string }} Cell */
/** @typedef {{ name: string, cells: Cell[] }} Row */
/** @typedef {{ title: string, columns: string[], rows: Row[], most: number, signed: boolean }} Matrix */

/** @param {Mounting<{ matrices: Matrix[]; hint: string }>} mounting */
export default function ({ data, parentElement }) {
  const root = /** @type {HTMLElement} */ (parentElement.querySelector(".matrices"))
  const theme = themeOf(root)
  const readout = el("p", { className: "said", role: "status" }, data.hint)
  const tables = data.matrices.map((matrix) => tableOf(matrix, theme))
  /** @param {string} words */
  const say = (words) => {
    readout.textContent = words || data.hint
  }
  root.onpointerover = root.onpointerdown = ({ target }) =>
    say(/** @type {HTMLElement} */ (target).title)
  root.onpointerleave = () => say("")
  root.replaceChildren(el("div", { className: "panels" }, ...tables), readout)
}

/** @type {(matrix: Matrix, theme: Theme) => HTMLElement} */
function tableOf({ title, columns, rows, most, signed }, theme) {
  /** @param {number} number */
  const shadesFor = (number) => shadesOf(theme, signed ? (number < 0 ? "below" : "above") : "blue")
  const head = el("tr", {}, el("td"), ...columns.map((name) => el("th", { scope: "col" }, name)))
  const body = rows.map(({ name, cells }) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, name),
      ...cells.map((cell) => cellOf(cell, most, theme, shadesFor(cell.number))),
    ),
  )
  return el("table", {}, el("caption", {}, title), el("thead", {}, head), el("tbody", {}, ...body))
}

// Colour follows the root of a number, as in every picture of weights and differences.
/** @type {(cell: Cell, most: number, theme: Theme, shades: Shades) => HTMLElement} */
function cellOf({ number, text, exact }, most, theme, shades) {
  /** @type {[Shades, number]} */
  const colour = [shades, Math.sqrt(Math.min(Math.abs(number) / most, 1))]
  const cell = el("td", { title: exact }, text)
  cell.style.backgroundColor = shade(...colour)
  cell.style.color = inkOn(theme, ...colour)
  return cell
}
