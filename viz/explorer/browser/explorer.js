// The explorer: one model's attention, one view of it, and all pictures of that view.
import { Controls, KINDS, SHOWS, counted } from "./controls.js"
import {
  Model,
  blockOf,
  drawnOf,
  frameOf,
  largestIn,
  meanOf,
  placesOf,
  pooled,
  valuesOf,
} from "./data.js"
import { Grid, standsBeside } from "./grid.js"
import { MANY_KEYS, PANELS_OF, THUMB_SIDE, TITLES } from "./layout.js"
import { Lines } from "./lines.js"
import { Matrix } from "./matrix.js"
import { el, shadesOf, themeOf } from "./paint.js"
import { Table, Words, named } from "./words.js"

const REST = 300 // milliseconds without a movement before the server is asked or told
const NEAR = 30 // milliseconds over what opens a layer before it is asked for: less is passing by
const MOST_ANSWERS = 300
const PANELS = ["text", "grid", "lines", "matrix", "table"]
export const PLAIN = {
  attention: "encoder",
  layer: 0,
  off: [],
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
}

export class Explorer {
  // `server` may be asked and told: commit(view), exact(request), layer(request), drawn(). Without one, what the browser has must do.
  constructor(root, server = null) {
    this.root = root
    root.explorer = this // where scripts find it
    this.server = server
    this.view = { ...PLAIN, off: new Set() }
    this.hovered = null
    this.current = 0 // the head that the keyboard is at
    this.answers = new Map()
    this.offOf = new Map()
    this.around = { "zoom 1": "" } // what screen-reader users have heard of all around the number
    this.waiting = null // the layer that is on its way
    this.build()
  }

