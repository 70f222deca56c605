// The weights of two runs and their signed difference, side by side: query rows, key columns. What
// is pointed at in one picture is marked in all three.
import { el } from "./element.js"
import { contextOf, fitted, inkOn, prepared, shade, shadesOf, themeOf } from "./paint.js"
/** @import { Context, Mounting, Shades, Theme } from "./types.js" */

/**
 * What viz.charts.causes.comparison.compared gives.
 * @typedef {object} Compared
 * @property {string[]} queries
 * @property {string[]} keys
 * @property {(number | null)[][]} before null: not a number
 * @property {(number | null)[][]} after
 * @property {(number | null)[][]} change
 * @property {string[][]} signs written into the cells of the difference
 * @property {number} largest difference
 * @property {string} said
 * @property {string[]} [sides] what the two runs are called, where not "before" and "after"
 */
/** @typedef {"before" | "after" | "change"} Side */
/** @typedef {{ row: number, column: number }} Cell */
/**
 * @typedef {object} Panel
 * @property {Side} name
 * @property {HTMLCanvasElement} canvas
 * @property {HTMLElement} mark
 * @property {HTMLElement} host
 */

const PANELS = { before: "Before", after: "After", change: "Difference" }
const SIDES = /** @type {Side[]} */ (Object.keys(PANELS))
const COMPARED_TYPE = 12 // pixels of type
const LONGEST_NAME = 130
// A row has room for its name; full screen has room for more.
const [LOWEST_CELL, LARGEST_SIDE] = [14, 56]
// What is left under the pictures in full screen, for the table's line and the buttons.
const UNDER = 120
const HEAD = 74 // the title and the scale over the picture
const RAMP = { top: 42, width: 140, height: 10 }
/** @type {WeakMap<HTMLElement, Comparison>} */
const drawn = new WeakMap()

/** @param {Mounting<Compared>} mounting */
export default function ({ data, parentElement }) {
  const root = /** @type {HTMLElement} */ (parentElement.querySelector(".compared"))
  const comparison = drawn.get(parentElement) ?? new Comparison(root)
  drawn.set(parentElement, comparison)
  comparison.receive(data) // called for a change of theme as well
}

