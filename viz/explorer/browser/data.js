// Reads what packing.py wrote, and follows the rules of view.py: which rows and columns a view has,
// and their numbers.
import { LOWEST } from "./layout.js"
/** @import { Frame, Group, Header, Kind, Place, TokenText, View } from "./types.js" */

const VALUE = Float32Array.from({ length: 256 }, (_, byte) => (byte / 255) ** 2)
const PART = 4096 // cells of a mean that are computed together
const KEPT_LAYERS = 24 // inflated layers in memory; the longest of 12 heads takes 3 MB

export class Model {
  /** @param {Uint8Array<ArrayBuffer>} packed */
  constructor(packed) {
    const { header, body } = opened(packed)
    /** @type {Header} */
    this.header = header
    this.body = body
    /** @type {Map<string, Kind>} */
    this.kinds = new Map(
      this.header.kinds.map((kind) => [kind.name, { ...kind, ...sides(header.texts, kind) }]),
    )
    /** @type {Map<string, Uint8Array>} */
    this.inflated = new Map()
    /** @type {Map<string, Promise<Uint8Array>>} */
    this.inflating = new Map()
    /** @type {Map<string, Uint8Array<ArrayBuffer>>} */
    this.extra = new Map() // layers that came later, still compressed
    /** @type {Map<string, Uint8Array>} */
    this.thumbs = new Map()
    /** @type {Map<string, Float32Array>} */
    this.matrices = new Map()
  }

  // An attention that this model has, by its name.
  /** @type {(name: string) => Kind} */
  kindOf(name) {
    return /** @type {Kind} */ (this.kinds.get(name))
  }

  get whole() {
    return this.header.kinds.every((kind) => kind.layers_at.length === kind.layers)
  }

  /** @param {Uint8Array<ArrayBuffer>} packed */
  addLayer(packed) {
    const { header, body } = opened(packed)
    const kind = this.kindOf(header.kind)
    // It belongs to a text that has gone, or is there already.
    if (header.name !== this.header.name || this.has(kind, header.layer)) return
    this.extra.set(`${header.kind} ${header.layer}`, slice(body, header.at))
    // Inflated before it is looked at, which is what it was asked for.
    this.layer(kind, header.layer)
  }

  /** @type {(kind: Kind, layer: number) => boolean} */
  has(kind, layer) {
    return kind.layers_at.length > layer || this.extra.has(`${kind.name} ${layer}`)
  }

  // The bytes of one layer, or null where they have not come. Inflating is asynchronous, what was
  // inflated is kept.
  /** @type {(kind: Kind, layer: number) => Promise<Uint8Array | null>} */
  async layer(kind, layer) {
    const key = `${kind.name} ${layer}`
    const before = this.inflated.get(key)
    if (before) return before
    const stream =
      this.extra.get(key) ?? (kind.layers_at[layer] && slice(this.body, kind.layers_at[layer]))
    if (!stream) return null
    const inflating =
      this.inflating.get(key) ?? inflate(stream).then((bytes) => this.keep(key, bytes))
    this.inflating.set(key, inflating)
    return inflating
  }

  /** @type {(key: string, bytes: Uint8Array) => Uint8Array} */
  keep(key, bytes) {
    this.inflating.delete(key)
    this.inflated.set(key, bytes)
    if (this.inflated.size > KEPT_LAYERS) dropFirst(this.inflated)
    return bytes
  }

  /** @type {(kind: Kind, layer: number) => Uint8Array | null} */
  ready(kind, layer) {
    return this.inflated.get(`${kind.name} ${layer}`) ?? null
  }

  /** @type {(kind: Kind) => Promise<Uint8Array>} */
  async thumbnails(kind) {
    const before = this.thumbs.get(kind.name)
    if (before) return before
    const thumbs = await inflate(slice(this.body, kind.thumbs))
    this.thumbs.set(kind.name, thumbs)
    return thumbs
  }

  // One head's matrix as a view shows it; remembered, because toggling heads asks for the same ones
  // again.
  /** @type {(kind: Kind, layer: number, head: number, frame: Frame) => Float32Array} */
  matrix(kind, layer, head, frame) {
    const key = `${kind.name} ${layer} ${head} ${frame.key}`
    let matrix = this.matrices.get(key)
    if (!matrix) {
      const bytes = /** @type {Uint8Array} */ (this.ready(kind, layer))
      matrix = framed(headWeights(kind, bytes, head), kind.shape[1], frame)
      const kept = Math.max(kind.heads, Math.floor(16_000_000 / matrix.length))
      if (this.matrices.size >= kept) dropFirst(this.matrices)
      this.matrices.set(key, matrix)
    }
    return matrix
  }
}

