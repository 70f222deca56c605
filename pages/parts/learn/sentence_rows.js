// Sentences in groups; a marked word is bold, underlined and of another colour.
import { el } from "../../../viz/explorer/browser/element.js"
/** @import { Mounting } from "../../../viz/explorer/browser/types.js" */

/** @typedef {{ text: string, marked: boolean }} Part */
/**
 * What viz/sentences/sentence_rows.py gives, with the colour of a mark.
 * @typedef {object} Rows
 * @property {{ title: string, rows: { label: string, parts: Part[] }[] }[]} groups
 * @property {{ mark: string }} colours
 */

/** @param {Mounting<Rows>} mounting */
export default function ({ data, parentElement }) {
  const root = /** @type {HTMLElement} */ (parentElement.querySelector(".groups"))
  root.style.setProperty("--mark", data.colours.mark)
  /** @param {Part} part */
  const piece = ({ text, marked }) => el(marked ? "strong" : "span", {}, text)
  /** @param {{ label: string, parts: Part[] }} row */
  const line = ({ label, parts }) =>
    el(
      "div",
      { className: "row" },
      el("span", { className: "label", dir: "auto" }, label),
      el("span", { className: "sentence", dir: "auto" }, ...parts.map(piece)),
    )
  const groups = data.groups.map(({ title, rows }) =>
    el(
      "div",
      { className: "group" },
      ...(title ? [el("span", { className: "title" }, title)] : []),
      ...rows.map(line),
    ),
  )
  root.replaceChildren(...groups)
}
