// The formula of a model: equations that wrap, parts that can be pressed, and beside each what its absence does.
const held = new WeakMap()

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".formula")
  const focused = root.getRootNode().activeElement?.dataset?.part
  root.setAttribute("aria-label", data.label)
  root.classList.toggle("small", data.small)
  root.replaceChildren(...data.groups.map((group) => groupOf(group, setTriggerValue)))
  if (focused)
    [...root.querySelectorAll("button")].find(({ dataset }) => dataset.part === focused)?.focus()
  clearTimeout(held.get(parentElement))
  if (data.pending)
    held.set(
      parentElement,
      setTimeout(() => setTriggerValue("more", data.pending), 20),
    )
  return () => clearTimeout(held.get(parentElement))
}

function made(tag, className, ...children) {
  const element = document.createElement(tag)
  element.className = className
  element.append(...children)
  return element
}

function groupOf({ words, lines }, tell) {
  return made("section", "group", made("h4", "", words), ...lines.map((line) => lineOf(line, tell)))
}

function lineOf({ words, terms }, tell) {
  return made(
    "div",
    "line",
    made("span", "words", words),
    made("div", "terms", ...terms.map((term) => termOf(term, tell))),
  )
}

function termOf({ notation, name, part, result, chosen, most, out, present }, tell) {
  const written = made("span", "notation", ...piecesOf(notation))
  const classes = ["term", out && "out", present && "present", chosen && "chosen", most && "most"]
    .filter(Boolean)
    .join(" ")
  if (present) written.setAttribute("aria-current", "step")
  if (!part) return made("span", classes, written)
  const button = made(
    "button",
    classes,
    written,
    made("span", "name", name),
    made("span", "result", result),
  )
  button.type = "button"
  button.dataset.part = part
  button.setAttribute("aria-pressed", String(Boolean(chosen)))
  button.onclick = () => tell("press", part)
  return button
}

// "W_Q", "Q K^T", "A_{12}": letters that stand alone are variables, words are not.
function piecesOf(notation) {
  return notation.split(/([_^](?:\{[^}]*\}|.))/).flatMap((piece) => {
    if (!/^[_^]/.test(piece)) return lettersOf(piece)
    const moved = made(piece[0] === "_" ? "sub" : "sup", "")
    moved.append(...lettersOf(piece.slice(1).replace(/[{}]/g, "")))
    return [moved]
  })
}

function lettersOf(text) {
  return text
    .split(/(\p{L}+)/u)
    .map((piece) => (/^\p{L}$/u.test(piece) ? made("i", "", piece) : piece))
}