// Of a map, what came first.
/** @type {<Value>(kept: Map<string, Value>) => void} */
function dropFirst(kept) {
  for (const key of kept.keys()) {
    kept.delete(key)
    return
  }
}

/** @type {(packed: Uint8Array<ArrayBuffer>) => { header: any; body: Uint8Array<ArrayBuffer> }} */
export function opened(packed) {
  const length = new DataView(packed.buffer, packed.byteOffset).getUint32(0, true)
  const header = JSON.parse(new TextDecoder().decode(packed.subarray(4, 4 + length)))
  return { header, body: packed.subarray(4 + length) }
}

/** @type {(body: Uint8Array<ArrayBuffer>, place: Place) => Uint8Array<ArrayBuffer>} */
const slice = (body, [start, length]) => body.subarray(start, start + length)

/**
 * @param {Header["texts"]} texts
 * @param {Header["kinds"][number]} kind
 */
const sides = (texts, kind) => ({ queryText: texts[kind.queries], keyText: texts[kind.keys] })

/** @type {(stream: Uint8Array<ArrayBuffer>) => Promise<Uint8Array>} */
async function inflate(stream) {
  const { readable, writable } = new DecompressionStream("deflate")
  const writer = writable.getWriter()
  // Waited for only after reading, which makes room for it.
  const written = [writer.write(stream), writer.close()]
  const bytes = await new Response(readable).arrayBuffer()
  await Promise.all(written)
  return new Uint8Array(bytes)
}

// The whole matrix of one head. Of a causal layer only the lower triangle came.
/** @type {(kind: Kind, bytes: Uint8Array, head: number) => Float32Array} */
function headWeights(kind, bytes, head) {
  const [queries, keys] = kind.shape
  if (!kind.causal) return valuesOf(bytes, head * queries * keys, queries * keys)
  const weights = new Float32Array(queries * keys)
  let from = (head * queries * (queries + 1)) / 2
  for (let query = 0; query < queries; query++) {
    for (let key = 0; key <= query; key++) weights[query * keys + key] = VALUE[bytes[from++]]
  }
  return weights
}

// The numbers that so many bytes stand for.
/** @type {(bytes: Uint8Array, start: number, count: number) => Float32Array} */
export function valuesOf(bytes, start, count) {
  const values = new Float32Array(count)
  const own = bytes.subarray(start, start + count)
  for (let cell = 0; cell < own.length; cell++) values[cell] = VALUE[own[cell]]
  return values
}

// The rows and columns of a view: which positions are left, and which of them make one word.
/** @type {(kind: Kind, view: View) => Frame} */
export function frameOf(kind, view) {
  const queries = positionsOf(kind.queryText, view, 0)
  const keys = positionsOf(kind.keyText, view, 1)
  const rows = groupsOf(kind.queryText, view.words, queries)
  const columns = groupsOf(kind.keyText, view.words, keys)
  const plain = rows.length === kind.shape[0] && columns.length === kind.shape[1]
  const renormalised =
    view.special === "renormalised" &&
    !(queries.length === kind.shape[0] && keys.length === kind.shape[1])
  const key = plain ? "plain" : `${view.special} ${view.words} ${view.segments}`
  return { queries, keys, rows, columns, renormalised, plain, key }
}

/** @type {(text: TokenText, view: View, side: number) => number[]} */
function positionsOf(text, view, side) {
  const segment =
    view.segments === "all" || !text.segments ? null : "AB".indexOf(view.segments[side])
  const hidden = view.special === "shown" ? null : text.special
  return [...text.tokens.keys()].filter(
    (position) =>
      !hidden?.[position] && (segment === null || text.segments?.[position] === segment),
  )
}

/** @type {(text: TokenText, words: boolean, positions: number[]) => Group[]} */
function groupsOf(text, words, positions) {
  /** @type {(position: number) => Group} */
  const single = (position) => ({ first: position, last: position, label: text.tokens[position] })
  if (!words || !text.words) return positions.map(single)
  const left = new Set(positions)
  return text.words
    .map(([first, last, label]) => ({ first, last, label }))
    .filter(({ first }) => left.has(first))
}

