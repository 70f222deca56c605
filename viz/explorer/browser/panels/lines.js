// Tokens left and right, and a line for every weight: from the query that looks to the key that it
// looks at.
import { strengthOf } from "../data.js"
import {
  DASHES,
  FAINTEST_LINE,
  HEADING_ROOM,
  LINES_APART,
  LINES_AROUND,
  LINES_BAR,
  LINES_BELOW,
  LINES_BENDS,
  LINES_EDGE,
  LINES_FADED,
  LINES_FRAME,
  LINES_HEADING,
  LINES_PLATES,
  LINES_ROW,
  LINES_SIDE,
  LINES_TOP,
  LINES_TYPE,
  LINE_GROWS,
  MARK_WIDTH,
  MOST_LINES,
  SHORTEST_LINES,
  SMALLEST_ROW,
  TALLEST_LINES,
  THINNEST_LINE,
  WIDEST_SIDE,
} from "../layout.js"
import { fitted, inkOn, shade } from "../paint.js"
import { Stack } from "./stack.js"
/** @import { Actions, Active, Context, DrawnScene, Edge, Frame, Group } from "../types.js" */
/** @import { Pointed, Theme } from "../types.js" */

/** @typedef {"left" | "right"} Side */

const ROOM = 64 // times as many weights as there are lines are collected before the least of them go

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
    this.more = false // lines than are drawn
  }

  /** @type {(scene: DrawnScene, width: number) => void} */
  draw(scene, width) {
    const { frame } = scene
    this.scene = scene
    const most = Math.max(frame.rows.length, frame.columns.length)
    const height = Math.min(Math.max(most * LINES_ROW, SHORTEST_LINES), TALLEST_LINES)
    const room = Math.min(width * LINES_SIDE, WIDEST_SIDE)
    this.inner = { left: room, top: LINES_TOP, width: width - 2 * room, height }
    const context = this.contexts(width, LINES_TOP + height + LINES_BELOW)
    this.clipped(context, () => {
      for (const edge of this.strongest()) this.line(context, edge)
    })
  }

  /** @type {(context: Context, theme: Theme, width: number) => void} */
  heading(context, theme, width) {
    context.font = `${LINES_TYPE}px ${theme.font}`
    context.textBaseline = "middle"
    context.fillStyle = theme.quiet
    context.textAlign = "left"
    const [room, wide] = [this.inner.left - LINES_EDGE, context.measureText("query attends").width]
    const start = wide * HEADING_ROOM <= room ? room - wide : 0
    context.fillText("query attends", start, LINES_HEADING)
    context.fillText("to key", width - this.inner.left + LINES_EDGE, LINES_HEADING)
  }

  // The strongest lines of all heads that are on.
  /** @type {() => Edge[]} */
  strongest() {
    const { numbers, full } = this.scene
    const strongest = new Strongest()
    for (const [head, weights] of numbers) strongest.add(head, weights)
    strongest.reduce()
    this.more = strongest.more
    return strongestLast(
      strongest.lines().map(([head, cell]) => {
        const weight = numbers.get(head)?.[cell] ?? 0
        return { head, cell, weight, full: full(head) }
      }),
    )
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
    const lit = active.row >= 0 || active.column >= 0
    this.base.style.opacity = String(lit ? LINES_FADED : 1)
    if (lit)
      this.clipped(context, () => {
        for (const one of this.edges(active)) this.line(context, one)
      })
    this.heading(context, scene.theme, this.size.width)
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
    const edges = heads.flatMap((head) =>
      cells.map((cell) => ({
        head,
        cell,
        weight: numbers.get(head)?.[cell] ?? 0,
        full: full(head),
      })),
    )
    return strongestLast(edges.filter(({ weight }) => weight > 0))
  }

  // The tokens. Where one of the other side is marked, each has the mean weight between both as its
  // shade; where rows are thinner than letters, as a bar beside it.
  /** @type {(context: Context, scene: DrawnScene, active: Active) => void} */
  sides(context, scene, { row, column }) {
    const { drawnMean, frame } = scene
    const width = frame.columns.length
    /** @param {number} place */
    const gives = (place) => drawnMean[place * width + column]
    /** @param {number} place */
    const gets = (place) => drawnMean[row * width + place]
    this.side(context, scene, frame.rows, "left", row, column >= 0 && row < 0 ? gives : null)
    this.side(context, scene, frame.columns, "right", column, row >= 0 && column < 0 ? gets : null)
  }

  /**
   * @param {Context} context
   * @param {DrawnScene} scene
   * @param {Group[]} groups
   * @param {Side} side
   * @param {number} chosen
   * @param {((place: number) => number) | null} weightOf
   */
  side(context, scene, groups, side, chosen, weightOf) {
    const { theme, shades, view, fullMean } = scene
    const every = Math.max(
      1,
      Math.ceil((SMALLEST_ROW * groups.length) / (this.inner.height * this.zoom)),
    )
    const row = (this.inner.height * this.zoom) / groups.length
    const [room, thin] = [this.inner.left - LINES_EDGE, row < SMALLEST_ROW]
    const [wide, tall] = thin
      ? [LINES_BAR, Math.max(row, 1)]
      : [room, Math.min(row, LINES_ROW) - LINES_PLATES]
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
    /** @type {[number, number, number, number]} */
    const edge = [x + MARK_WIDTH / 2, this.rowY(place, groups) - tall / 2, wide - MARK_WIDTH, tall]
    context.fillStyle = theme.background
    context.fillRect(...edge)
    context.strokeStyle = theme.second
    context.lineWidth = MARK_WIDTH
    context.strokeRect(...edge)
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

// The order in which they are drawn: the strongest lies on top, of equal ones that of the first
// head, query and key.
/** @type {(edges: Edge[]) => Edge[]} */
const strongestLast = (edges) => edges.sort((left, right) => right.weight - left.weight).reverse()

// Of the weights of several heads the strongest MOST_LINES. A weight that comes when so many are at
// least as large is passed over by one comparison, for the heads of a long text have millions. The
// bits of floats that are not negative stand in the order of the floats.
class Strongest {
  constructor() {
    this.bits = new Uint32Array(ROOM * MOST_LINES)
    this.heads = new Uint32Array(ROOM * MOST_LINES)
    this.cells = new Uint32Array(ROOM * MOST_LINES)
    this.count = 0
    this.least = 0 // only what is larger may still be among them
    this.more = false // there are more than so many
  }

  /** @type {(head: number, weights: Float32Array) => void} */
  add(head, weights) {
    const bits = new Uint32Array(weights.buffer, weights.byteOffset, weights.length)
    let { least } = this
    for (let cell = 0; cell < bits.length; cell++) {
      if (bits[cell] <= least) continue
      this.bits[this.count] = bits[cell]
      this.heads[this.count] = head
      this.cells[this.count++] = cell
      if (this.count < this.bits.length) continue
      this.reduce()
      least = this.least
    }
  }

  // Leaves the strongest; of equal ones what came first.
  reduce() {
    if (this.count <= MOST_LINES) return
    let [least, room] = leastOf(this.bits.subarray(0, this.count), MOST_LINES)
    let kept = 0
    for (let at = 0; at < this.count; at++) {
      if (this.bits[at] < least || (this.bits[at] === least && room-- <= 0)) continue
      this.bits[kept] = this.bits[at]
      this.heads[kept] = this.heads[at]
      this.cells[kept++] = this.cells[at]
    }
    Object.assign(this, { count: kept, least, more: true })
  }

  /** @type {() => [head: number, cell: number][]} */
  lines() {
    return Array.from(this.cells.subarray(0, this.count), (cell, at) => [this.heads[at], cell])
  }
}

// The least of so many largest numbers, and how many of its equals are among them. Found by
// counting their upper and then their lower halves, for so many take long to sort.
/** @type {(bits: Uint32Array, many: number) => [least: number, room: number]} */
function leastOf(bits, many) {
  let [least, room] = [0, many]
  for (const shift of [16, 0]) {
    const counts = new Uint32Array(1 << 16)
    for (let at = 0; at < bits.length; at++)
      if (shift || bits[at] >>> 16 === least) counts[(bits[at] >>> shift) & 0xffff]++
    let last = counts.length - 1
    while (last > 0 && counts[last] < room) room -= counts[last--]
    least = least * (1 << 16) + last
  }
  return [least, room]
}
