// Cards to choose from: a title, a number, and a line or two below.
import { el } from "../../../viz/explorer/browser/element.js"
/** @import { Mounting } from "../../../viz/explorer/browser/types.js" */

/** @typedef {Record<"id" | "title" | "number" | "whole" | "where" | "chance" | "explained", string>} Card */

/** @param {Mounting<{ cards: Card[] }>} mounting */
export default function ({ data, parentElement, setTriggerValue }) {
  /** @param {Card} card */
  const card = ({ id, title, number, whole, where, chance, explained }) =>
    el(
      "button",
      {
        type: "button",
        className: "card",
        title: explained,
        "aria-label": `${title}: ${number} ${whole}. ${where}, ${chance}`,
        onclick: (event) => {
          setTriggerValue("chosen", id)
          // Another card takes its place, and would look chosen; a keyboard's place is kept.
          const button = /** @type {HTMLElement} */ (event.currentTarget)
          if (event.detail) button.blur()
        },
      },
      el("span", { className: "title" }, title),
      el("span", { className: "number" }, number),
      el("span", { className: "where whole" }, whole),
      el("span", { className: "where" }, where),
      el("span", { className: "where" }, chance),
    )

  parentElement.querySelector(".cards")?.replaceChildren(...data.cards.map(card))
}
