// Two texts, one above the other, with a line between the tokens that are partners. A token of each,
// pressed one after the other, become partners; two that are, part.
import { el } from "../../../viz/explorer/browser/element.js"
/** @import { Mounting } from "../../../viz/explorer/browser/types.js" */

/** @typedef {{ name: string, said: string, special: boolean }} Token */
/**
 * What token_links.py gives.
 * @typedef {object} Links
 * @property {Token[]} first
 * @property {Token[]} second
 * @property {[number, number][]} pairs
 * @property {string} hint
 * @property {string} wide
 */
/** @typedef {{ side: 0 | 1, place: number }} Chosen */

const SVG = "http://www.w3.org/2000/svg"
/** @type {Record<string, number>} */
const STEPS = { ArrowLeft: -1, ArrowRight: 1 }
/** @type {WeakMap<HTMLElement, () => void>} */
const drawn = new WeakMap()

/** @param {Mounting<Links>} mounting */
export default function ({ data, parentElement, setTriggerValue }) {
  drawn.get(parentElement)?.()
  const root = /** @type {HTMLElement} */ (parentElement.querySelector(".paired"))
  /** @type {Chosen | null} */
  let chosen = null
  /** @type {(side: 0 | 1, place: number) => number | undefined} */
  const partner = (side, place) => data.pairs.find((pair) => pair[side] === place)?.[1 - side]
  const sides = [data.first, data.second]
  const hint = el("p", { className: "hint", role: "status" }, data.hint)
  const lines = document.createElementNS(SVG, "svg")
  lines.setAttribute("aria-hidden", "true")

  /** @type {(side: 0 | 1) => HTMLButtonElement[]} */
  const buttons = (side) =>
    sides[side].map((token, place) => {
      const alone = partner(side, place) === undefined
      return el(
        "button",
        {
          type: "button",
          className: `token ${alone ? "alone" : ""} ${token.special ? "special" : ""}`,
          tabIndex: place ? -1 : 0,
          "aria-label": token.said,
          "aria-pressed": "false",
          onclick: () => press({ side, place }),
          onpointerenter: () => mark({ side, place }),
          onpointerleave: () => mark(chosen),
          onfocus: () => mark({ side, place }),
          onblur: () => mark(chosen),
        },
        token.name,
      )
    })
  const tokens = [buttons(0), buttons(1)]
  const rows = tokens.map((row, side) =>
    el(
      "div",
      { className: "row", role: "group", "aria-label": `Tokens of ${"AB"[side]}` },
      el("span", { className: "side", "aria-hidden": "true" }, "AB"[side]),
      ...row,
    ),
  )
  const strip = el("div", { className: "strip" }, el("div", {}, rows[0], lines, rows[1]))
  const wide = el("p", { className: "hint", hidden: true }, data.wide)
  root.replaceChildren(strip, wide, hint)

  /** @param {Chosen} token */
  const press = (token) => {
    if (chosen && chosen.side !== token.side) {
      const [first, second] = chosen.side === 0 ? [chosen, token] : [token, chosen]
      setTriggerValue("link", [first.place, second.place])
      choose(null)
    } else choose(chosen?.place === token.place && chosen.side === token.side ? null : token)
  }

  /** @param {Chosen | null} token */
  const choose = (token) => {
    chosen = token
    for (const [side, row] of tokens.entries())
      for (const [place, button] of row.entries()) {
        const pressed = chosen?.side === side && chosen.place === place
        button.setAttribute("aria-pressed", String(pressed))
      }
    hint.textContent = chosen
      ? `${sides[chosen.side][chosen.place].said}. Now press a token of ${"BA"[chosen.side]}: its partner, to part them; any other, to join them.`
      : data.hint
    mark(chosen)
  }

  // The line of one token is dark, or of both where it has no other.
  /** @param {Chosen | null} token */
  const mark = (token) => {
    for (const line of /** @type {NodeListOf<SVGElement>} */ (lines.querySelectorAll("line"))) {
      const own = token && Number(line.dataset[token.side ? "second" : "first"]) === token.place
      line.classList.toggle("dark", Boolean(own))
    }
  }

  const draw = () => {
    if (!root.contains(lines)) return
    wide.hidden = strip.scrollWidth <= strip.clientWidth + 1
    const above = lines.getBoundingClientRect().left
    /** @param {HTMLElement} button */
    const middle = (button) => {
      const box = button.getBoundingClientRect()
      return box.left + box.width / 2 - above
    }
    lines.replaceChildren(
      ...data.pairs.map(([first, second]) => {
        const line = document.createElementNS(SVG, "line")
        const ends = { x1: middle(tokens[0][first]), y1: 2, x2: middle(tokens[1][second]) }
        for (const [name, value] of Object.entries({ ...ends, y2: lines.clientHeight - 2 }))
          line.setAttribute(name, String(value))
        Object.assign(line.dataset, { first, second })
        return line
      }),
    )
    mark(chosen)
  }

  // One stop for the Tab key in each row; the arrow keys go from token to token.
  root.onkeydown = (event) => {
    if (event.key === "Escape") choose(null)
    const row = tokens.find((each) =>
      each.includes(/** @type {HTMLButtonElement} */ (event.target)),
    )
    const here = row?.indexOf(/** @type {HTMLButtonElement} */ (event.target)) ?? 0
    const next = row?.[here + STEPS[event.key]]
    if (!next) return
    event.preventDefault()
    next.focus()
  }

  const watcher = new ResizeObserver(draw)
  watcher.observe(strip)
  document.fonts.ready.then(draw)
  const clean = () => watcher.disconnect()
  drawn.set(parentElement, clean)
  return clean
}
