// The sentence itself, one button a token, shaded by attention; and the numbers of one query as a
// table.
import { strengthOf } from "../data.js"
import { el } from "../element.js"
import { AT_REST, NO_WEIGHTS, OF_KEY, OF_QUERY } from "../layout.js"
import { inkOn, shade } from "../paint.js"
/** @import { Actions, Active, DrawnScene, ExactRow, Group, Strip } from "../types.js" */

export class Words {
  /** @param {Actions} actions */
  constructor(actions) {
    this.actions = actions
    this.host = el("div", { className: "words" })
    this.caption = el("p", { className: "caption" })
    /** @type {Strip[]} */
    this.sides = []
    this.one = false
  }

  /** @param {DrawnScene} scene */
  build({ kind, frame }) {
    const alike =
      frame.rows.length === frame.columns.length &&
      frame.rows.every(({ first }, place) => first === frame.columns[place].first)
    // Of a pair of sentences, rows and columns may be different ones.
    const one = kind.queries === kind.keys && alike
    this.one = one
    const focused = this.focused()
    this.sides = one
      ? [this.strip("both", "Tokens", frame.rows)]
      : [this.strip("query", "Queries", frame.rows), this.strip("key", "Keys", frame.columns)]
    this.host.replaceChildren(
      ...this.sides.flatMap(({ title, strip }) => (one ? [strip] : [title, strip])),
      this.caption,
    )
    const { buttons } = this.sides.find(({ side }) => side === focused?.side) ?? { buttons: [] }
    buttons[Math.min(focused?.place ?? 0, buttons.length - 1)]?.focus()
  }

  // The token that the keyboard is at: built anew, the strips would lose it.
  /** @type {() => { side: string, place: number } | null} */
  focused() {
    const root = /** @type {Document | ShadowRoot} */ (this.host.getRootNode())
    const activeElement = /** @type {HTMLElement} */ (root.activeElement)
    for (const { side, buttons } of this.sides) {
      const place = buttons.indexOf(activeElement)
      if (place >= 0) return { side, place }
    }
    return null
  }

  // Tab goes to one token of the strip; arrows go on from there.
  /** @type {(side: string, name: string, groups: Group[]) => Strip} */
  strip(side, name, groups) {
    const strip = el("div", { className: "tokens", role: "group", "aria-label": name })
    const buttons = groups.map((group, place) => {
      const where = side === "key" ? { key: group.first } : { query: group.first }
      const button = el("button", {
        type: "button",
        tabIndex: place ? -1 : 0,
        textContent: group.label,
        dir: "auto",
      })
      button.onpointerenter = button.onfocus = () => this.actions.hover(where)
      button.onpointerleave = button.onblur = () => this.actions.hover(null)
      button.onclick = (event) =>
        event.shiftKey && side !== "query"
          ? this.actions.chooseKey?.(group.first)
          : this.actions.choose(where, event)
      button.onkeydown = (event) => this.walk(event, buttons, place)
      return button
    })
    strip.append(...buttons)
    return { side, groups, strip, buttons, title: el("p", { className: "caption" }, name) }
  }

  /** @type {(event: KeyboardEvent, buttons: HTMLElement[], place: number) => void} */
  walk(event, buttons, place) {
    const step = { ArrowRight: 1, ArrowLeft: -1, Home: -place, End: buttons.length - 1 - place }[
      event.key
    ]
    if (step === undefined || event.shiftKey) return
    event.preventDefault()
    event.stopPropagation()
    const next = buttons[Math.min(Math.max(place + step, 0), buttons.length - 1)]
    buttons[place].tabIndex = -1
    next.tabIndex = 0
    next.focus()
  }

