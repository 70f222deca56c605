// The arithmetic of one row of weights: what the model makes of overwritten ones, and which
// overwritten ones give a wanted row. The same as model/edits/interventions.py, overwrite.
/** @import { Row } from "./weight_editor_types.js" */

const DIGITS = 4 // significant, of an overwritten weight: what an address has room for
const SAME = 1e-7

// The weights with these in the place of some, divided by their sum where one of them asks for it.
/** @type {(base: Float32Array, cells: Row | undefined) => Float32Array} */
export function rowOf(base, cells) {
  const row = Float32Array.from(base)
  let divided = false
  for (const [key, { value, renormalise }] of cells ?? []) {
    row[key] = value
    divided ||= renormalise
  }
  const sum = rowSum(row)
  return divided && sum > 0 ? row.map((weight) => weight / sum) : row
}

/** @type {(row: Float32Array) => number} */
export const rowSum = (row) => row.reduce((sum, weight) => sum + weight, 0)

/** @type {(number: number) => string} */
export const fractions = (number) => String(Number(number.toPrecision(3)))

// The row in which some keys have these weights. renormalises: the others make room, each with its
// share of the rest; else they stay. Null where nothing is left to make room, or to take it.
/** @type {(now: Float32Array, base: Float32Array, mask: Uint8Array, painted: Map<number, number>, renormalises: boolean) => Float64Array | null} */
export function sharedRow(now, base, mask, painted, renormalises) {
  const wanted = Float64Array.from(now)
  for (const [key, value] of painted) wanted[key] = value
  if (!renormalises) return wanted
  const total = [...painted.values()].reduce((sum, value) => sum + value, 0)
  const shares = sharesOf([now, base, mask.map((each) => (each === 1 ? 1 : 0))], painted)
  if (!shares && !total) return null
  const given = !shares || total > 1 ? total : 1
  for (let key = 0; key < wanted.length; key++) {
    const value = painted.get(key)
    if (value !== undefined) wanted[key] = value / given
    else wanted[key] = shares ? shares[key] * Math.max(0, 1 - total) : 0
  }
  return wanted
}

// What each of the other keys has of their sum: as they are, as they were, or all alike.
/** @type {(rows: Iterable<ArrayLike<number>>, painted: Map<number, number>) => number[] | null} */
function sharesOf(rows, painted) {
  for (const row of rows) {
    const others = Array.from(row, (weight, key) => (painted.has(key) ? 0 : weight))
    const sum = others.reduce((total, weight) => total + weight, 0)
    if (sum > 1e-9) return others.map((weight) => weight / sum)
  }
  return null
}

// The fewest overwritten weights that give the row. touched: keys that were set. Where the others
// still have their own shares, those alone; else every weight of the row.
/** @type {(base: Float32Array, wanted: Float64Array, touched: Set<number>, renormalises: boolean) => Row} */
export function encodedRow(base, wanted, touched, renormalises) {
  const isSame = base.every((weight, key) => Math.abs(weight - wanted[key]) <= SAME)
  if (isSame) return new Map()
  if (!renormalises) return overwritten(base, wanted, touched, 1, false)
  const scale = scaleOf(base, wanted, touched)
  if (scale !== null) return overwritten(base, wanted, touched, scale, true)
  const largest = wanted.reduce((most, weight) => Math.max(most, weight), 0)
  const every = new Set([...wanted.keys()].filter((key) => base[key] || wanted[key]))
  return overwritten(base, wanted, every, 1 / largest, true)
}

// By how much the row is larger before it is divided, if all but the touched keys have their shares
// in it and none is above 1; null where that cannot be.
/** @type {(base: Float32Array, wanted: Float64Array, touched: Set<number>) => number | null} */
function scaleOf(base, wanted, touched) {
  let [own, left] = [0, 0]
  for (const key of wanted.keys()) {
    if (touched.has(key)) continue
    own += base[key]
    left += wanted[key]
  }
  if (own <= 1e-9 || left <= 1e-9) return null
  const scale = own / left
  for (const key of wanted.keys()) {
    if (touched.has(key) ? wanted[key] * scale > 1 : !near(wanted[key] * scale, base[key]))
      return null
  }
  return scale
}

/** @type {(one: number, other: number) => boolean} */
const near = (one, other) => Math.abs(one - other) <= 1e-3 * Math.max(one, other) + SAME

/** @type {(base: Float32Array, wanted: Float64Array, keys: Set<number>, scale: number, renormalise: boolean) => Row} */
function overwritten(base, wanted, keys, scale, renormalise) {
  /** @type {Row} */
  const row = new Map()
  for (const key of wanted.keys()) {
    const changes = !renormalise && Math.abs(wanted[key] - base[key]) > SAME
    if (keys.has(key) || changes) {
      const value = Number((wanted[key] * scale).toPrecision(DIGITS))
      row.set(key, { value: Math.min(1, Math.max(0, value)), renormalise })
    }
  }
  return row
}

// The keys whose weights were set. Of a row that is overwritten as a whole not the ones that only
// make room, each with its share of the rest, where these are the most. Where none asks for its row
// to be divided, those that are other than they were.
/** @type {(base: Float32Array, cells: Row) => Set<number>} */
export function setKeys(base, cells) {
  const keys = [...cells.keys()]
  if (![...cells.values()].some((cell) => cell.renormalise))
    return new Set(keys.filter((key) => !near(cells.get(key)?.value ?? 0, base[key])))
  if (base.some((weight, key) => weight && !cells.has(key))) return new Set(keys)
  const ratios = keys.map((key) => (cells.get(key)?.value ?? 0) / Math.max(base[key], SAME))
  const alike = ratios.map((ratio) => keys.filter((_, place) => near(ratio, ratios[place])))
  const room = alike.reduce((most, group) => (group.length > most.length ? group : most), [])
  return new Set(2 * room.length > keys.length ? keys.filter((key) => !room.includes(key)) : keys)
}
