// All heads of all layers as thumbnails, with the mean of each layer and of each head over the
// layers.
import { blockOf, counted, strengthOf } from "../data.js"
import {
  BAR_APART,
  BAR_DIGITS,
  BAR_LINE,
  BAR_NUMBERS,
  BAR_NUMBER_Y,
  BAR_THICK,
  BAR_TYPE,
  BETWEEN,
  GRID_APART,
  GRID_BAR,
  GRID_CORNER_X,
  GRID_DIMMED,
  GRID_GAP,
  GRID_LEFT,
  GRID_NAME_X,
  GRID_SMALL_TYPE,
  GRID_TOP,
  GRID_TYPE,
  GRID_VEIL,
  LARGEST_FIRST,
  LARGEST_TILE,
  LEAST_BAR,
  MARK_WIDTH,
  NARROWEST_ROW,
  SHARES,
  SMALLEST_TILE,
  SMALL_TILE,
  SPARSE_TILE,
  TALLEST_GRID,
  TARGET_TILE,
} from "../layout.js"
import { picture } from "../paint.js"
import { Stack } from "./stack.js"
/** @import { Actions, Active, Context, DrawnScene, HeadMeasure, Kind, Point, Pointed, Site, Tile } from "../types.js" */

/** @typedef {{ layers: number, heads: number }} Counts */

export class Grid extends Stack {
  /** @param {Actions} actions */
  constructor(actions) {
    super("grid", "Thumbnails of the attention of every layer and head", actions)
    /** @type {Kind} */
    this.kind = /** @type {any} */ (undefined) // until it is drawn
    /** @type {Tile[] | null} */
    this.tiles = null
    this.sheet = document.createElement("canvas")
    this.tile = 0 // the side of one, and from one to the next
    this.step = 0
    this.bar = 0 // below each, for its measure
    /** @type {Site[] | null} */
    this.sorted = null // the heads, where they stand in order of a measure
    /** @type {Map<string, number>} */
    this.rankOf = new Map()
    this.host.tabIndex = 0 // it scrolls sideways where there are many heads
  }

  // One picture of all tiles side by side, made again only where the numbers, the scale or the
  // colours are others: a canvas a tile takes longer to make than to fill.
  /** @type {(tiles: Tile[], scene: DrawnScene) => void} */
  setTiles(tiles, scene) {
    const { maximum, scale } = scene.view
    const shared = maximum === "shared" ? Math.max(...tiles.map(({ largest }) => largest)) : 1
    const { width, height } = tiles[0]
    this.kind = scene.kind
    this.tiles = tiles
    const across = (this.kind.heads + 1) * width
    this.sheet = picture((this.kind.layers + 1) * height, across, scene.shades, (cell) => {
      const row = Math.floor(cell / across)
      const column = cell % across
      const thumbnail = tiles[this.number(Math.floor(row / height), Math.floor(column / width))]
      if (!thumbnail) return 0
      return strengthOf(
        thumbnail.tile[(row % height) * width + (column % width)],
        maximum === "head" ? thumbnail.largest : shared,
        scale,
      )
    })
  }

  // The thumbnails of a text that has gone are not to be seen while those of the next are made.
  forget() {
    this.tiles = null
  }

  /** @type {(scene: DrawnScene, width: number) => void} */
  draw(scene, width) {
    const { kind, theme, view } = scene
    const columns = kind.heads + 1
    this.sort(scene)
    this.bar = barOf(scene)
    this.tile = tileOf(kind, width, view.show === "grid" ? Infinity : TALLEST_GRID, this.bar)
    this.step = this.tile + GRID_GAP
    this.kind = kind
    const needed = Math.max(width, GRID_LEFT + columns * this.step)
    const down = (kind.layers + 1) * (this.step + this.bar)
    const context = this.contexts(needed, GRID_TOP + down + GRID_GAP)
    context.font = `${this.tile < SMALL_TILE ? GRID_SMALL_TYPE : GRID_TYPE}px ${theme.font}`
    context.textBaseline = "middle"
    this.labels(context, scene)
    for (let layer = 0; layer <= kind.layers; layer++) {
      for (let head = 0; head <= kind.heads; head++) this.drawTile(context, scene, layer, head)
    }
    if (scene.measure) this.drawBars(context, scene, scene.measure)
    context.globalAlpha = 1
    context.strokeStyle = theme.second
    context.lineWidth = MARK_WIDTH
    for (const head of scene.heads) {
      const { x, y } = this.corner(view.layer, head)
      const [out, side] = [MARK_WIDTH / 2, this.tile + MARK_WIDTH]
      context.strokeRect(x - out, y - out, side, side)
    }
  }

