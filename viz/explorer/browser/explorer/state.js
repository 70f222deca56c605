// What is chosen: the view, the heads that are on, the head that the keyboard is at. Nothing here
// draws or asks.
import { counted } from "../data.js"
import { MANY_KEYS } from "../layout.js"
/** @import { Model } from "../data.js" */
/** @import { Chosen, Kind, Site, View, ViewMessage, Pointed } from "../types.js" */

/** @type {Omit<View, "off">} */
const PLAIN = {
  attention: "encoder",
  layer: 0,
  show: "all",
  query: null,
  key: null,
  special: "shown",
  words: false,
  segments: "all",
  threshold: 0,
  top: 0,
  scale: "root",
  maximum: "auto",
  colours: "blue",
  measure: "",
  order: "layers",
}

export class State {
  constructor() {
    /** @type {View} */
    this.view = { ...PLAIN, off: new Set() }
    this.current = 0 // the head that the keyboard is at
    /** @type {Map<string, Set<string>>} */
    this.offOf = new Map() // those of the attentions that are not seen
  }

  // A view from outside: the address, the charts beside the explorer.
  /** @param {Partial<ViewMessage>} view */
  open(view) {
    const off = new Set((view.off ?? []).map(([layer, head]) => `${layer}.${head}`))
    this.view = { ...PLAIN, ...view, off }
  }

  // The view as the server takes it.
  /** @type {() => ViewMessage} */
  message() {
    return { ...this.view, off: sitesOf(this.view.off) }
  }

  // What this model has no place for goes back to what every model has.
  /** @param {Model} model */
  fit(model) {
    const { view } = this
    if (!model.kinds.has(view.attention))
      Object.assign(view, {
        attention: model.header.kinds[0].name,
        off: new Set(),
        query: null,
        key: null,
      })
    const kind = model.kindOf(view.attention)
    view.layer = Math.min(view.layer, kind.layers - 1)
    if (!((view.query ?? 0) < kind.shape[0])) view.query = null
    if (!((view.key ?? 0) < kind.shape[1])) view.key = null
    const on = this.headsOn(kind)
    this.current = on.length === 1 ? on[0] : Math.min(this.current, kind.heads - 1)
  }

  // Heads that are off are those of one attention: each gets its own back.
  /** @param {string} attention */
  openKind(attention) {
    this.offOf.set(this.view.attention, this.view.off)
    Object.assign(this.view, {
      attention,
      off: this.offOf.get(attention) ?? new Set(),
      query: null,
      key: null,
    })
  }

  /** @type {(kind: Kind, layer?: number) => number[]} */
  headsOn(kind, layer = this.view.layer) {
    return counted(kind.heads).filter((head) => !this.view.off.has(`${layer}.${head}`))
  }

  /** @type {(kind: Kind, layer: number, on: number[]) => void} */
  setHeads(kind, layer, on) {
    for (let head = 0; head < kind.heads; head++) {
      if (on.includes(head)) this.view.off.delete(`${layer}.${head}`)
      else this.view.off.add(`${layer}.${head}`)
    }
  }

  /** @type {(layer: number, head: number) => void} */
  toggle(layer, head) {
    const site = `${layer}.${head}`
    if (!this.view.off.delete(site)) this.view.off.add(site)
    this.current = head
  }

  // The heads of the layer that is seen, by the name of a button.
  /** @type {(kind: Kind, name: string) => void} */
  chooseHeads(kind, name) {
    const all = counted(kind.heads)
    const on = this.headsOn(kind)
    /** @type {Record<string, number[]>} */
    const chosen = {
      every: all,
      none: [],
      only: [this.current],
      invert: all.filter((head) => !on.includes(head)),
      layer: on.length ? [] : all,
    }
    this.setHeads(kind, this.view.layer, chosen[name])
  }

  // One head alone. Layers that stood at one head, because they were looked at like this, get all
  // of theirs back.
  /** @type {(kind: Kind, layer: number, head: number) => void} */
  solo(kind, layer, head) {
    const all = counted(kind.heads)
    for (const other of counted(kind.layers))
      if (this.headsOn(kind, other).length === 1) this.setHeads(kind, other, all)
    this.setHeads(kind, layer, [head])
    this.view.layer = layer
    this.current = head
  }

  // A layer with all of its heads; with none, where it is to be emptied and had some.
  /** @type {(kind: Kind, layer: number, emptied: boolean) => void} */
  openLayer(kind, layer, emptied) {
    this.setHeads(
      kind,
      layer,
      emptied && this.headsOn(kind, layer).length ? [] : counted(kind.heads),
    )
    this.view.layer = layer
  }

  // A click keeps a token; another on the same one lets it go.
  /** @param {Pointed} place */
  keep(place) {
    const { query, key } = this.view
    const same = query === (place.query ?? null) && key === (place.key ?? null)
    this.view.query = same ? null : (place.query ?? null)
    this.view.key = same ? null : (place.key ?? null)
  }

  // A key beside the query that is kept; another time on the same one lets the key go.
  /** @param {number} key */
  keepKey(key) {
    this.view.key = this.view.key === key ? null : key
  }

  // A copy: a scene shows the numbers of its own layer, whatever is chosen while the next is
  // awaited.
  /** @type {(kind: Kind) => Chosen} */
  chosen(kind) {
    const off = new Set(this.view.off)
    return {
      view: { ...this.view, maximum: this.maximumOf(kind), off },
      maximum: this.view.maximum,
      off,
      heads: this.headsOn(kind),
      current: this.current,
    }
  }

  // What full colour stands for, where nobody chose it: as View.scaled_for has it.
  /** @type {(kind: Kind) => string} */
  maximumOf(kind) {
    if (this.view.maximum !== "auto") return this.view.maximum
    return kind.shape[1] > MANY_KEYS ? "head" : "one"
  }
}

// "1.3" as [1, 3], in the order of layers and heads.
/** @type {(off: Set<string>) => Site[]} */
export const sitesOf = (off) =>
  [...off]
    .map((site) => /** @type {Site} */ (site.split(".").map(Number)))
    .sort((left, right) => left[0] - right[0] || left[1] - right[1])
