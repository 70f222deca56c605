// The words of the source above those of the translation, with a curve for each link.
import { el } from "../../../viz/explorer/browser/element.js"

const SVG = "http://www.w3.org/2000/svg"
const THINNEST = 0.75
const WIDEST = 8 // pixels of a link with all the weight
const THIN = 0.35 // of that width: the links of words that are not looked at
const PRINTED = 640 // pixels of a printed page
const drawn = new WeakMap()

const width = (weight) => THINNEST + WIDEST * weight

export default function ({ data, parentElement, setTriggerValue }) {
  drawn.get(parentElement)?.()
  const root = parentElement.querySelector(".linked")
  const [strip, sheet, more] = [".strip", ".sheet", ".more"].map((name) => root.querySelector(name))
  root.style.setProperty("--accent", data.colours.accent)
  root.style.setProperty("--quiet", data.colours.quiet)
  root.classList.toggle("alone", data.alone)

  const sources = data.sources.map((source) => {
    const number = el("span", { className: "number" })
    const word = el("span", { className: "word" }, source.text)
    return el("span", { className: `source ${source.special ? "special" : ""}` }, number, word)
  })
  const targets = data.targets.map((target, place) => {
    const state = `${target.special ? "special" : ""} ${target.later ? "later" : ""}`
    const button = el(
      "button",
      {
        type: "button",
        className: `target ${state}`,
        tabIndex: place === Math.max(data.marked, 0) ? 0 : -1,
        "aria-label": target.said,
        onclick: () => setTriggerValue("step", target.step),
      },
      target.text,
    )
    if (place === data.marked) button.setAttribute("aria-current", "step")
    button.onpointerenter = button.onfocus = () => show(place)
    button.onpointerleave = button.onblur = () => show(data.marked)
    return button
  })

  const curves = document.createElementNS(SVG, "svg")
  curves.setAttribute("aria-hidden", "true")
  const row = (name, label, boxes) => {
    const element = el("div", { className: "row", role: "group", "aria-label": name }, ...boxes)
    const title = el("span", { className: "label" }, name)
    return label === "above" ? [title, element] : [element, title]
  }
  sheet.replaceChildren(
    ...row("Source", "above", sources),
    curves,
    ...row("Translation", "below", targets),
  )
  const lines = sheet.querySelectorAll(".row")

  const middle = (box) => box.offsetLeft + box.offsetWidth / 2
  const curve = (place, link, dark) => {
    const path = document.createElementNS(SVG, "path")
    const [above, below, high] = [
      middle(sources[link.source]),
      middle(targets[place]),
      curves.clientHeight,
    ]
    path.setAttribute(
      "d",
      `M ${below} ${high - 3} C ${below} ${high / 2}, ${above} ${high / 2}, ${above} 3`,
    )
    path.setAttribute("class", dark ? "dark" : "quiet")
    path.setAttribute("stroke-width", (dark ? 1 : THIN) * width(link.weight))
    if (dark) path.style.opacity = 0.35 + 0.65 * link.weight
    for (const [name, value] of Object.entries({
      source: link.source,
      target: place,
      weight: link.weight,
    })) {
      path.dataset[name] = value
    }
    return path
  }

  // Of the word that is looked at every link, of the others the largest.
  const show = (shown) => {
    const others = data.targets.flatMap(({ links }, place) =>
      place === shown ? [] : links.slice(0, 1).map((link) => curve(place, link, false)),
    )
    const links = data.targets[shown]?.links ?? []
    curves.replaceChildren(...others, ...links.map((link) => curve(shown, link, true)).reverse())
    sources.forEach((box, place) => {
      const link = links.find(({ source }) => source === place)
      box.querySelector(".number").textContent = link?.number ?? ""
      box.toggleAttribute("data-most", link !== undefined && link === links[0])
    })
  }

  const isWider = () => sheet.scrollWidth > strip.clientWidth
  const draw = () => {
    root.classList.remove("close", "wide")
    for (const line of lines) line.style.marginLeft = ""
    root.classList.toggle("close", isWider())
    const wider = isWider()
    root.classList.toggle("wide", wider)
    more.hidden = !wider
    more.textContent = wider ? "← Scroll sideways for the other words →" : ""
    const target = targets[data.marked]
    const source = sources[data.targets[data.marked]?.links[0]?.source]
    if (wider && target && source) {
      const apart = middle(target) - middle(source)
      lines[apart > 0 ? 0 : 1].style.marginLeft = `${Math.abs(apart)}px`
    }
    if (wider && target) strip.scrollLeft = middle(target) - strip.clientWidth / 2
    show(data.marked)
  }

  // One stop for the Tab key; the arrow keys go from word to word.
  sheet.onkeydown = (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    const next = targets[targets.indexOf(event.target) + step]
    if (!step || !next) return
    event.preventDefault()
    next.focus()
  }

  const fit = () => {
    sheet.style.zoom = Math.min(1, PRINTED / sheet.offsetWidth)
  }
  const unfit = () => {
    sheet.style.zoom = ""
  }
  addEventListener("beforeprint", fit)
  addEventListener("afterprint", unfit)
  const watcher = new ResizeObserver(draw)
  watcher.observe(strip)
  const clean = () => {
    watcher.disconnect()
    removeEventListener("beforeprint", fit)
    removeEventListener("afterprint", unfit)
  }
  drawn.set(parentElement, clean)
  return clean
}
