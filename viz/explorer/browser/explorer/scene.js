// The numbers of one view, from which all of its pictures are drawn, and the thumbnails.
import {
  counted,
  drawnOf,
  frameOf,
  largestIn,
  meanOf,
  placesOf,
  pooled,
  valuesOf,
} from "../data.js"
import { THUMB_SIDE } from "../layout.js"
/** @import { Model } from "../data.js" */
/** @import { Active, Block, Chosen, Kind, Pointed, Scene, Tile } from "../types.js" */

// `chosen` is what State.chosen says, and part of the scene.
/**
 * @param {Model} model
 * @param {Kind} kind
 * @param {Uint8Array} thumbs
 * @param {Chosen} chosen
 * @returns {Scene}
 */
export function sceneOf(model, kind, thumbs, chosen) {
  const { view, heads } = chosen
  const frame = frameOf(kind, view)
  const matrices = new Map(heads.map((head) => [head, model.matrix(kind, view.layer, head, frame)]))
  const width = frame.columns.length
  const mean = meanOf([...matrices.values()], frame.rows.length * width)
  // Once a head and not once a line: to look through every weight of a long text takes a
  // millisecond.
  const largest = new Map(
    [...matrices].map(([head, matrix]) => [head, view.maximum === "one" ? 1 : largestIn(matrix)]),
  )
  const shared = view.maximum === "shared" ? Math.max(0, ...largest.values()) : null
  return {
    ...chosen,
    model,
    kind,
    frame,
    matrices,
    mean,
    thumbs,
    numbers: new Map([...matrices].map(([head, matrix]) => [head, drawnOf(matrix, width, view)])),
    drawnMean: drawnOf(mean, width, view),
    full: (head) => shared ?? largest.get(head) ?? 1,
    fullMean: shared ?? (view.maximum === "one" ? 1 : largestIn(mean)),
    rowOf: placesOf(frame.rows),
    columnOf: placesOf(frame.columns),
    tilesPlain: frame.plain || !model.whole,
    measure: null,
  }
}

// The place with its row and its column in the scene, -1 for what has none.
/** @type {(scene: Scene, place: Pointed) => Active} */
export function activeIn(scene, place) {
  /** @type {(places: Map<number, number>, position?: number | null) => number} */
  const where = (places, position) =>
    position === null || position === undefined ? -1 : (places.get(position) ?? -1)
  return {
    ...place,
    row: where(scene.rowOf, place.query),
    column: where(scene.columnOf, place.key),
  }
}

// Whether a block of a thumbnail is one query and one key.
/** @type {(scene: Scene, block: Block) => boolean} */
export function isCell({ frame, tilesPlain }, block) {
  return (
    (frame.plain || !tilesPlain) &&
    block.rows === frame.rows.length &&
    block.columns === frame.columns.length
  )
}

// The thumbnails that came with the numbers: every token, each in its own row and column.
/** @type {(scene: Scene) => Tile[]} */
export function plainTiles({ kind, thumbs }) {
  const [height, width] = kind.thumb_shape
  const count = kind.layers * kind.heads + kind.layers + kind.heads
  const size = height * width
  return Array.from({ length: count }, (_, number) =>
    withLargest({ tile: valuesOf(thumbs, number * size, size), height, width }),
  )
}

// Thumbnails of a view that leaves tokens out or merges them: computed here, layer by layer, while
// the page goes on. Null as soon as `isWanted` says that others are.
/** @type {(scene: Scene, isWanted: () => boolean) => Promise<Tile[] | null>} */
export async function framedTiles({ model, kind, frame }, isWanted) {
  const [rows, columns] = [frame.rows.length, frame.columns.length]
  /** @type {(matrix: Float32Array) => Tile} */
  const thumbnailOf = (matrix) => withLargest(pooled(matrix, rows, columns, THUMB_SIDE))
  /** @type {Tile[][]} */
  const [heads, layerMeans] = [[], []]
  /** @type {Float32Array[]} */
  const sums = []
  for (let layer = 0; layer < kind.layers; layer++) {
    await model.layer(kind, layer)
    if (!isWanted()) return null
    const matrices = counted(kind.heads).map((head) => model.matrix(kind, layer, head, frame))
    heads.push(...matrices.map(thumbnailOf))
    layerMeans.push(thumbnailOf(meanOf(matrices)))
    matrices.forEach((matrix, head) => {
      sums[head] ??= new Float32Array(matrix.length)
      for (let cell = 0; cell < matrix.length; cell++)
        sums[head][cell] += matrix[cell] / kind.layers
    })
  }
  return [...heads, ...layerMeans, ...sums.map(thumbnailOf)]
}

/** @type {(numbers: Omit<Tile, "largest">) => Tile} */
const withLargest = (numbers) => ({ ...numbers, largest: largestIn(numbers.tile) })