/** @type {(weights: Float32Array, width: number, frame: Frame) => Float32Array} */
function framed(weights, width, frame) {
  if (frame.plain) return weights
  const { queries, keys, rows, columns } = frame
  const rowOf = placesOf(rows)
  const columnOf = placesOf(columns)
  const cells = new Float64Array(rows.length * columns.length)
  for (const query of queries) {
    let sum = 1
    if (frame.renormalised)
      sum = keys.reduce((total, key) => total + weights[query * width + key], 0) || 1
    const row = /** @type {number} */ (rowOf.get(query))
    const share = 1 / (sum * (rows[row].last - rows[row].first + 1))
    for (const key of keys) {
      const column = /** @type {number} */ (columnOf.get(key))
      cells[row * columns.length + column] += weights[query * width + key] * share
    }
  }
  return Float32Array.from(cells)
}

// Which row or column a position stands in.
/** @type {(groups: Group[]) => Map<number, number>} */
export function placesOf(groups) {
  /** @type {Map<number, number>} */
  const places = new Map()
  groups.forEach(({ first, last }, place) => {
    for (let position = first; position <= last; position++) places.set(position, place)
  })
  return places
}

// Of so many cells; without matrices they are 0. In parts that stay in the processor's cache until
// every matrix is added, which is twice as fast for a long text.
/** @type {(matrices: Float32Array[], cells?: number) => Float32Array} */
export function meanOf(matrices, cells = matrices[0]?.length ?? 0) {
  if (matrices.length === 1) return matrices[0]
  const mean = new Float32Array(cells)
  for (let start = 0; start < cells; start += PART) {
    const part = mean.subarray(start, start + PART)
    for (const matrix of matrices) {
      const added = matrix.subarray(start, start + PART)
      for (let cell = 0; cell < part.length; cell++) part[cell] += added[cell]
    }
    for (let cell = 0; cell < part.length; cell++) part[cell] /= matrices.length
  }
  return mean
}

/** @type {(matrix: Float32Array) => number} */
export function largestIn(matrix) {
  let largest = 0
  for (let cell = 0; cell < matrix.length; cell++)
    if (matrix[cell] > largest) largest = matrix[cell]
  return largest
}

// What is drawn of a matrix: weights below the threshold, or beyond the largest so many of a query,
// become 0.
/** @type {(matrix: Float32Array, width: number, view: View) => Float32Array} */
export function drawnOf(matrix, width, view) {
  if (!(view.threshold > 0) && !(view.top > 0 && view.top < width)) return matrix
  const drawn = matrix.map((weight) => (weight >= view.threshold ? weight : 0))
  if (view.top > 0 && view.top < width) {
    for (let start = 0; start < drawn.length; start += width) {
      const row = drawn.subarray(start, start + width)
      const order = [...row.keys()].sort((left, right) => row[right] - row[left] || left - right)
      for (const key of order.slice(view.top)) row[key] = 0
    }
  }
  return drawn
}

// How strong a weight is drawn, 0 to 1: its share of what full colour stands for, on the chosen
// scale.
/** @type {(weight: number, largest: number, scale: string) => number} */
export function strengthOf(weight, largest, scale) {
  const share = largest > 0 ? Math.min(weight / largest, 1) : 0
  if (scale === "root") return Math.sqrt(share)
  if (scale === "log")
    return Math.max(0, 1 - Math.log10(Math.max(share, LOWEST)) / Math.log10(LOWEST))
  return share
}

// The largest weight of each block of cells, as packing.py pools its thumbnails.
/**
 * @param {Float32Array} matrix
 * @param {number} rows
 * @param {number} columns
 * @param {number} most
 */
export function pooled(matrix, rows, columns, most) {
  const height = Math.min(rows, most)
  const width = Math.min(columns, most)
  const tile = new Float32Array(height * width)
  for (let row = 0; row < rows; row++) {
    const down = blockOf(row, rows, height)
    for (let column = 0; column < columns; column++) {
      const place = down * width + blockOf(column, columns, width)
      const weight = matrix[row * columns + column]
      if (weight > tile[place]) tile[place] = weight
    }
  }
  return { tile, height, width }
}

// The block b of n that position p of a length falls into: the last whose start, b·length // n, is
// not after it.
/** @type {(position: number, length: number, blocks: number) => number} */
export function blockOf(position, length, blocks) {
  if (blocks === length) return position
  let block = Math.min(blocks - 1, Math.floor(((position + 1) * blocks) / length))
  while (Math.floor((block * length) / blocks) > position) block--
  return block
}

// 0, 1, 2 … below a count.
/** @type {(count: number) => number[]} */
export const counted = (count) => Array.from({ length: count }, (_, index) => index)