  // By the measure where the view says so: the head with the most first, one after the other.
  /** @param {DrawnScene} scene */
  sort({ measure, view, kind }) {
    this.sorted = measure && view.order === "measure" ? ranked(kind, measure) : null
    this.rankOf = new Map((this.sorted ?? []).map((site, rank) => [site.join(), rank]))
  }

  // What a measure is of each head: a bar as long as its share of the largest, and the number.
  /** @type {(context: Context, scene: DrawnScene, measure: HeadMeasure) => void} */
  drawBars(context, { theme, kind }, measure) {
    const largest = largestMagnitude(measure)
    context.font = `${BAR_TYPE}px ${theme.font}`
    for (const layer of counted(kind.layers)) {
      for (const head of counted(kind.heads)) {
        const value = measure.values[layer][head]
        const { x, y } = this.corner(layer, head)
        context.fillStyle = theme.text
        this.barText(context, layer, head, value, x, y + this.tile + BAR_NUMBER_Y)
        context.fillStyle =
          value !== null && value < 0 ? (theme.scales.below.at(-1) ?? "") : theme.accent
        const length = (this.tile * Math.abs(value ?? 0)) / largest
        context.fillRect(x, y + this.tile + BAR_APART, length, BAR_THICK)
      }
    }
  }

  /** @type {(context: Context, layer: number, head: number, value: number | null, x: number, y: number) => void} */
  barText(context, layer, head, value, x, y) {
    const number = value === null ? "" : valueText(value)
    context.textAlign = "left"
    if (this.sorted) context.fillText(`${layer + 1}·${head + 1}`, x, y)
    context.textAlign = "right"
    if (number && this.tile >= BAR_NUMBERS)
      context.fillText(number, x + this.tile, this.sorted ? y + BAR_LINE : y)
  }

  // The layer that the other views show stands out, and its head, where one alone is on.
  /** @type {(context: Context, scene: DrawnScene) => void} */
  labels(context, { kind, theme, view, heads }) {
    if (this.sorted) {
      context.textAlign = "left"
      context.fillStyle = theme.quiet
      context.fillText(LARGEST_FIRST, GRID_LEFT, GRID_TOP / 2)
      return
    }
    const alone = heads.length === 1 ? heads[0] : -1
    const every = this.tile < SPARSE_TILE ? 2 : 1
    context.textAlign = "center"
    for (let head = 0; head <= kind.heads; head++) {
      context.fillStyle = head === alone ? theme.text : theme.quiet
      const name = head === kind.heads ? "mean" : String(head + 1)
      if (head === kind.heads || head % every === 0)
        context.fillText(name, this.corner(0, head).x + this.tile / 2, GRID_TOP / 2)
    }
    context.textAlign = "right"
    for (let layer = 0; layer <= kind.layers; layer++) {
      context.fillStyle = layer === view.layer ? theme.text : theme.quiet
      const name = layer === kind.layers ? "mean" : String(layer + 1)
      if (layer === kind.layers || layer % every === 0)
        context.fillText(name, GRID_LEFT - GRID_APART, this.corner(layer, 0).y + this.tile / 2)
    }
    context.save()
    context.translate(GRID_NAME_X, GRID_TOP + (kind.layers * (this.step + this.bar)) / 2)
    context.rotate(-Math.PI / 2)
    context.textAlign = "center"
    context.fillStyle = theme.quiet
    context.fillText("layer", 0, 0)
    context.restore()
    context.textAlign = "left"
    context.fillStyle = theme.quiet
    context.fillText("head", GRID_CORNER_X, GRID_TOP / 2)
  }

