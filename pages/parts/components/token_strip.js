// The prompt, then one button for each written token.
import { el } from "../../../viz/explorer/browser/element.js"

export default function ({ data, parentElement, setTriggerValue }) {
  const text = parentElement.querySelector(".text")
  const button = (token, place) => {
    const shown = el("span", { className: "token" }, token.text)
    shown.style.background = token.shade
    shown.style.color = token.ink
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
      shown,
      number,
    )
    if (place === data.at) element.setAttribute("aria-current", "step")
    element.classList.toggle("later", place > data.at)
    return element
  }

  const parts = [el("span", { className: "prompt" }, data.prompt)]
  data.tokens.forEach((token, place) => {
    parts.push(button(token, place))
    for (let line = 0; line < token.breaks; line += 1) parts.push(el("br"))
  })
  text.replaceChildren(...parts)
}
