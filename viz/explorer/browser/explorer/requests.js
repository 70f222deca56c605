// Exact numbers: which question brings those that are wanted, and the answers that have come.
import { counted } from "../data.js"
import { isCell } from "./scene.js"
import { sitesOf } from "./state.js"
/** @import { Active, Block, ExactRow, Group, Pointed, Scene, Site, View } from "../types.js" */

const MOST_ANSWERS = 300

export class Requests {
  constructor() {
    this.name = ""
    /** @type {Map<string | null, ExactRow>} */
    this.answers = new Map()
  }

  // From now on of the numbers of this name: no answer is one of them.
  /** @param {string} name */
  begin(name) {
    this.name = name
    this.answers.clear()
  }

  /** @param {ExactRow} reply */
  add(reply) {
    if (this.answers.size >= MOST_ANSWERS) this.answers.clear()
    this.answers.set(reply.request, reply)
  }

  /** @param {string} request */
  has(request) {
    return this.answers.has(request)
  }

  /** @type {(request: string | null) => ExactRow | undefined} */
  answer(request) {
    return this.answers.get(request)
  }

  // What has to be known in full for what is said, and in the table for what is shown.
  /** @type {(scene: Scene, active: Active) => string | null} */
  needed(scene, active) {
    if (active.layer !== undefined) return this.ofTile(scene, active)
    if (!scene.heads.length) return null
    if (active.row >= 0 || scene.view.show === "table")
      return this.ofRow(scene, Math.max(active.row, 0))
    return active.column >= 0 ? this.ofColumn(scene, active.column) : null
  }

  // The row of a query, of the heads that are on.
  /** @type {(scene: Scene, row: number) => string | null} */
  ofRow(scene, row) {
    const { view, frame } = scene
    return this.question(view, view.layer, offHere(view), frame.rows[row])
  }

  // The row of the query that gives a key most, which only the exact numbers tell.
  /** @type {(scene: Scene, column: number) => string | null} */
  ofColumn(scene, column) {
    const { view, frame } = scene
    return this.question(view, view.layer, offHere(view), null, frame.columns[column])
  }

  // The row that a cell of a thumbnail lies in, of its head alone, or of the mean of the heads of
  // its layer.
  /** @type {(scene: Scene, place: Pointed) => string | null} */
  ofTile(scene, { layer, head, block }) {
    const { kind, view, frame } = scene
    if (layer === undefined || head === undefined || !block) return null
    if (!isCell(scene, block) || layer >= kind.layers) return null
    const others = head < kind.heads ? counted(kind.heads).filter((other) => other !== head) : []
    /** @type {Site[]} */
    const off = others.map((other) => [layer, other])
    return this.question(view, layer, off, frame.rows[block.row])
  }

  /**
   * @param {View} view
   * @param {number} layer
   * @param {Site[]} off
   * @param {Group | null} query
   * @param {Group | null} [key]
   */
  question(view, layer, off, query, key = null) {
    const asked = key ? { query: null, key: key.first } : query && { query: query.first }
    if (!asked) return null
    const { attention, special, words, segments } = view
    const { name } = this
    return JSON.stringify({ name, attention, layer, off, special, words, segments, ...asked })
  }
}

/** @type {(view: View) => Site[]} */
const offHere = (view) => sitesOf(view.off).filter(([layer]) => layer === view.layer)
