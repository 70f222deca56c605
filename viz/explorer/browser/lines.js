// Tokens left and right, and a line for every weight: from the query that looks to the key that it looks at.
import { strengthOf } from "./data.js"
import {
  DASHES,
  LINES_APART,
  LINES_AROUND,
  LINES_BAR,
  LINES_BELOW,
  LINES_BENDS,
  LINES_EDGE,
  LINES_FADED,
  LINES_FRAME,
  LINES_HEADING,
} from "./layout.js"
import {
  LINES_ROW,
  LINES_SIDE,
  LINES_TOP,
  LINES_TYPE,
  MARK_WIDTH,
  MOST_LINES,
  SHORTEST_LINES,
  SMALLEST_ROW,
  TALLEST_LINES,
  WIDEST_SIDE,
} from "./layout.js"
import { FAINTEST_LINE, LINE_GROWS, THINNEST_LINE } from "./layout.js"
import { fitted, inkOn, shade } from "./paint.js"
import { Stack } from "./stack.js"
/** @import { Actions, Active, Context, DrawnScene, Edge, Frame, Group } from "./types.js" */
/** @import { Pointed, Theme } from "./types.js" */

/** @typedef {"left" | "right"} Side */

export class Lines extends Stack {
  /** @param {Actions} actions */
  constructor(actions) {
    super(
      "lines",
      "Lines from each query, on the left, to the keys that it attends to, on the right",
      actions,
    )
    /** @type {DrawnScene} */
    this.scene = /** @type {any} */ (undefined) // until it is drawn
    this.row = 0
    this.more = false // lines than are drawn
  }

  /** @type {(scene: DrawnScene, width: number) => void} */
  draw(scene, width) {
    const { frame, theme } = scene
    this.scene = scene
    const most = Math.max(frame.rows.length, frame.columns.length)
    const height = Math.min(Math.max(most * LINES_ROW, SHORTEST_LINES), TALLEST_LINES)
    const room = Math.min(width * LINES_SIDE, WIDEST_SIDE)
    this.inner = { left: room, top: LINES_TOP, width: width - 2 * room, height }
    this.row = (height * this.zoom) / most
    const context = this.contexts(width, LINES_TOP + height + LINES_BELOW)
    this.heading(context, theme, width)
    this.clipped(context, () => {
      for (const edge of this.strongest()) this.line(context, edge)
    })
    this.tokens(context, theme, frame)
  }

  /** @type {(context: Context, theme: Theme, width: number) => void} */
  heading(context, theme, width) {
    context.font = `${LINES_TYPE}px ${theme.font}`
    context.textBaseline = "middle"
    context.fillStyle = theme.quiet
    context.textAlign = "left"
    context.fillText(
      "query attends",
      Math.max(0, this.inner.left - LINES_EDGE - context.measureText("query attends").width),
      LINES_HEADING,
    )
    context.fillText("to key", width - this.inner.left + LINES_EDGE, LINES_HEADING)
  }

  // The strongest lines of all heads that are on; each head remembers its own, so that toggling one sorts little.
  /** @type {() => Edge[]} */
  strongest() {
    const { heads, numbers, full } = this.scene
    const found = heads.flatMap((head) =>
      strongestOf(numbers.get(head) ?? new Float32Array()).map(([cell, weight]) => ({
        head,
        cell,
        weight,
        full: full(head),
      })),
    )
    found.sort((left, right) => left.weight - right.weight)
    this.more = found.length > MOST_LINES
    return found.slice(-MOST_LINES)
  }

  /** @type {(context: Context, edge: Edge) => void} */
  line(context, { head, cell, weight, full }) {
    const { frame, view } = this.scene
    const [row, column] = [Math.floor(cell / frame.columns.length), cell % frame.columns.length]
    const strength = strengthOf(weight, full, view.scale)
    const { left, width } = this.inner
    const [start, end] = [this.rowY(row, frame.rows), this.rowY(column, frame.columns)]
    context.globalAlpha = FAINTEST_LINE + (1 - FAINTEST_LINE) * strength * strength
    context.lineWidth = THINNEST_LINE + LINE_GROWS * strength
    context.strokeStyle = this.colour(head)
    context.setLineDash(DASHES[Math.floor(head / this.scene.theme.heads.length) % DASHES.length])
    context.beginPath()
    context.moveTo(left, start)
    const [first, second] = LINES_BENDS.map((share) => left + width * share)
    context.bezierCurveTo(first, start, second, end, left + width, end)
    context.stroke()
  }