  /** @type {(scene: DrawnScene, active: Active) => void} */
  show(scene, active) {
    const { frame, drawnMean } = scene
    const columns = frame.columns.length
    const looks = active.row >= 0
    const lit = looks || active.column >= 0
    /** @param {number} place */
    const received = (place) => drawnMean[place * columns + active.column]
    for (const { side, buttons } of this.sides) {
      const shadesQueries = lit && !looks && (side === "query" || this.one)
      const weight = shadesQueries
        ? received
        : side === "query"
          ? () => 0
          : this.keyWeight(scene, active)
      const chosen =
        side === "key" ? active.column : looks ? active.row : this.one ? active.column : active.row
      for (const [place, button] of buttons.entries())
        this.paint(scene, button, weight(place), place === chosen)
    }
    const none = `${AT_REST} Point at a token, or tab to it, to see only what it attends to.`
    this.caption.textContent = looks ? OF_QUERY : lit ? OF_KEY : none
  }

  /** @type {(scene: DrawnScene, active: Active) => (place: number) => number} */
  keyWeight({ frame, drawnMean }, { row }) {
    const [rows, columns] = [frame.rows.length, frame.columns.length]
    if (row >= 0) return (place) => drawnMean[row * columns + place] ?? 0
    const sums = new Float64Array(columns)
    for (let start = 0; start < drawnMean.length; start += columns)
      for (let key = 0; key < columns; key++) sums[key] += drawnMean[start + key]
    return (place) => sums[place] / rows || 0
  }

  /**
   * @param {DrawnScene} scene
   * @param {HTMLElement} button
   * @param {number} weight
   * @param {boolean} chosen
   */
  paint({ theme, shades, view, fullMean }, button, weight, chosen) {
    const strength = strengthOf(weight, fullMean, view.scale)
    button.style.backgroundColor = strength > 0 ? shade(shades, strength) : "transparent"
    button.style.color = inkOn(theme, shades, strength)
    button.style.outlineColor = chosen ? theme.second : "transparent"
    button.setAttribute("aria-current", String(chosen))
  }
}

// One query: every key with the weight of each head that is on, and their mean.
export class Table {
  constructor() {
    this.host = el("div", {
      className: "table",
      tabIndex: 0,
      role: "region",
      "aria-label": "Weights of one query",
    })
  }

  /** @type {(scene: DrawnScene, active: Active, exact?: ExactRow) => void} */
  show(scene, active, exact) {
    const { frame, heads, matrices, mean, theme } = scene
    const row = Math.max(active.row ?? 0, 0)
    const columns = frame.columns.length
    if (!frame.rows.length || !columns || !heads.length)
      return this.host.replaceChildren(NO_WEIGHTS)
    const many = heads.length > 1
    const names = ["key", ...(many ? ["mean"] : []), ...heads.map((head) => `head ${head + 1}`)]
    /** @type {(place: number) => string[]} */
    const cells = (place) => {
      /** @param {Float32Array | undefined} matrix */
      const approximate = (matrix) => `≈ ${matrix?.[row * columns + place].toFixed(4)}`
      if (exact)
        return [
          ...(many ? [exact.mean[place]] : []),
          ...heads.map((head) => exact.heads[head][place]),
        ]
      return [
        ...(many ? [approximate(mean)] : []),
        ...heads.map((head) => approximate(matrices.get(head))),
      ]
    }
    const head = el("tr", {}, ...names.map((name) => el("th", { scope: "col" }, name)))
    const body = frame.columns.map((group, place) =>
      el(
        "tr",
        { style: place === active.column ? `color: ${theme.second}` : "" },
        el("th", { scope: "row" }, named(group)),
        ...cells(place).map((cell) => el("td", {}, cell)),
      ),
    )
    const caption = el("caption", {}, `Query ${named(frame.rows[row])} attends to:`)
    this.host.replaceChildren(
      el("table", {}, caption, el("thead", {}, head), el("tbody", {}, ...body)),
    )
  }
}

// "5 · slow": positions are counted from 1 on the screen; the number tells repeated tokens apart.
/** @type {(group: Group) => string} */
export const named = ({ first, last, label }) =>
  `${first + 1}${last > first ? `–${last + 1}` : ""} · ${label}`
