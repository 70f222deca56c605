// The prompt, then one button for each written token. Text is never read as markup.
export default function ({ data, parentElement, setTriggerValue }) {
  const text = parentElement.querySelector(".text")
  const made = (tag, name, content) => {
    const element = document.createElement(tag)
    element.className = name
    element.textContent = content
    return element
  }

  const button = (token, place) => {
    const element = made("button", token.spaced ? "spaced" : "", "")
    element.type = "button"
    element.title = token.said
    element.setAttribute("aria-label", token.said)
    if (place === data.at) element.setAttribute("aria-current", "step")
    element.classList.toggle("later", place > data.at)
    const shown = made("span", "token", token.text)
    shown.style.background = token.shade
    shown.style.color = token.ink
    const number = made("span", "number", token.number)
    number.style.color = data.colours.quiet
    element.append(shown, number)
    element.onclick = () => setTriggerValue("step", place)
    return element
  }

  const parts = [made("span", "prompt", data.prompt)]
  data.tokens.forEach((token, place) => {
    parts.push(button(token, place))
    for (let line = 0; line < token.breaks; line += 1) parts.push(document.createElement("br"))
  })
  text.replaceChildren(...parts)
}