  /** @type {(head: number) => string} */
  colour(head) {
    const { theme } = this.scene
    return theme.heads[head % theme.heads.length]
  }

  /** @type {(place: number, groups: Group[]) => number} */
  rowY(place, groups) {
    return this.toY((place + 0.5) / groups.length)
  }

  /** @type {(context: Context, draw: () => void) => void} */
  clipped(context, draw) {
    context.save()
    context.beginPath()
    context.rect(0, LINES_TOP, this.size.width, this.inner.height + 4)
    context.clip()
    draw()
    context.restore()
  }

  /** @type {(context: Context, theme: Theme, frame: Frame) => void} */
  tokens(context, theme, frame) {
    context.fillStyle = theme.text
    for (const side of /** @type {Side[]} */ (["left", "right"])) {
      const groups = side === "left" ? frame.rows : frame.columns
      const every = Math.max(
        1,
        Math.ceil((SMALLEST_ROW * groups.length) / (this.inner.height * this.zoom)),
      )
      for (let place = 0; place < groups.length; place += every)
        this.token(context, groups, place, side)
    }
  }

  /** @type {(context: Context, groups: Group[], place: number, side: Side) => void} */
  token(context, groups, place, side) {
    const y = this.rowY(place, groups)
    if (y < LINES_TOP || y > LINES_TOP + this.inner.height) return
    const [room, x] = [this.inner.left - LINES_AROUND, this.inner.left - LINES_APART]
    context.textAlign = side === "left" ? "right" : "left"
    context.fillText(
      fitted(context, groups[place].label, room),
      side === "left" ? x : this.size.width - x,
      y,
    )
  }

  /** @type {(scene: DrawnScene, active: Active) => void} */
  drawOverlay(scene, active) {
    const context = this.overlay()
    const { theme } = scene
    const lit = active.row >= 0 || active.column >= 0
    this.base.style.opacity = String(lit ? LINES_FADED : 1)
    if (!lit) return
    this.clipped(context, () => {
      for (const edge of this.edges(active)) this.line(context, edge)
    })
    context.globalAlpha = 1
    context.font = `${LINES_TYPE}px ${theme.font}`
    context.textBaseline = "middle"
    this.heading(context, theme, this.size.width)
    this.sides(context, scene, active)
  }

  /** @type {(active: Active) => Edge[]} */
  edges({ row, column }) {
    const { frame, heads, numbers, full } = this.scene
    const width = frame.columns.length
    /** @type {number[]} */
    const cells = []
    if (row >= 0 && column >= 0) cells.push(row * width + column)
    else if (row >= 0) for (let key = 0; key < width; key++) cells.push(row * width + key)
    else for (let query = 0; query < frame.rows.length; query++) cells.push(query * width + column)
    const found = heads.flatMap((head) =>
      cells.map((cell) => ({
        head,
        cell,
        weight: numbers.get(head)?.[cell] ?? 0,
        full: full(head),
      })),
    )
    return found
      .filter(({ weight }) => weight > 0)
      .sort((left, right) => left.weight - right.weight)
  }

  // The labels again, each with the mean weight between it and the token in question as its shade; where rows are thinner
  // than letters, as a bar beside it.
  /** @type {(context: Context, scene: DrawnScene, active: Active) => void} */
  sides(context, scene, { row, column }) {
    const { frame, drawnMean } = scene
    const width = frame.columns.length
    /** @type {(place: number) => number} */
    const keys = (place) =>
      row >= 0 && (column < 0 || place === column) ? drawnMean[row * width + place] : 0
    /** @type {(place: number) => number} */
    const queries = (place) =>
      column >= 0 && (row < 0 || place === row) ? drawnMean[place * width + column] : 0
    this.shadedTokens(
      context,
      scene,
      frame.rows,
      "left",
      row,
      column >= 0 && row < 0 ? queries : null,
    )
    this.shadedTokens(
      context,
      scene,
      frame.columns,
      "right",
      column,
      row >= 0 && column < 0 ? keys : null,
    )
  }

