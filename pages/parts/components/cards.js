// Cards to choose from: a title, a number, and a line or two below. Text is never read as markup.
export default function ({ data, parentElement, setTriggerValue }) {
  const made = (tag, name, content) => {
    const element = document.createElement(tag)
    element.className = name
    element.textContent = content
    return element
  }

  const card = ({ id, title, number, where, chance, explained }) => {
    const button = made("button", "card", "")
    button.type = "button"
    button.title = explained
    button.setAttribute("aria-label", `${title}: ${number}. ${where}, ${chance}`)
    button.append(
      made("span", "title", title),
      made("span", "number", number),
      made("span", "where", where),
      made("span", "where", chance),
    )
    button.onclick = () => setTriggerValue("chosen", id)
    return button
  }

  parentElement.querySelector(".cards").replaceChildren(...data.cards.map(card))
}