  /** @type {(context: Context, scene: DrawnScene, layer: number, head: number) => void} */
  drawTile(context, { theme, off }, layer, head) {
    const thumbnail = this.tiles?.[this.number(layer, head)]
    if (!thumbnail?.tile.length) return
    if (this.sorted && (layer === this.kind.layers || head === this.kind.heads)) return
    const { width, height } = thumbnail
    const { x, y } = this.corner(layer, head)
    context.globalAlpha = off.has(`${layer}.${head}`) ? GRID_DIMMED : 1
    context.imageSmoothingEnabled = width > this.tile // a file keeps all cells: it may be enlarged
    context.drawImage(
      this.sheet,
      head * width,
      layer * height,
      width,
      height,
      x,
      y,
      this.tile,
      this.tile,
    )
    context.strokeStyle = theme.grid
    context.lineWidth = 1
    context.strokeRect(x - 0.5, y - 0.5, this.tile + 1, this.tile + 1)
    context.globalAlpha = 1
  }

  // Heads layer by layer, then the means of the layers, then those of the heads; there is no mean
  // of means.
  /** @type {(layer: number, head: number) => number} */
  number(layer, head) {
    const { layers, heads } = this.kind
    if (layer === layers) return head === heads ? -1 : layers * heads + layers + head
    return head === heads ? layers * heads + layer : layer * heads + head
  }

  /** @type {(layer: number, head: number) => Point} */
  corner(layer, head) {
    const rank = this.rankOf.get(`${layer},${head}`)
    const { heads } = this.kind
    const [row, column] =
      rank === undefined ? [layer, head] : [Math.floor(rank / heads), rank % heads]
    return { x: GRID_LEFT + column * this.step, y: GRID_TOP + row * (this.step + this.bar) }
  }

  // What the hovered token attends to, in every thumbnail: all but its row, its column, goes under
  // a veil.
  /** @type {(scene: DrawnScene, active: Active) => void} */
  drawOverlay(scene, active) {
    const context = this.overlay()
    const { kind, theme, frame } = scene
    context.fillStyle = theme.background
    context.globalAlpha = GRID_VEIL
    for (let layer = 0; layer <= kind.layers; layer++) {
      for (let head = 0; head <= kind.heads; head++) {
        const thumbnail = this.tiles?.[this.number(layer, head)]
        if (!thumbnail || (this.sorted && (layer === kind.layers || head === kind.heads))) continue
        const { x, y } = this.corner(layer, head)
        const rows = this.part(active.row, frame.rows.length, thumbnail.height)
        const columns = this.part(active.column, frame.columns.length, thumbnail.width)
        if (rows) this.veil(rows, (from, size) => context.fillRect(x, y + from, this.tile, size))
        else if (columns)
          this.veil(columns, (from, size) => context.fillRect(x + from, y, size, this.tile))
      }
    }
    context.globalAlpha = 1
    if (active.layer !== undefined && active.head !== undefined) {
      const { x, y } = this.corner(active.layer, active.head)
      context.strokeStyle = theme.text
      context.lineWidth = 1.5
      context.strokeRect(x - 1.5, y - 1.5, this.tile + 3, this.tile + 3)
    }
  }

  // Where the block of a row or column lies in a tile; null where none is pointed at.
  /** @type {(place: number, length: number, blocks: number) => [number, number] | null} */
  part(place, length, blocks) {
    if (place === undefined || place < 0) return null
    const block = blockOf(place, length, blocks)
    return [(block / blocks) * this.tile, ((block + 1) / blocks) * this.tile]
  }

  /** @type {(edges: [number, number], cover: (from: number, size: number) => void) => void} */
  veil([from, to], cover) {
    cover(0, from)
    cover(to, this.tile - to)
  }

  // The head whose thumbnail stands in a row and a column; null where there is none.
  /** @type {(row: number, column: number) => Site | null} */
  siteAt(row, column) {
    if (!this.sorted) return [row, column]
    const { heads } = this.kind
    if (row < 0 || column < 0 || column >= heads) return null
    return this.sorted[row * heads + column] ?? null
  }