  /**
   * @param {Context} context
   * @param {DrawnScene} scene
   * @param {Group[]} groups
   * @param {Side} side
   * @param {number} chosen
   * @param {((place: number) => number) | null} weightOf
   */
  shadedTokens(context, scene, groups, side, chosen, weightOf) {
    const { theme, shades, view, fullMean } = scene
    const every = Math.max(
      1,
      Math.ceil((SMALLEST_ROW * groups.length) / (this.inner.height * this.zoom)),
    )
    const row = (this.inner.height * this.zoom) / groups.length
    const [room, thin] = [this.inner.left - LINES_EDGE, row < SMALLEST_ROW]
    const [wide, tall] = thin ? [LINES_BAR, Math.max(row, 1)] : [room, Math.min(row, LINES_ROW) - 2]
    const frameHeight = Math.min(Math.max(row, SMALLEST_ROW), LINES_FRAME)
    /** @type {(width: number) => number} */
    const start = (width) => (side === "left" ? room - width : this.size.width - room)
    /** @type {(place: number) => number} */
    const y = (place) => this.rowY(place, groups)
    const seen = groups
      .map((_, place) => place)
      .filter((place) => y(place) >= LINES_TOP && y(place) <= LINES_TOP + this.inner.height)
    const strengths = groups.map((_, place) =>
      weightOf ? strengthOf(weightOf(place), fullMean, view.scale) : 0,
    )
    for (const place of seen) {
      if (!(strengths[place] > 0)) continue
      context.fillStyle = shade(shades, strengths[place])
      context.fillRect(start(wide), y(place) - tall / 2, wide, tall)
    }
    const framed = seen.includes(chosen)
    /** @type {(place: number) => boolean} */
    const clear = (place) => !framed || Math.abs(y(place) - y(chosen)) > frameHeight - 1
    for (const place of seen.filter((place) => place % every === 0 && clear(place))) {
      context.fillStyle =
        strengths[place] > 0 && !thin ? inkOn(theme, shades, strengths[place]) : theme.text
      this.token(context, groups, place, side)
    }
    if (framed)
      this.chosenToken(context, scene, groups, chosen, side, {
        x: start(room),
        wide: room,
        tall: frameHeight,
      })
  }

  /**
   * @param {Context} context
   * @param {DrawnScene} scene
   * @param {Group[]} groups
   * @param {number} place
   * @param {Side} side
   * @param {{ x: number, wide: number, tall: number }} frame
   */
  chosenToken(context, { theme }, groups, place, side, { x, wide, tall }) {
    const y = this.rowY(place, groups)
    context.fillStyle = theme.background
    context.fillRect(x, y - tall / 2, wide, tall)
    context.strokeStyle = theme.second
    context.setLineDash([])
    context.lineWidth = MARK_WIDTH
    context.strokeRect(x + 1, y - tall / 2, wide - 2, tall)
    context.fillStyle = theme.text
    this.token(context, groups, place, side)
  }

  /** @type {(x: number, y: number) => Pointed | null} */
  at(x, y) {
    if (!this.inner || !this.scene || y < LINES_TOP) return null
    const { rows, columns } = this.scene.frame
    const [side, groups] = x < this.size.width / 2 ? ["query", rows] : ["key", columns]
    const place = Math.floor(this.fromY(y) * groups.length)
    return place >= 0 && place < groups.length ? { [side]: groups[place].first } : null
  }
}

/** @type {WeakMap<Float32Array, [cell: number, weight: number][]>} */
const remembered = new WeakMap()

// Found by counting, for a quarter of a million cells take long to sort. The bits of floats that are not negative stand in
// the order of the floats: their upper half tells the weights of two bytes apart. Of weights in one bucket that are too
// many, the first are taken.
/** @type {(weights: Float32Array) => [cell: number, weight: number][]} */
function strongestOf(weights) {
  const before = remembered.get(weights)
  if (before) return before
  const bits = new Uint32Array(weights.buffer, weights.byteOffset, weights.length)
  const counts = new Uint32Array(1 << 16)
  for (let cell = 0; cell < bits.length; cell++) counts[bits[cell] >>> 15]++
  let [last, room] = [counts.length - 1, MOST_LINES + 1] // one more, to know whether there are more
  while (last > 0 && counts[last] < room) room -= counts[last--]
  /** @type {[cell: number, weight: number][]} */
  const cells = []
  for (let cell = 0; cell < bits.length; cell++) {
    const bucket = bits[cell] >>> 15
    if (bits[cell] > 0 && (bucket > last || (bucket === last && room-- > 0)))
      cells.push([cell, weights[cell]])
  }
  cells.sort((left, right) => right[1] - left[1])
  remembered.set(weights, cells)
  return cells
}