class Comparison {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root
    /** @type {Compared} */
    this.data = /** @type {any} */ (undefined) // until it comes
    /** @type {Theme} */
    this.theme = /** @type {any} */ (undefined) // until it is drawn
    /** @type {Record<string, Shades>} */
    this.shades = {}
    /** @type {Cell | null} */
    this.cell = null
    this.inner = { left: 0, across: 0, down: 0 }
    this.width = this.height = 0
    this.panels = SIDES.map((name) => this.panel(name))
    this.readout = el("div", { className: "said", role: "status", hidden: true })
    this.table = el("div", {
      className: "numbers",
      tabIndex: 0,
      role: "region",
      "aria-label": "All numbers",
    })
    this.details = el(
      "details",
      { ontoggle: () => this.fill() },
      el("summary", {}, "All numbers as a table"),
      this.table,
    )
    /** @type {(label: string, onclick: (event: MouseEvent) => void) => HTMLElement} */
    const button = (label, onclick) => el("button", { type: "button", onclick }, label)
    const tools = el(
      "div",
      { className: "tools" },
      button("Copy the numbers", ({ target }) => this.copy(/** @type {HTMLElement} */ (target))),
      button("Download as PNG", () => this.download()),
      button("Full screen", () =>
        document.fullscreenElement ? document.exitFullscreen() : root.requestFullscreen(),
      ),
    )
    root.replaceChildren(
      el("div", { className: "panels" }, ...this.panels.map(({ host }) => host)),
      this.readout,
      this.details,
      tools,
    )
    new ResizeObserver(() => this.draw()).observe(root)
  }

  /** @type {(name: Side) => Panel} */
  panel(name) {
    const canvas = el("canvas")
    const mark = el("div", { className: "mark", hidden: true })
    const host = el("div", { className: "panel", role: "img", tabIndex: 0 }, canvas, mark)
    const panel = { name, canvas, mark, host }
    host.onpointermove = host.onpointerdown = (event) => this.point(panel, this.at(panel, event))
    host.onpointerleave = host.onblur = () => this.point(panel, null)
    host.onkeydown = (event) => this.walk(panel, event)
    return panel
  }

  /** @param {Compared} data */
  receive(data) {
    this.data = data
    for (const { name, host } of this.panels) {
      host.setAttribute(
        "aria-label",
        `${this.title(name)}: ${data.said}. Arrow keys go from cell to cell.`,
      )
    }
    this.cell = null
    this.width = 0
    this.draw()
    this.fill()
  }

  /** @param {Side} name */
  title(name) {
    const place = SIDES.indexOf(name)
    return this.data.sides?.[place] ?? PANELS[name]
  }

  // Without names of their own, the runs stand before and after a change.
  /** @returns {string[]} */
  sides() {
    return this.data.sides?.length ? this.data.sides : ["before", "after"]
  }

  // Only where something is different: the observer calls for heights as well. Full screen alone
  // bounds the height.
  draw() {
    const [width, height] = [
      this.panels[0].host.clientWidth,
      this.root.matches(":fullscreen") ? innerHeight - UNDER : 0,
    ]
    if (!this.data || !width || (width === this.width && height === this.height)) return
    Object.assign(this, { width, height })
    this.theme = themeOf(this.root)
    this.shades = Object.fromEntries(
      ["blue", "above", "below"].map((name) => [name, shadesOf(this.theme, name)]),
    )
    for (const panel of this.panels) this.drawPanel(panel)
    this.point(this.panels[0], null)
  }

  /** @param {Panel} panel */
  drawPanel({ name, canvas }) {
    const { queries, keys } = this.data
    const measure = contextOf(canvas)
    measure.font = `${COMPARED_TYPE}px ${this.theme.font}`
    /** @type {(names: string[]) => number} */
    const room = (names) =>
      Math.min(
        Math.max(...names.map((one) => measure.measureText(one).width)),
        LONGEST_NAME,
        this.width / 3,
      ) + 8
    const [left, below] = [room(queries) + 16, room(keys) + 20]
    const largest = this.height
      ? Math.max((this.height - HEAD - below) / queries.length, LOWEST_CELL)
      : LARGEST_SIDE
    const across = Math.min((this.width - left - 2) / keys.length, largest)
    this.inner = { left, across, down: Math.max(across, LOWEST_CELL) }
    const context = prepared(canvas, this.width, HEAD + this.inner.down * queries.length + below)
    context.fillStyle = this.theme.background
    context.fillRect(0, 0, canvas.width, canvas.height)
    this.scale(context, name)
    this.cells(context, name)
    this.names(context)
  }

  // Weights end at 1, differences at the largest of them; colour follows the root, so that small
  // ones can be seen.
  /** @type {(name: Side, number: number) => [Shades, number]} */
  colour(name, number) {
    const [most, scale] =
      name === "change" ? [this.data.largest, number < 0 ? "below" : "above"] : [1, "blue"]
    return [this.shades[scale], Math.sqrt(Math.min(Math.abs(number) / most, 1))]
  }

  /** @type {(context: Context, name: Side) => void} */
  cells(context, name) {
    const { left, across, down } = this.inner
    /** @type {(start: number, size: number, place: number) => number} */
    const edge = (start, size, place) => Math.round(start + size * place)
    context.font = `bold ${COMPARED_TYPE}px ${this.theme.font}`
    context.textAlign = "center"
    context.textBaseline = "middle"
    for (const [query, row] of this.data[name].entries()) {
      for (const [key, number] of row.entries()) {
        if (number === null) continue
        const [x, y] = [edge(left, across, key), edge(HEAD, down, query)]
        const colour = this.colour(name, number)
        context.fillStyle = shade(...colour)
        context.fillRect(x, y, edge(left, across, key + 1) - x, edge(HEAD, down, query + 1) - y)
        if (name !== "change" || !this.data.signs[query][key]) continue
        context.fillStyle = inkOn(this.theme, ...colour)
        context.fillText(
          this.data.signs[query][key],
          left + across * (key + 0.5),
          HEAD + down * (query + 0.5),
        )
      }
    }
    context.strokeStyle = this.theme.grid
    context.strokeRect(
      Math.round(left) - 0.5,
      HEAD - 0.5,
      Math.round(across * this.data.keys.length) + 1,
      Math.round(down * this.data.queries.length) + 1,
    )
  }

  // As many keys as fit without touching; the rest are named when they are pointed at.
  /** @param {Context} context */
  names(context) {
    const { queries, keys } = this.data
    const { left, across, down } = this.inner
    const bottom = HEAD + down * queries.length
    const every = Math.max(1, Math.ceil((COMPARED_TYPE + 2) / across))
    context.font = `${COMPARED_TYPE - 1}px ${this.theme.font}`
    context.fillStyle = this.theme.quiet
    context.textAlign = "right"
    for (const [row, query] of queries.entries())
      context.fillText(fitted(context, query, left - 20), left - 5, HEAD + down * (row + 0.5))
    keys.forEach((key, column) => {
      if (column % every === 0)
        turned(context, left + across * (column + 0.5), bottom + 5, () =>
          context.fillText(fitted(context, key, LONGEST_NAME), 0, 0),
        )
    })
    context.textAlign = "center"
    context.font = `${COMPARED_TYPE}px ${this.theme.font}`
    context.fillText("key", left + (across * keys.length) / 2, context.canvas.clientHeight - 8)
    turned(context, 8, (HEAD + bottom) / 2, () => context.fillText("query", 0, 0))
  }

  /** @type {(context: Context, name: Side) => void} */
  scale(context, name) {
    const { left } = this.inner
    const ends = name === "change" ? [-this.data.largest, 0, this.data.largest] : [0, 0.25, 0.5, 1]
    const [low, high] = [ends[0], ends[ends.length - 1]]
    /** @param {number} number */
    const toX = (number) => left + ((number - low) / (high - low)) * RAMP.width
    for (let x = 0; x < RAMP.width; x++) {
      context.fillStyle = shade(...this.colour(name, low + ((high - low) * (x + 0.5)) / RAMP.width))
      context.fillRect(left + x, RAMP.top, 1.5, RAMP.height)
    }
    context.strokeStyle = this.theme.grid
    context.strokeRect(left - 0.5, RAMP.top - 0.5, RAMP.width + 1, RAMP.height + 1)
    context.textBaseline = "middle"
    // A canvas of the same size keeps what was set when it was drawn before.
    context.textAlign = "left"
    context.fillStyle = this.theme.text
    context.font = `bold 16px ${this.theme.font}`
    context.fillText(this.title(name), 0, 12)
    context.fillStyle = this.theme.quiet
    context.font = `${COMPARED_TYPE}px ${this.theme.font}`
    const [first, second] = this.sides()
    context.fillText(name === "change" ? `${second} − ${first}` : "weight", left, RAMP.top - 10)
    context.textAlign = "center"
    for (const end of ends)
      context.fillText(
        name === "change" && end ? rounded(end) : String(end),
        toX(end),
        RAMP.top + RAMP.height + 9,
      )
  }

  /** @type {(panel: Panel, event: PointerEvent) => Cell | null} */
  at({ host }, event) {
    const box = host.getBoundingClientRect()
    const { left, across, down } = this.inner
    const [column, row] = [
      Math.floor((event.clientX - box.left - left) / across),
      Math.floor((event.clientY - box.top - HEAD) / down),
    ]
    return row in this.data.queries && column in this.data.keys ? { row, column } : null
  }

  /** @type {(panel: Panel, event: KeyboardEvent) => void} */
  walk(panel, event) {
    const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[
      event.key
    ]
    if (event.key === "Escape") this.point(panel, null)
    if (!step) return
    event.preventDefault()
    /** @type {(place: number, names: string[]) => number} */
    const within = (place, names) => Math.min(Math.max(place, 0), names.length - 1)
    const { row, column } = this.cell ?? { row: -step[0], column: -step[1] }
    this.point(panel, {
      row: within(row + step[0], this.data.queries),
      column: within(column + step[1], this.data.keys),
    })
  }

  // Marks the cell in all pictures and says its numbers beside it.
  /** @type {(panel: Panel, cell: Cell | null) => void} */
  point(panel, cell) {
    this.cell = cell
    this.readout.hidden = !cell
    for (const { mark } of this.panels) mark.hidden = !cell
    if (!cell) return
    const { row, column } = cell
    const { left, across, down } = this.inner
    const box = {
      left: Math.round(left + across * column),
      top: Math.round(HEAD + down * row),
      width: across,
      height: down,
    }
    for (const { mark } of this.panels) mark.style.outlineColor = this.theme.second
    for (const { mark } of this.panels)
      for (const [side, size] of Object.entries(box)) mark.style.setProperty(side, `${size}px`)
    /** @type {(name: Side, show: (number: number, digits: number) => string) => string} */
    const number = (name, show) => {
      const value = this.data[name][row][column]
      return value === null ? "not a number" : show(value, 4)
    }
    const [first, second] = this.sides()
    const change = this.data.sides?.length ? `${second} − ${first}` : "change"
    this.readout.textContent =
      `query ${this.data.queries[row]}\nattends to key ${this.data.keys[column]}\n` +
      `${first} ${number("before", plain)}\n${second} ${number("after", plain)}\n` +
      `${change} ${number("change", signed)}`
    const { offsetLeft, offsetTop } = panel.host
    const right = offsetLeft + box.left + across + 10
    const fits = right + this.readout.offsetWidth <= this.root.clientWidth
    this.readout.style.left = `${fits ? right : Math.max(0, offsetLeft + box.left - this.readout.offsetWidth - 10)}px`
    this.readout.style.top = `${offsetTop + box.top + down + 6}px`
  }

  /** @type {() => (string | number | null)[][]} */
  lines() {
    const { queries, keys, before, after, change } = this.data
    const cells = queries.flatMap((query, row) =>
      keys.map((key, column) => [
        query,
        key,
        before[row][column],
        after[row][column],
        change[row][column],
      ]),
    )
    return [["query", "key", ...this.sides(), "change"], ...cells]
  }

  // Made when it is asked for: a thousand rows take longer than the pictures.
  fill() {
    if (!this.details.open) return this.table.replaceChildren()
    const [names, ...cells] = this.lines()
    /** @type {(tag: "th" | "td", texts: (string | number | null)[]) => HTMLElement} */
    const line = (tag, texts) =>
      el("tr", {}, ...texts.map((text) => el(tag, {}, String(text ?? "not a number"))))
    this.table.replaceChildren(
      el(
        "table",
        {},
        el("thead", {}, line("th", names)),
        el("tbody", {}, ...cells.map((texts) => line("td", texts))),
      ),
    )
  }

  /** @param {HTMLElement} button */
  async copy(button) {
    try {
      await navigator.clipboard.writeText(
        this.lines()
          .map((line) => line.join("\t"))
          .join("\n"),
      )
      button.textContent = "Copied"
    } catch {
      this.details.open = true // without a clipboard, an insecure origin say, by hand
      this.fill()
      getSelection()?.selectAllChildren(this.table)
      button.textContent = "Selected"
    }
    setTimeout(() => {
      button.textContent = "Copy the numbers"
    }, 1500)
  }

  download() {
    const canvases = this.panels.map(({ canvas }) => canvas)
    const whole = el("canvas", {
      width: canvases.reduce((sum, { width }) => sum + width, 0),
      height: canvases[0].height,
    })
    const context = contextOf(whole)
    let x = 0
    for (const canvas of canvases) {
      context.drawImage(canvas, x, 0)
      x += canvas.width
    }
    el("a", { href: whole.toDataURL(), download: "attention.png" }).click()
  }
}

/** @type {(end: number) => string} */
const rounded = (end) => `${end < 0 ? "−" : "+"}${Number(Math.abs(end).toPrecision(2))}`
/** @type {(number: number, digits: number) => string} */
const plain = (number, digits) => number.toFixed(digits)
/** @type {(number: number, digits: number) => string} */
const signed = (number, digits) => `${number < 0 ? "−" : "+"}${Math.abs(number).toFixed(digits)}`

/** @type {(context: Context, x: number, y: number, write: () => void) => void} */
function turned(context, x, y, write) {
  context.save()
  context.translate(x, y)
  context.rotate(-Math.PI / 2)
  write()
  context.restore()
}
