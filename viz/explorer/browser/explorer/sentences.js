// What is said in words: of what is pointed at or kept, and, to screen-reader users, of what has
// changed.
import { KINDS, SHOWS } from "./controls.js"
import { blockOf } from "../data.js"
import { el } from "../element.js"
import { isCell } from "./scene.js"
import { valueText } from "../panels/grid.js"
import { named } from "../panels/words.js"
/** @import { Requests } from "./requests.js" */
/** @import { Active, ExactRow, Group, Kind, Scene, Sentence } from "../types.js" */

const COPIED = 1500 // milliseconds that the button says what it did

// The line over the pictures: a sentence, its exact number, a button that copies that; and the line
// that is read aloud.
export class Readout {
  constructor() {
    this.sentence = el("span", { className: "said" })
    this.exact = el("code", { className: "exact" })
    this.copy = el("button", {
      type: "button",
      className: "copy",
      textContent: "Copy",
      hidden: true,
      onclick: () => this.copyExact(),
    })
    this.host = el("div", { className: "readout" }, this.sentence, this.exact, this.copy)
    this.live = el("div", { className: "live", role: "status", "aria-live": "polite" })
    /** @type {Record<string, string>} */
    this.around = { "zoom 1": "" } // what screen-reader users have heard of all around the number
  }

  /** @type {(sentence: Sentence) => void} */
  show({ text, value }) {
    this.sentence.textContent = text
    this.exact.textContent = value ?? ""
    this.exact.hidden = this.copy.hidden = !value
  }

  // For screen-reader users: where one is, with its number, and what has changed around it.
  // `around` has a sentence for each fact.
  /** @param {Record<string, string>} around */
  speak(around) {
    const changed = Object.keys(around).filter((fact) => !(fact in this.around))
    this.around = around
    this.live.textContent = [
      ...changed.map((fact) => around[fact]),
      this.sentence.textContent,
      this.exact.textContent,
    ]
      .filter(Boolean)
      .join(" ")
  }

  async copyExact() {
    try {
      await navigator.clipboard.writeText(this.exact.textContent)
      this.copy.textContent = "Copied"
    } catch {
      // Without a clipboard, an insecure origin say, by hand.
      getSelection()?.selectAllChildren(this.exact)
      this.copy.textContent = "Selected"
    }
    setTimeout(() => {
      this.copy.textContent = "Copy"
    }, COPIED)
  }
}

// What stands around the number: the text, the attention, the view, its zoom, and what was done to
// the numbers.
/** @type {(scene: Scene, zoom: number, note: string) => Record<string, string>} */
export function aroundOf({ kind, view }, zoom, note) {
  const { tokens } = kind.queryText
  return {
    [tokens.join("\n")]: `${tokens.length} tokens.`,
    [kind.name]: `Attention: ${KINDS[kind.name]}.`,
    [view.show]: `${SHOWS[view.show]}.`,
    [`zoom ${zoom}`]: `Zoom ${zoom.toFixed(1)}.`,
    [note]: note,
  }
}

/** @type {(layer: number) => Sentence} */
export const awaitedSentence = (layer) => ({ text: `Layer ${layer + 1} is on its way.` })

// What the pointer, or the token that is kept, says in words: query attends to key, always in that
// order.
/** @type {(scene: Scene, active: Active, requests: Requests) => Sentence} */
export function sentenceOf(scene, active, requests) {
  const { frame, heads, view } = scene
  if (active.layer !== undefined) return tileSentence(scene, active.layer, active, requests)
  if (!heads.length)
    return { text: `No head of layer ${view.layer + 1} is on: press All, or switch one on.` }
  const who = headsNamed(scene)
  if (!frame.rows.length || !frame.columns.length)
    return { text: `${who}. No token is left to look at.` }
  if (active.row >= 0) return querySentence(who, scene, active, requests)
  if (active.column >= 0) return keySentence(who, scene, active, requests)
  return { text: `${who}. Point at a token or a cell to read its weights, click to keep it.` }
}

