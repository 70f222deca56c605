// All heads of all layers as thumbnails, with the mean of each layer and of each head over the
// layers.
import { blockOf, strengthOf } from "../data.js"
import {
  BETWEEN,
  GRID_APART,
  GRID_CORNER_X,
  GRID_DIMMED,
  GRID_GAP,
  GRID_LEFT,
  GRID_NAME_X,
  GRID_SMALL_TYPE,
  GRID_TOP,
  GRID_TYPE,
  GRID_VEIL,
  LARGEST_TILE,
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
/** @import { Actions, Active, Context, DrawnScene, Kind, Point, Pointed, Tile } from "../types.js" */

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
    this.tile = tileOf(kind, width, view.show === "grid" ? Infinity : TALLEST_GRID)
    this.step = this.tile + GRID_GAP
    this.kind = kind
    const needed = Math.max(width, GRID_LEFT + columns * this.step)
    const context = this.contexts(needed, GRID_TOP + (kind.layers + 1) * this.step + GRID_GAP)
    context.font = `${this.tile < SMALL_TILE ? GRID_SMALL_TYPE : GRID_TYPE}px ${theme.font}`
    context.textBaseline = "middle"
    this.labels(context, scene)
    for (let layer = 0; layer <= kind.layers; layer++) {
      for (let head = 0; head <= kind.heads; head++) this.drawTile(context, scene, layer, head)
    }
    context.globalAlpha = 1
    context.strokeStyle = theme.second
    context.lineWidth = MARK_WIDTH
    for (const head of scene.heads) {
      const { x, y } = this.corner(view.layer, head)
      const [out, side] = [MARK_WIDTH / 2, this.tile + MARK_WIDTH]
      context.strokeRect(x - out, y - out, side, side)
    }
  }

  // The layer that the other views show stands out, and its head, where one alone is on.
  /** @type {(context: Context, scene: DrawnScene) => void} */
  labels(context, { kind, theme, view, heads }) {
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
    context.translate(GRID_NAME_X, GRID_TOP + (kind.layers * this.step) / 2)
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
    return { x: GRID_LEFT + head * this.step, y: GRID_TOP + layer * this.step }
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
        if (!thumbnail) continue
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

  /** @type {(x: number, y: number) => Pointed | null} */
  at(x, y) {
    if (!this.kind) return null
    const [head, layer] = [
      Math.floor((x - GRID_LEFT) / this.step),
      Math.floor((y - GRID_TOP) / this.step),
    ]
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

// How large thumbnails are: as the width allows, and the height, by the numbers of heads and layers
// with their means.
/** @type {(kind: Counts, width: number, tallest: number) => number} */
export function tileOf({ heads, layers }, width, tallest) {
  const across = (width - GRID_LEFT - GRID_GAP) / (heads + 1)
  const down = (tallest - GRID_TOP - GRID_GAP) / (layers + 1)
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
