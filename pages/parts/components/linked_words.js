// The words of the source above those of the translation, with a curve for each link.
import { el } from "../../../viz/explorer/browser/element.js"
/** @import { Mounting } from "../../../viz/explorer/browser/types.js" */

/** @typedef {{ source: number, weight: number, number: string }} Link */
/**
 * What viz/sentences/word_links.py gives, with the colours.
 * @typedef {object} Links
 * @property {number} marked
 * @property {boolean} alone
 * @property {string} caption of which moment and which heads the links are
 * @property {{ accent: string, quiet: string }} colours
 * @property {{ text: string, special: boolean }[]} sources
 * @property {Target[]} targets
 */
/**
 * @typedef {object} Target
 * @property {string} text
 * @property {boolean} special
 * @property {boolean} later
 * @property {number} step
 * @property {string} said
 * @property {Link[]} links
 */

const SVG = "http://www.w3.org/2000/svg"
const THINNEST = 0.75
const WIDEST = 8 // pixels of a link with all the weight
const THIN = 0.35 // of that width: the links of words that are not looked at
/** @type {Record<string, number>} */
const STEPS = { ArrowLeft: -1, ArrowRight: 1 }
const PRINTED = 640 // pixels of a printed page
/** @type {WeakMap<HTMLElement, () => void>} */
const drawn = new WeakMap()

/** @param {number} weight */
const width = (weight) => THINNEST + WIDEST * weight

/** @param {Mounting<Links>} mounting */
export default function ({ data, parentElement, setTriggerValue }) {
  drawn.get(parentElement)?.()
  const root = /** @type {HTMLElement} */ (parentElement.querySelector(".linked"))
  const [caption, strip, sheet, more] = [".caption", ".strip", ".sheet", ".more"].map(
    (name) => /** @type {HTMLElement} */ (root.querySelector(name)),
  )
  root.style.setProperty("--accent", data.colours.accent)
  root.style.setProperty("--quiet", data.colours.quiet)
  root.classList.toggle("alone", data.alone)
  caption.textContent = data.caption

  // Each has room for any number that it may hold, or the words would move, beyond the strip's end
  // for instance, when another word is pointed at.
  const numbers = data.sources.map((_, place) => {
    const links = data.targets
      .flatMap(({ links }) => links)
      .filter(({ source }) => source === place)
    const element = el("span", { className: "number" })
    element.dataset.room = [...new Set(links.map(({ number }) => number))].join("\n")
    return element
  })
  const sources = data.sources.map((source, place) => {
    const word = el("span", { className: "word" }, source.text)
    word.dataset.room = source.text // in bold, as that which is looked at most
    const className = `source ${source.special ? "special" : ""}`
    return el("span", { className }, numbers[place], word)
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
  /** @type {(name: string, label: "above" | "below", boxes: HTMLElement[]) => HTMLElement[]} */
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
  const lines = /** @type {NodeListOf<HTMLElement>} */ (sheet.querySelectorAll(".row"))

  /** @param {HTMLElement} box */
  const middle = (box) => box.offsetLeft + box.offsetWidth / 2
  /** @type {(place: number, link: Link, dark: boolean) => SVGElement} */
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
    path.setAttribute("stroke-width", String((dark ? 1 : THIN) * width(link.weight)))
    if (dark) path.style.opacity = String(0.35 + 0.65 * link.weight)
    for (const [name, value] of Object.entries({
      source: link.source,
      target: place,
      weight: link.weight,
    })) {
      path.dataset[name] = String(value)
    }
    return path
  }

  // Of the word that is looked at every link, of the others the largest.
  /** @param {number} current */
  const show = (current) => {
    const others = data.targets.flatMap(({ links }, place) =>
      place === current ? [] : links.slice(0, 1).map((link) => curve(place, link, false)),
    )
    const links = data.targets[current]?.links ?? []
    curves.replaceChildren(...others, ...links.map((link) => curve(current, link, true)).reverse())
    sources.forEach((box, place) => {
      const link = links.find(({ source }) => source === place)
      numbers[place].textContent = link?.number ?? ""
      box.toggleAttribute("data-most", link !== undefined && link === links[0])
    })
  }

  const isWider = () => strip.scrollWidth > strip.clientWidth
  const draw = () => {
    if (!sheet.contains(curves)) return
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
    const step = STEPS[event.key]
    const next = targets[targets.indexOf(/** @type {HTMLButtonElement} */ (event.target)) + step]
    if (!step || !next) return
    event.preventDefault()
    next.focus()
  }

  const fit = () => {
    sheet.style.zoom = String(Math.min(1, PRINTED / sheet.offsetWidth))
  }
  const unfit = () => {
    sheet.style.zoom = ""
  }
  addEventListener("beforeprint", fit)
  addEventListener("afterprint", unfit)
  const watcher = new ResizeObserver(draw)
  watcher.observe(strip)
  document.fonts.ready.then(draw) // letters of another width may need another fit
  const clean = () => {
    watcher.disconnect()
    removeEventListener("beforeprint", fit)
    removeEventListener("afterprint", unfit)
  }
  drawn.set(parentElement, clean)
  return clean
}
