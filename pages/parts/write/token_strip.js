// The prompt, then one button for each written token.
import { el } from "../../../viz/explorer/browser/element.js"
/** @import { Mounting } from "../../../viz/explorer/browser/types.js" */

/**
 * What viz/sentences/token_strip.py gives of a token.
 * @typedef {object} Token
 * @property {string} text
 * @property {boolean} spaced
 * @property {number} breaks
 * @property {string} number
 * @property {string} said
 * @property {string} shade
 * @property {string} ink
 */
/** @typedef {{ prompt: string, at: number, colours: { quiet: string }, tokens: Token[] }} Strip */

/** @param {Mounting<Strip>} mounting */
export default function ({ data, parentElement, setTriggerValue }) {
  /** @type {(token: Token, place: number) => HTMLElement} */
  const button = (token, place) => {
    const text = el("span", { className: "token" }, token.text)
    text.style.background = token.shade
    text.style.color = token.ink
    const number = el("span", { className: "number" }, token.number)
    number.style.color = data.colours.quiet
    const element = el(
      "button",
      {
        type: "button",
        className: token.spaced ? "spaced" : "",
        title: token.said,
        "aria-label": token.said,
        onclick: () => setTriggerValue("step", place),
      },
      text,
      number,
    )
    if (place === data.at) element.setAttribute("aria-current", "step")
    element.classList.toggle("later", place > data.at)
    return element
  }

  /** @type {HTMLElement[]} */
  const parts = [el("span", { className: "prompt" }, data.prompt)]
  data.tokens.forEach((token, place) => {
    parts.push(button(token, place))
    for (let line = 0; line < token.breaks; line += 1) parts.push(el("br"))
  })
  parentElement.querySelector(".text")?.replaceChildren(...parts)
}