  /** @type {(x: number, y: number) => Pointed | null} */
  at(x, y) {
    if (!this.kind) return null
    const [across, down] = [
      Math.floor((x - GRID_LEFT) / this.step),
      Math.floor((y - GRID_TOP) / (this.step + this.bar)),
    ]
    const site = this.siteAt(down, across)
    if (!site) return null
    const [layer, head] = site
    if (layer < 0 || layer > this.kind.layers) return null
    if (x < GRID_LEFT) return layer < this.kind.layers ? { layer } : null
    const thumbnail = this.tiles?.[this.number(layer, head)]
    if (head < 0 || head > this.kind.heads || !thumbnail) return null
    const corner = this.corner(layer, head)
    /** @type {(offset: number, blocks: number) => number} */
    const inside = (offset, blocks) =>
      Math.min(Math.max(Math.floor((offset / this.tile) * blocks), 0), blocks - 1)
    const [row, column] = [
      inside(y - corner.y, thumbnail.height),
      inside(x - corner.x, thumbnail.width),
    ]
    const weight = thumbnail.tile[row * thumbnail.width + column]
    return {
      layer,
      head,
      block: { row, column, weight, rows: thumbnail.height, columns: thumbnail.width },
    }
  }
}

// The heads, the one with the largest value, or size, first, of equals the earlier; those without one last.
/** @type {(kind: Counts, measure: HeadMeasure) => Site[]} */
export function ranked({ layers, heads }, { values, by_size }) {
  /** @type {Site[]} */
  const sites = counted(layers * heads).map((place) => [Math.floor(place / heads), place % heads])
  /** @type {(site: Site) => number} */
  const numberOf = ([layer, head]) => {
    const value = values[layer][head] ?? -Infinity
    return by_size && value > -Infinity ? Math.abs(value) : value
  }
  return sites.sort((one, other) => {
    const [first, second] = [numberOf(one), numberOf(other)]
    return first === second ? 0 : second - first
  })
}

// The room below a thumbnail.
/** @param {Pick<DrawnScene, "measure" | "view">} scene */
const barOf = ({ measure, view }) =>
  measure ? GRID_BAR + (view.order === "measure" ? BAR_LINE : 0) : 0

// What a whole bar stands for: the largest |value|, or 1 where all are shown as 0.
/** @param {HeadMeasure} measure */
export function largestMagnitude({ values }) {
  const largest = Math.max(...values.flat().map((value) => Math.abs(value ?? 0)))
  return largest < LEAST_BAR ? 1 : largest
}

// "0.42", "−0.05", "3.1", "12".
/** @param {number} value */
export function valueText(value) {
  const digits = BAR_DIGITS.find(([most]) => Math.abs(value) < most)?.[1] ?? 0
  const text = value.toFixed(digits)
  return Number(text) ? text.replace("-", "−") : text.replace("-", "")
}

// How large thumbnails are: as the width allows, and the height, by the numbers of heads and layers
// with their means; below each, so much for a bar.
/** @type {(kind: Counts, width: number, tallest: number, bar?: number) => number} */
export function tileOf({ heads, layers }, width, tallest, bar = 0) {
  const across = (width - GRID_LEFT - GRID_GAP) / (heads + 1)
  const down = (tallest - GRID_TOP - GRID_GAP) / (layers + 1) - bar
  return Math.min(
    Math.max(Math.floor(Math.min(across, down)) - GRID_GAP, SMALLEST_TILE),
    LARGEST_TILE,
  )
}

// Whether the thumbnails stand beside lines and matrix: where they can be pointed at in their share
// of the width.
/** @type {(kind: Counts, width: number) => boolean} */
export function standsBeside(kind, width) {
  const shares = Object.values(SHARES)
  const room =
    (width - BETWEEN * (shares.length - 1)) *
    (SHARES.grid / shares.reduce((sum, share) => sum + share))
  return width >= NARROWEST_ROW && tileOf(kind, room, Infinity) >= TARGET_TILE
}