  build() {
    const hover = (place) => this.hover(place)
    const picked = {
      hover,
      choose: (place) => this.keep(place),
      chooseKey: (key) => this.keepKey(key),
      redraw: () => this.schedule(),
    }
    const tiles = {
      hover,
      redraw: picked.redraw,
      choose: (place, event) => this.chooseTile(place, event),
      open: (place) => this.openTile(place),
    }
    this.controls = new Controls({
      change: (changes) => this.change(changes),
      kind: (name) => this.changeKind(name),
      near: (layer) => this.near(layer),
      toggle: (head) => this.toggle(this.view.layer, head),
      heads: (name) => this.chooseHeads(name),
      zoom: (name) => this.zoom(name),
    })
    this.grid = new Grid(tiles)
    this.lines = new Lines(picked)
    this.matrix = new Matrix(picked)
    this.words = new Words(picked)
    this.table = new Table()
    this.said = el("span", { className: "said" })
    this.exact = el("code", { className: "exact" })
    this.copy = el("button", {
      type: "button",
      className: "copy",
      textContent: "Copy",
      hidden: true,
      onclick: () => this.copyExact(),
    })
    this.live = el("div", { className: "live", role: "status", "aria-live": "polite" })
    this.panels = new Map(PANELS.map((name) => [name, this.panel(name)]))
    this.views = el("div", { className: "views" }, ...this.panels.values())
    this.readout = el("div", { className: "readout" }, this.said, this.exact, this.copy)
    // It can be focused, by a click: whoever has clicked into a picture may go on with the keys.
    this.frameElement = el(
      "div",
      { className: "explorer", tabIndex: -1, onkeydown: (event) => this.press(event) },
      this.controls.top,
      this.readout,
      el("div", { className: "body" }, this.views, this.controls.side),
      this.live,
    )
    this.root.replaceChildren(this.frameElement)
    this.observer = new ResizeObserver(() => this.schedule())
    this.observer.observe(this.views)
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.schedule())
    this.frameElement.onfocusout = (event) =>
      this.frameElement.contains(event.relatedTarget) || this.flush()
  }

  panel(name) {
    const host = {
      text: this.words,
      grid: this.grid,
      lines: this.lines,
      matrix: this.matrix,
      table: this.table,
    }[name].host
    return el(
      "section",
      { className: `panel ${name}-panel`, "aria-label": `${TITLES[name]} view` },
      el("p", { className: "title", "aria-hidden": "true" }, TITLES[name]),
      host,
    )
  }

  get kind() {
    return this.model.kinds.get(this.view.attention)
  }

  get shown() {
    return PANELS_OF[this.scene.view.show] ?? [this.scene.view.show]
  }

  // ---- what comes in

  receive(packed) {
    if (packed !== this.packed) {
      this.packed = packed
      const before = this.model && shapeOf(this.model)
      this.model = new Model(packed)
      if (shapeOf(this.model) !== before) this.offOf.clear() // the same heads with other numbers, of muting say, stay off
      this.answers.clear()
      this.hovered = null
    }
    return this.fit()
  }

  // A view from outside, for these numbers: the address, the charts beside the explorer.
  steer(view, packed) {
    this.view = {
      ...PLAIN,
      ...view,
      off: new Set((view.off ?? []).map(([layer, head]) => `${layer}.${head}`)),
    }
    return this.receive(packed)
  }

  addLayers(all) {
    for (const packed of all) this.model?.addLayer(packed)
    if (this.waiting !== null) return this.refresh() // others come before anybody asks
  }

  answer(reply) {
    if (this.answers.size >= MOST_ANSWERS) this.answers.clear()
    this.answers.set(reply.request, reply)
    this.showWords()
  }

  // A view that this model has no place for goes back to what every model has.
  fit() {
    const { view, model } = this
    if (!model.kinds.has(view.attention))
      Object.assign(view, {
        attention: model.header.kinds[0].name,
        off: new Set(),
        query: null,
        key: null,
      })
    const { kind } = this
    view.layer = Math.min(view.layer, kind.layers - 1)
    if (!(view.query < kind.shape[0])) view.query = null
    if (!(view.key < kind.shape[1])) view.key = null
    const on = this.headsOn(kind)
    this.current = on.length === 1 ? on[0] : Math.min(this.current, kind.heads - 1)
    this.controls.fitTo(model, kind)
    return this.refresh()
  }

  // ---- what is chosen

  change(changes) {
    Object.assign(this.view, changes)
    this.changed()
  }

  changed() {
    this.hovered = null
    this.refresh()
    this.speak()
    clearTimeout(this.commitTimer)
    if (!this.server) return
    this.commitTimer = setTimeout(() => this.commit(), REST)
    const { attention, layer } = this.view
    if (!this.model.has(this.kind, layer)) this.server.layer({ attention, layer })
  }

  // Whoever points at a layer may open it: its numbers come while the pointer is on its way to press.
  near(layer) {
    clearTimeout(this.nearTimer)
    const { kind, server } = this
    if (!server || !(layer < kind.layers) || this.model.has(kind, layer)) return
    this.nearTimer = setTimeout(() => server.layer({ attention: kind.name, layer }), NEAR)
  }

  // Tell the server at once what it has not been told yet.
  flush() {
    if (this.commitTimer) this.commit()
  }

  // What the server has not been told yet stays untold.
  forget() {
    clearTimeout(this.commitTimer)
    this.commitTimer = null
  }

  commit() {
    clearTimeout(this.commitTimer)
    this.commitTimer = null
    this.server.commit({
      ...this.view,
      off: [...this.view.off].map((site) => site.split(".").map(Number)).sort(bySite),
    })
  }

  // Heads that are off are those of one attention: each gets its own back.
  changeKind(attention) {
    this.offOf.set(this.view.attention, this.view.off)
    Object.assign(this.view, {
      attention,
      off: this.offOf.get(attention) ?? new Set(),
      query: null,
      key: null,
    })
    this.fit()
    this.changed()
  }

  headsOn(kind, layer = this.view.layer) {
    return counted(kind.heads).filter((head) => !this.view.off.has(`${layer}.${head}`))
  }

  setHeads(layer, on) {
    const { heads } = this.kind
    for (let head = 0; head < heads; head++) {
      if (on.includes(head)) this.view.off.delete(`${layer}.${head}`)
      else this.view.off.add(`${layer}.${head}`)
    }
  }

  toggle(layer, head) {
    const site = `${layer}.${head}`
    if (!this.view.off.delete(site)) this.view.off.add(site)
    this.current = head
    this.changed()
  }

  chooseHeads(name) {
    const { kind } = this
    const all = counted(kind.heads)
    const on = this.headsOn(kind)
    const chosen = {
      every: all,
      none: [],
      only: [this.current],
      invert: all.filter((head) => !on.includes(head)),
      layer: on.length ? [] : all,
    }
    this.setHeads(this.view.layer, chosen[name])
    this.changed()
  }

  // One head alone. Layers that stood at one head, because they were looked at like this, get all of theirs back.
  solo(layer, head) {
    const { kind } = this
    const all = counted(kind.heads)
    for (let other = 0; other < kind.layers; other++)
      if (this.headsOn(kind, other).length === 1) this.setHeads(other, all)
    this.setHeads(layer, [head])
    this.view.layer = layer
    this.current = head
    this.changed()
  }

  chooseTile(place, event) {
    if (!place) return
    const { layers, heads } = this.kind
    if (place.layer >= layers) return
    if (place.head === undefined || place.head >= heads) this.chooseLayer(place.layer, event)
    else if (event.shiftKey || event.ctrlKey || event.metaKey) this.toggle(place.layer, place.head)
    else this.solo(place.layer, place.head)
  }

  // The mean of a layer, or its number: all of its heads.
  chooseLayer(layer, event) {
    const { kind } = this
    const all = counted(kind.heads)
    this.setHeads(layer, event.shiftKey && this.headsOn(kind, layer).length ? [] : all)
    this.view.layer = layer
    this.changed()
  }

  openTile(place) {
    if (place?.head !== undefined && place.layer < this.kind.layers) this.change({ show: "matrix" })
  }

  // A click keeps a token; another on the same one lets it go.
  keep(place) {
    if (!place) return
    const sides = Object.keys(place)
    const same =
      sides.every((side) => this.view[side] === place[side]) &&
      ["query", "key"].every((side) => sides.includes(side) || this.view[side] === null)
    this.view.query = same ? null : (place.query ?? null)
    this.view.key = same ? null : (place.key ?? null)
    this.changed()
    this.ask()
  }

  // A key beside the query that is kept; another time on the same one lets the key go.
  keepKey(key) {
    this.view.key = this.view.key === key ? null : key
    this.changed()
    this.ask()
  }

  hover(place) {
    this.hovered = place
    this.near(place?.layer)
    clearTimeout(this.restTimer)
    this.restTimer = setTimeout(() => this.rested(), REST)
    this.scheduleOverlay()
  }

  rested() {
    if (!this.scene || this.waiting !== null) return this.speak() // there is nothing yet to ask about
    this.ask()
    this.live.textContent = this.spoken()
  }

  // For screen-reader users: where one is, with its number, and what has changed around it.
  spoken() {
    const { kind, view } = this.scene
    const { tokens } = kind.queryText
    const { zoom } = this.shown.includes("matrix") ? this.matrix : this.lines
    const around = {
      [tokens.join("\n")]: `${tokens.length} tokens.`,
      [kind.name]: `Attention: ${KINDS[kind.name]}.`,
      [view.show]: `${SHOWS[view.show]}.`,
      [`zoom ${zoom}`]: `Zoom ${zoom.toFixed(1)}.`,
      [this.controls.note.textContent]: this.controls.note.textContent,
    }
    const changed = Object.keys(around).filter((what) => !(what in this.around))
    this.around = around
    return [...changed.map((what) => around[what]), this.said.textContent, this.exact.textContent]
      .filter(Boolean)
      .join(" ")
  }

  press(event) {
    const typing = ["INPUT", "SELECT", "TEXTAREA"].includes(event.composedPath()[0]?.tagName)
    if (typing || event.ctrlKey || event.metaKey || event.altKey || !this.model) return
    const { kind } = this
    const wrapped = (index, step, count) => (index + step + count) % count
    const onButton = ["BUTTON", "SUMMARY"].includes(event.composedPath()[0]?.tagName)
    if (
      event.composedPath().includes(this.table.host) &&
      (event.key === " " || event.key.startsWith("Arrow"))
    )
      return // it scrolls
    const step = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 }[event.key]
    if (event.shiftKey && step) return this.pan(event, step)
    const has = (setting) => this.controls.settings.has(setting)
    const cycle = { shown: "hidden", hidden: "renormalised", renormalised: "shown" }
    const act = {
      ArrowUp: () => this.change({ layer: wrapped(this.view.layer, step, kind.layers) }),
      ArrowLeft: () => this.solo(this.view.layer, wrapped(this.current, step, kind.heads)),
      " ": onButton ? null : () => this.toggle(this.view.layer, this.current),
      a: () => this.chooseHeads("every"),
      n: () => this.chooseHeads("none"),
      i: () => this.chooseHeads("invert"),
      o: () => this.chooseHeads("only"),
      l: () => this.chooseHeads("layer"),
      s: has("special") && (() => this.change({ special: cycle[this.view.special] })),
      w: has("words") && (() => this.change({ words: !this.view.words })),
      "+": () => this.controls.actions.zoom("zoomIn"),
      "-": () => this.controls.actions.zoom("zoomOut"),
      0: () => this.controls.actions.zoom("zoomReset"),
      Escape: () => this.change({ query: null, key: null }),
      "?": () => this.controls.toggleKeys(),
    }
    Object.assign(act, { ArrowDown: act.ArrowUp, ArrowRight: act.ArrowLeft })
    Object.keys(SHOWS).forEach((show, index) => (act[index + 1] = () => this.change({ show })))
    const found = act[event.key.length === 1 ? event.key.toLowerCase() : event.key]
    if (!found) return
    event.preventDefault()
    found()
    this.speak()
  }

  zoom(name) {
    for (const stack of [this.lines, this.matrix]) if (stack.inner) stack[name]()
    this.speak()
  }

  pan(event, step) {
    event.preventDefault()
    const [across, down] = ["ArrowLeft", "ArrowRight"].includes(event.key) ? [step, 0] : [0, step]
    for (const stack of [this.lines, this.matrix]) stack.pan(across, down)
  }

  // After a key, the line for screen readers says where it led.
  speak() {
    clearTimeout(this.restTimer)
    this.restTimer = setTimeout(() => this.rested(), REST)
  }

  // ---- what is shown

  async refresh() {
    const [model, view] = [this.model, this.view]
    if (!model) return
    const kind = model.kinds.get(view.attention)
    const thumbs = await model.thumbnails(kind)
    this.waiting = null
    if (!(await model.layer(kind, view.layer))) {
      this.waiting = view.layer
      if (this.scene) this.controls.show({ ...this.scene, ...this.chosen() })
      this.said.textContent = `Layer ${view.layer + 1} is on its way.`
      return
    }
    if (
      this.model !== model ||
      model.kinds.get(this.view.attention) !== kind ||
      !model.ready(kind, this.view.layer)
    )
      return
    if (this.scene && this.scene.model !== model) this.speak()
    this.scene = { ...this.sceneOf(kind, thumbs), ...this.chosen() }
    this.dirty = true
    this.paint() // at once: the next frame shows it, where waiting for that frame would show it one later
    if (view.query !== null || view.key !== null || view.show === "table") this.speak() // what an address keeps is asked for as if it had been clicked
  }

  // A copy of what is chosen: a scene shows the numbers of its own layer, whatever is chosen while the next is awaited.
  chosen() {
    const view = { ...this.view, maximum: this.maximumOf(this.kind), off: new Set(this.view.off) }
    return {
      view,
      maximum: this.view.maximum,
      off: view.off,
      heads: this.headsOn(this.kind),
      current: this.current,
    }
  }

  // What full colour stands for, where nobody chose it: as View.scaled_for has it.
  maximumOf(kind) {
    if (this.view.maximum !== "auto") return this.view.maximum
    return kind.shape[1] > MANY_KEYS ? "head" : "one"
  }

  sceneOf(kind, thumbs) {
    const { model, view } = this
    const frame = frameOf(kind, view)
    const heads = this.headsOn(kind)
    const matrices = new Map(
      heads.map((head) => [head, model.matrix(kind, view.layer, head, frame)]),
    )
    const width = frame.columns.length
    const mean = meanOf([...matrices.values()], frame.rows.length * width)
    const maximum = this.maximumOf(kind)
    // Once a head and not once a line: to look through every weight of a long text takes a millisecond.
    const largest = new Map(
      [...matrices].map(([head, matrix]) => [head, maximum === "one" ? 1 : largestIn(matrix)]),
    )
    const shared = maximum === "shared" ? Math.max(0, ...largest.values()) : null
    return {
      model,
      kind,
      frame,
      matrices,
      mean,
      thumbs,
      numbers: new Map([...matrices].map(([head, matrix]) => [head, drawnOf(matrix, width, view)])),
      drawnMean: drawnOf(mean, width, view),
      full: (head) => shared ?? largest.get(head),
      fullMean: shared ?? (maximum === "one" ? 1 : largestIn(mean)),
      rowOf: placesOf(frame.rows),
      columnOf: placesOf(frame.columns),
      tilesPlain: frame.plain || !model.whole,
    }
  }

  schedule() {
    this.dirty = true
    this.scheduleOverlay()
  }

  scheduleOverlay() {
    if (this.frameRequest || !this.scene) return
    this.frameRequest = requestAnimationFrame(() => this.paint())
  }

  paint() {
    cancelAnimationFrame(this.frameRequest)
    this.frameRequest = null
    if (this.dirty) this.draw()
    this.dirty = false
    this.drawOverlays()
    this.painted = (this.painted ?? 0) + 1
    this.server?.drawn()
  }

  draw() {
    const { scene } = this
    scene.theme = themeOf(this.root)
    scene.shades = shadesOf(scene.theme, scene.view.colours)
    this.root.style.setProperty("--quiet", scene.theme.quiet)
    const { shown } = this
    this.views.className = `views show-${scene.view.show}${standsBeside(scene.kind, this.views.clientWidth) ? " beside" : ""}`
    for (const [name, panel] of this.panels) panel.hidden = !shown.includes(name)
    this.controls.show(scene)
    this.buildWords(scene)
    if (shown.includes("grid")) this.drawGrid(scene)
    if (shown.includes("matrix")) this.matrix.setNumbers(scene)
    for (const name of ["lines", "matrix"])
      if (shown.includes(name)) this[name].draw(scene, this[name].host.clientWidth)
    this.controls.tell(scene, shown.includes("lines") && this.lines.more)
  }

  buildWords(scene) {
    const key = `${scene.kind.name} ${scene.frame.key}`
    if (this.wordsOf === scene.model && this.wordsKey === key) return
    this.wordsOf = scene.model
    this.wordsKey = key
    this.words.build(scene)
  }

  drawGrid(scene) {
    const { view, kind, frame, theme } = scene
    const key = [
      kind.name,
      scene.tilesPlain ? "plain" : frame.key,
      view.scale,
      view.maximum,
      view.colours,
      theme.dark,
    ].join(" ")
    if (this.tilesOf !== scene.model || this.tilesKey !== key) {
      if (this.tilesOf !== scene.model) this.grid.forget()
      this.tilesOf = scene.model
      this.tilesKey = key
      if (scene.tilesPlain) this.grid.setTiles(plainTiles(scene), scene)
      else this.framedTiles(scene, key)
    }
    this.grid.draw(scene, this.grid.host.clientWidth)
  }

  // Thumbnails of a view that leaves tokens out or merges them: computed here, layer by layer, while the page goes on.
  async framedTiles(scene, key) {
    const { model, kind, frame } = scene
    const [rows, columns] = [frame.rows.length, frame.columns.length]
    const tileOf = (matrix) => withLargest(pooled(matrix, rows, columns, THUMB_SIDE))
    const [heads, layerMeans, sums] = [[], [], []]
    for (let layer = 0; layer < kind.layers; layer++) {
      await model.layer(kind, layer)
      if (this.tilesOf !== model || this.tilesKey !== key) return
      const matrices = counted(kind.heads).map((head) => model.matrix(kind, layer, head, frame))
      heads.push(...matrices.map(tileOf))
      layerMeans.push(tileOf(meanOf(matrices)))
      matrices.forEach((matrix, head) => {
        sums[head] ??= new Float32Array(matrix.length)
        for (let cell = 0; cell < matrix.length; cell++)
          sums[head][cell] += matrix[cell] / kind.layers
      })
    }
    this.grid.setTiles([...heads, ...layerMeans, ...sums.map(tileOf)], scene)
    this.schedule()
  }

  get active() {
    const { scene, view } = this
    const place = this.hovered ?? { query: view.query, key: view.key }
    const where = (places, position) =>
      position === null || position === undefined ? -1 : (places.get(position) ?? -1)
    return {
      ...place,
      row: where(scene.rowOf, place.query),
      column: where(scene.columnOf, place.key),
    }
  }

  drawOverlays() {
    const { scene, active } = this
    const { shown } = this
    for (const name of ["grid", "lines", "matrix"])
      if (shown.includes(name)) this[name].drawOverlay(scene, active)
    this.showWords()
  }

  showWords() {
    if (this.scene?.model !== this.model) return // other numbers have come, and are said once they are drawn
    const { scene, active } = this
    const { shown } = this
    if (shown.includes("text")) this.words.show(scene, active)
    if (shown.includes("table"))
      this.table.show(scene, active, this.answers.get(this.requestOf(Math.max(active.row, 0))))
    const { text, value } = this.sentence(active)
    this.said.textContent = text
    this.exact.textContent = value ?? ""
    this.exact.hidden = this.copy.hidden = !value
  }

  // What the pointer, or the token that is kept, says in words: query attends to key, always in that order.
  sentence(active) {
    const { scene } = this
    if (this.waiting !== null) return { text: `Layer ${this.waiting + 1} is on its way.` }
    const { frame, heads, mean, view } = scene
    if (active.layer !== undefined) return this.tileSentence(active)
    if (!heads.length)
      return { text: `No head of layer ${view.layer + 1} is on: press All, or switch one on.` }
    const who =
      heads.length === 1
        ? `Layer ${view.layer + 1}, head ${heads[0] + 1}`
        : `Layer ${view.layer + 1}, mean of ${heads.length} heads`
    const [query, key] = [frame.rows[active.row], frame.columns[active.column]]
    const columns = frame.columns.length
    if (!frame.rows.length || !columns) return { text: `${who}. No token is left to look at.` }
    if (!query && !key)
      return { text: `${who}. Point at a token or a cell to read its weights, click to keep it.` }
    if (query) {
      const exact = this.answers.get(this.requestOf(active.row))
      const row = exact
        ? exact.mean.map(Number)
        : [...mean.subarray(active.row * columns, (active.row + 1) * columns)]
      const place = key ? active.column : row.indexOf(Math.max(...row))
      const text = `${who}: query ${named(query)} attends ${key ? "to" : "most to"} key ${named(frame.columns[place])}:`
      return withValue(text, exact?.mean[place], row[place])
    }
    const exact = this.answers.get(this.giverOf(active.column))
    const weights = frame.rows.map((_, row) => mean[row * columns + active.column])
    const row = exact ? scene.rowOf.get(exact.query) : weights.indexOf(Math.max(...weights)) // of two that are one byte, the first
    const text = `${who}: key ${named(key)} gets most from query ${named(frame.rows[row])}:`
    return withValue(text, exact?.mean[active.column], weights[row])
  }

  tileSentence(active) {
    const { layer, head, block } = active
    const { kind, frame } = this.scene
    const who = [
      layer < kind.layers ? `layer ${layer + 1}` : "mean over the layers",
      head === undefined ? "" : head < kind.heads ? `head ${head + 1}` : "mean of its heads",
    ]
      .filter(Boolean)
      .join(", ")
    if (!block) return { text: `${who}: click to see all of its heads.` }
    const range = (groups, place, blocks) => {
      const inside = groups.filter((_, index) => blockOf(index, groups.length, blocks) === place)
      return inside.length > 1
        ? `tokens ${inside[0].first + 1} to ${inside.at(-1).last + 1}`
        : inside.length
          ? named(inside[0])
          : ""
    }
    if (this.scene.tilesPlain && !frame.plain) return { text: `${who}.` }
    const { rows, columns } = frame
    const text = `${who}: query ${range(rows, block.row, block.rows)} attends to key ${range(columns, block.column, block.columns)}:`
    if (!this.isCell(block)) return { text: `${text} at most ≈ ${approximately(block.weight)}` }
    return withValue(
      text,
      this.answers.get(this.tileRequest(active))?.mean[block.column],
      block.weight,
    )
  }

  // Whether a block of a thumbnail is one query and one key.
  isCell(block) {
    const { frame, tilesPlain } = this.scene
    return (
      (frame.plain || !tilesPlain) &&
      block.rows === frame.rows.length &&
      block.columns === frame.columns.length
    )
  }

  // ---- exact numbers

  requestOf(row) {
    const { view, frame } = this.scene
    return this.requestFor(view.layer, this.offHere(), frame.rows[row])
  }

  // The row of the query that gives a key most, which only the exact numbers tell.
  giverOf(column) {
    const { view, frame } = this.scene
    return this.requestFor(view.layer, this.offHere(), null, frame.columns[column])
  }

  offHere() {
    const { view } = this.scene
    return [...view.off]
      .map((site) => site.split(".").map(Number))
      .filter(([of]) => of === view.layer)
      .sort(bySite)
  }

  // The row that a cell of a thumbnail lies in, of its head alone, or of the mean of the heads of its layer.
  tileRequest({ layer, head, block }) {
    const { kind } = this.scene
    if (!block || !this.isCell(block) || layer >= kind.layers) return null
    const others = head < kind.heads ? counted(kind.heads).filter((other) => other !== head) : []
    return this.requestFor(
      layer,
      others.map((other) => [layer, other]),
      this.scene.frame.rows[block.row],
    )
  }

  requestFor(layer, off, query, key = null) {
    if (!query && !key) return null
    const { attention, special, words, segments } = this.scene.view
    const asked = key ? { query: null, key: key.first } : { query: query.first }
    return JSON.stringify({
      name: this.model.header.name,
      attention,
      layer,
      off,
      special,
      words,
      segments,
      ...asked,
    })
  }

  // What has to be known in full for what is said, and in the table for what is shown.
  needed() {
    const { active, scene } = this
    if (active.layer !== undefined) return this.tileRequest(active)
    if (!scene.heads.length) return null
    if (active.row >= 0 || scene.view.show === "table")
      return this.requestOf(Math.max(active.row, 0))
    return active.column >= 0 ? this.giverOf(active.column) : null
  }

  ask() {
    const request = this.server && this.scene ? this.needed() : null
    if (request && !this.answers.has(request)) this.server.exact(request)
  }

  async copyExact() {
    try {
      await navigator.clipboard.writeText(this.exact.textContent)
      this.copy.textContent = "Copied"
    } catch {
      getSelection().selectAllChildren(this.exact) // without a clipboard, an insecure origin say, by hand
      this.copy.textContent = "Selected"
    }
    setTimeout(() => (this.copy.textContent = "Copy"), 1500)
  }
}

const shapeOf = ({ kinds }) =>
  [...kinds.values()].map(({ name, layers, heads }) => `${name} ${layers} ${heads}`).join()

const bySite = (left, right) => left[0] - right[0] || left[1] - right[1]

const withValue = (text, exact, weight) =>
  exact ? { text, value: exact } : { text: `${text} ≈ ${approximately(weight)}` }

const approximately = (weight) =>
  weight >= 0.0005 || weight === 0 ? weight.toFixed(3) : weight.toExponential(0)

const withLargest = (found) => ({ ...found, largest: largestIn(found.tile) })

function plainTiles({ kind, thumbs }) {
  const [height, width] = kind.thumb_shape
  const count = kind.layers * kind.heads + kind.layers + kind.heads
  const size = height * width
  return Array.from({ length: count }, (_, number) =>
    withLargest({ tile: valuesOf(thumbs, number * size, size), height, width }),
  )
}