/** @type {(scene: Scene) => string} */
const headsNamed = ({ heads, view }) =>
  heads.length === 1
    ? `Layer ${view.layer + 1}, head ${heads[0] + 1}`
    : `Layer ${view.layer + 1}, mean of ${heads.length} heads`

/** @type {(who: string, scene: Scene, active: Active, requests: Requests) => Sentence} */
function querySentence(who, scene, { row, column }, requests) {
  const { frame, mean } = scene
  const columns = frame.columns.length
  const exact = requests.answer(requests.ofRow(scene, row))
  const weights = exact
    ? exact.mean.map(Number)
    : [...mean.subarray(row * columns, (row + 1) * columns)]
  const place = column >= 0 ? column : weights.indexOf(Math.max(...weights))
  const attends = column >= 0 ? "attends to" : "attends most to"
  const text = `${who}: query ${named(frame.rows[row])} ${attends} key ${named(frame.columns[place])}:`
  return withValue(text, exact?.mean[place], weights[place])
}

/** @type {(who: string, scene: Scene, active: Active, requests: Requests) => Sentence} */
function keySentence(who, scene, { column }, requests) {
  const { frame, mean } = scene
  const exact = requests.answer(requests.ofColumn(scene, column))
  const weights = frame.rows.map((_, row) => mean[row * frame.columns.length + column])
  const largest = weights.indexOf(Math.max(...weights)) // of two that are one byte, the first
  const row = exact ? (scene.rowOf.get(exact.query) ?? largest) : largest
  const text = `${who}: key ${named(frame.columns[column])} gets most from query ${named(frame.rows[row])}:`
  return withValue(text, exact?.mean[column], weights[row])
}

/** @type {(scene: Scene, layer: number, active: Active, requests: Requests) => Sentence} */
function tileSentence(scene, layer, active, requests) {
  const { kind, frame } = scene
  const { head, block } = active
  const who = `${tileNamed(kind, layer, head)}${measureSaid(scene, layer, head)}`
  if (!block) return { text: `${who}: click to see all of its heads.` }
  if (scene.tilesPlain && !frame.plain) return { text: `${who}.` }
  const query = rangeNamed(frame.rows, block.row, block.rows)
  const key = rangeNamed(frame.columns, block.column, block.columns)
  const text = `${who}: query ${query} attends to key ${key}:`
  if (!isCell(scene, block)) return { text: `${text} at most ≈ ${approximately(block.weight)}` }
  const exact = requests.answer(requests.ofTile(scene, active))
  return withValue(text, exact?.mean[block.column], block.weight)
}

// " (entropy (bits) 0.42)", of a head with a bar.
/** @type {(scene: Scene, layer: number, head?: number) => string} */
function measureSaid({ measure }, layer, head) {
  const value = head === undefined ? null : measure?.values[layer]?.[head]
  return measure && value !== null && value !== undefined
    ? `, ${measure.said} ${valueText(value)}`
    : ""
}

/** @type {(kind: Kind, layer: number, head?: number) => string} */
function tileNamed(kind, layer, head) {
  const where = layer < kind.layers ? `layer ${layer + 1}` : "mean over the layers"
  if (head === undefined) return where
  return `${where}, ${head < kind.heads ? `head ${head + 1}` : "mean of its heads"}`
}

// The tokens that a block of a thumbnail stands for.
/** @type {(groups: Group[], place: number, blocks: number) => string} */
function rangeNamed(groups, place, blocks) {
  const inside = groups.filter((_, index) => blockOf(index, groups.length, blocks) === place)
  if (inside.length > 1)
    return `tokens ${inside[0].first + 1} to ${inside[inside.length - 1].last + 1}`
  return inside.length ? named(inside[0]) : ""
}

/** @type {(text: string, exact: string | undefined, weight: number) => Sentence} */
const withValue = (text, exact, weight) =>
  exact ? { text, value: exact } : { text: `${text} ≈ ${approximately(weight)}` }

/** @type {(weight: number) => string} */
const approximately = (weight) =>
  weight >= 0.0005 || weight === 0 ? weight.toFixed(3) : weight.toExponential(0)
