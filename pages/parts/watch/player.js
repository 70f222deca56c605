// A training as a film: curves over its steps, and what every head did at the step that is seen.
import { el } from "../../../viz/explorer/browser/element.js"
import { contextOf, picture, shadesOf, themeOf } from "../../../viz/explorer/browser/paint.js"
/** @import { Mounting, Theme } from "../../../viz/explorer/browser/types.js" */
/** @import { Film, Held, Run, Screen } from "./player_types.js" */

const SVG = "http://www.w3.org/2000/svg"
// Pixels.
const [CHART, LEFT, RIGHT, TOP, BELOW, TYPE] = [96, 40, 34, 8, 18, 12]
const LABEL = 64 // pixels that "44 % → 95 %" takes
const [WIDEST_HEAD, NARROWEST_HEAD, NAMES, NAMED_CELL] = [190, 60, 14, 9] // NAMED_CELL: with letters beside it
const [BESIDE, HEADS_SHARE] = [720, 0.44] // of one training: a width with room for the heads beside the charts, as in player.css
const BYTE = 255
const KIND_DASHES = ["", "7 3", "14 4", "9 3 2 3"] // of the kinds of heads, beside their colours
const KIND_COLOURS = [2, 3, 4, 6] // of the theme's: others than those of accuracy and loss
const STEPS = [1, 10, 100, 1000, 10000]
const SPEEDS = { 1: "1×", 0.5: "½×", 0.25: "¼×" }
/** @type {WeakMap<HTMLElement, Held>} */
const players = new WeakMap()

/** @param {Mounting<Film>} mounting */
export default function ({ data, parentElement, setStateValue }) {
  const held = players.get(parentElement) ?? mountPlayer(parentElement)
  const isOther = held.data?.key !== data.key
  const isSteered = held.revision !== data.revision
  Object.assign(held, { data, tell: setStateValue, revision: data.revision })
  if (isOther) held.shown = new Set(data.shown)
  held.steps = [...new Set(data.runs.flatMap(({ steps }) => steps))].sort(
    (one, other) => one - other,
  )
  held.last = Math.max(...data.runs.map(({ last }) => last))
  drawAll(held)
  // Whoever has pressed Train stands far below.
  if (isOther && data.live) held.root.scrollIntoView({ block: "center" })
  if (data.live) seek(held, held.steps.length - 1)
  else if (isOther || isSteered) begin(held)
  else seek(held, Math.min(held.place, held.steps.length - 1))
  held.observer.observe(held.root)
  return () => {
    held.observer.disconnect()
    pause(held)
  }
}

/** @type {(parentElement: HTMLElement) => Held} */
function mountPlayer(parentElement) {
  const root = /** @type {HTMLElement} */ (parentElement.querySelector(".player"))
  const play = el("button", { type: "button", className: "play" })
  const slider = el("input", { type: "range", min: "0", step: "1" })
  const speed = el("select", { className: "speed" })
  for (const [value, textContent] of Object.entries(SPEEDS).reverse())
    speed.append(el("option", { value, textContent, selected: value === "1" }))
  const readout = el("output", { className: "readout" })
  const legend = el("div", { className: "legend", role: "group" })
  const runs = el("div", { className: "runs" })
  const time = el("div", { className: "time" }, play, speed, slider, readout)
  root.replaceChildren(el("div", { className: "controls" }, time, legend), runs)
  /** @type {Partial<Held>} */
  const parts = {
    root,
    play,
    speed,
    slider,
    readout,
    legend,
    runs,
    screens: [],
    at: 0,
    place: 0,
    width: 0,
    frame: 0,
  }
  const held = /** @type {Held} */ (parts)
  held.observer = new ResizeObserver(() => root.clientWidth !== held.width && drawAll(held))
  play.onclick = () => (held.frame ? stop(held) : start(held))
  slider.oninput = () => {
    pause(held)
    seek(held, Number(slider.value))
  }
  slider.onchange = () => tellStep(held)
  speed.onchange = () => {
    if (!held.frame) return
    pause(held)
    start(held)
  }
  players.set(parentElement, held)
  Object.assign(root, { held }) // for those who measure
  return held
}

// Time

// A film that a link leads into stands at the step of the link; any other plays, once.
/** @param {Held} held */
function begin(held) {
  const { data, steps } = held
  pause(held)
  if (data.step !== null) {
    const later = steps.findIndex((step) => step >= (data.step ?? 0))
    seek(held, later < 0 ? steps.length - 1 : later)
  } else if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
    seek(held, steps.length - 1)
  } else {
    start(held)
  }
}

/** @param {Held} held */
function start(held) {
  const began = performance.now()
  const from =
    held.place >= held.steps.length - 1
      ? 0
      : Math.max(held.at, onAxis(held, held.steps[held.place]))
  const seconds = held.data.seconds / Number(held.speed.value)
  const on = (/** @type {number} */ now) => {
    const gone = Math.max(0, now - began) // a frame's time may lie before the press that it answers
    const at = Math.min(1, from + gone / 1000 / seconds)
    show(held, at)
    held.frame = at < 1 ? requestAnimationFrame(on) : 0
    if (at >= 1) stop(held)
  }
  held.frame = requestAnimationFrame(on)
  drawButton(held)
}

/** @param {Held} held */
function pause(held) {
  cancelAnimationFrame(held.frame)
  held.frame = 0
  drawButton(held)
}

/** @param {Held} held */
function stop(held) {
  pause(held)
  seek(held, held.place) // from where it goes on
  tellStep(held)
}

/** @param {Held} held */
function tellStep(held) {
  const step = held.steps[held.place]
  if (!held.data.live && step !== held.told) held.tell("step", step)
  held.told = step
}

/** @param {Held} held */
function drawButton(held) {
  const name = held.frame ? held.data.names.pause : held.data.names.play
  held.play.textContent = held.frame ? "❚❚" : "▶"
  held.play.setAttribute("aria-label", name)
  held.play.title = name
}

// Where a step stands on the axis, 0 to 1: as place_of in viz/watched/player.py.
/** @type {(held: Held, step: number) => number} */
const onAxis = ({ last }, step) => Math.log2(1 + step) / Math.log2(1 + last)

/** @type {(held: Held, place: number) => void} */
const seek = (held, place) => show(held, onAxis(held, held.steps[place]))

// The moment at a place of the axis: the last snapshot that is not after it.
/** @type {(held: Held, at: number) => void} */
function show(held, at) {
  const { steps, data } = held
  const after = steps.findIndex((step) => onAxis(held, step) > at + 1e-9)
  held.at = at
  held.place = after < 0 ? steps.length - 1 : after - 1
  const step = steps[held.place]
  held.slider.max = String(steps.length - 1)
  held.slider.value = String(held.place)
  const said = `${data.names.step} ${step.toLocaleString("en")}`
  held.readout.textContent = `${said} ${data.names.of} ${held.last.toLocaleString("en")}`
  const numbers = held.screens.map((screen) => showRun(held, screen, step))
  held.slider.setAttribute("aria-valuetext", `${said}: ${numbers.join("; ")}`)
  held.slider.setAttribute("aria-label", data.names.slider)
  held.speed.setAttribute("aria-label", data.names.speed)
}

/** @type {(held: Held, screen: Screen, step: number) => string} */
function showRun(held, screen, step) {
  const { run } = screen
  for (const head of screen.playheads) {
    const x = String(LEFT + onAxis(held, step) * screen.plot) // where what is read was measured
    head.setAttribute("x1", x)
    head.setAttribute("x2", x)
  }
  const after = run.steps.findIndex((each) => each > step)
  const place = after < 0 ? run.steps.length - 1 : after - 1
  const moment = run.curve.step.indexOf(run.steps[place])
  const { names } = held.data
  const accuracy = `${names.accuracy} ${percent(run.curve.accuracy[moment])}`
  const loss = `${names.loss} ${run.curve.loss[moment].toFixed(2)} ${names.nats}`
  screen.accuracy.textContent = accuracy
  screen.loss.textContent = loss
  if (place !== screen.place) {
    screen.place = place
    drawHeads(held, screen)
    drawGuesses(held, screen)
    screen.written.textContent = run.written?.[place] ?? ""
  }
  return `${held.screens.length > 1 ? `${run.name}, ` : ""}${accuracy}, ${loss}`
}

/** @param {number} share */
const percent = (share) => `${Math.round(100 * share)} %`

// What is drawn

/** @param {Held} held */
function drawAll(held) {
  const { data, root } = held
  const theme = themeOf(root)
  held.width = root.clientWidth
  root.style.setProperty("--accent", theme.accent)
  root.style.setProperty("--quiet", theme.quiet)
  root.style.setProperty("--second", theme.second)
  root.style.setProperty("--grid", theme.grid)
  root.classList.toggle("two", data.runs.length > 1)
  root.classList.toggle("one", data.runs.length === 1)
  drawLegend(held, theme)
  drawButton(held)
  held.screens = data.runs.map((run) => mountRun(run, theme, data.names))
  held.runs.replaceChildren(...held.screens.map(({ element }) => element))
  for (const screen of held.screens) drawCharts(held, screen, theme)
  if (held.at !== undefined) show(held, held.at)
}

/** @type {(held: Held, theme: Theme) => void} */
function drawLegend(held, theme) {
  const { names, runs } = held.data
  held.legend.setAttribute("aria-label", names.legend)
  const buttons = runs[0].lines.map(({ kind }, number) => {
    const look = {
      stroke: theme.heads[KIND_COLOURS[number]],
      "stroke-width": 2.5,
      "stroke-dasharray": KIND_DASHES[number],
    }
    const sample = svg("svg", { width: 22, height: 8, "aria-hidden": "true" })
    sample.append(svg("line", { x1: 0, x2: 22, y1: 4, y2: 4, ...look }))
    const button = el(
      "button",
      {
        type: "button",
        title: names[`${kind}_explained`],
        "aria-pressed": String(held.shown.has(kind)),
        onclick: () => {
          if (!held.shown.delete(kind)) held.shown.add(kind)
          drawAll(held)
        },
      },
      sample,
      names[kind],
    )
    return button
  })
  held.legend.replaceChildren(el("span", {}, names.legend), ...buttons)
}

/** @type {(run: Run, theme: Theme, names: Record<string, string>) => Screen} */
function mountRun(run, theme, names) {
  const accuracy = el("span", { className: "accuracy" })
  const loss = el("span", { className: "loss" })
  const title = el("div", { className: "name" }, el("strong", {}, run.name), accuracy, loss)
  const charts = el("div", { className: "charts" })
  const heads = el("div", { className: "heads", role: "group", "aria-label": names.weights })
  heads.style.gridTemplateColumns = `repeat(${run.heads}, auto)`
  const pointed = el("p", { className: "pointed" })
  const guesses = el("div", { className: "guesses" })
  const written = el("p", { className: "written" })
  written.hidden = run.written === null
  const element = el(
    "section",
    { className: "run", "aria-label": run.name },
    title,
    written,
    guesses,
    charts,
    heads,
    pointed,
  )
  const weights = Uint8Array.from(atob(run.weights), (letter) => letter.charCodeAt(0))
  return {
    run,
    element,
    accuracy,
    loss,
    charts,
    heads,
    pointed,
    guesses,
    written,
    weights,
    theme,
    playheads: [],
    plot: 0,
    place: -1,
  }
}

/** @type {(held: Held, screen: Screen, theme: Theme) => void} */
function drawCharts(held, screen, theme) {
  const width = Math.max(200, screen.charts.clientWidth)
  const { run } = screen
  const { names } = held.data
  screen.plot = width - LEFT - RIGHT
  screen.playheads = []
  const most = Math.max(...run.curve.loss)
  const above = chart(held, screen, theme, names.curves)
  const [shaded, change] = band(held, screen, theme)
  if (shaded) above.append(shaded)
  const x = (/** @type {number} */ step) => LEFT + onAxis(held, step) * screen.plot
  above.append(
    line(run.curve.step.map(x), run.curve.accuracy, { stroke: theme.accent, "stroke-width": 2.5 }),
    line(
      run.curve.step.map(x),
      run.curve.loss.map((loss) => loss / most),
      {
        stroke: theme.second,
        "stroke-width": 1.5,
        "stroke-dasharray": "5 3",
      },
    ),
    text(most.toFixed(1), width - 2, TOP + 5, { fill: theme.second, "text-anchor": "end" }),
    text("0", width - 2, CHART - BELOW + 4, { fill: theme.second, "text-anchor": "end" }),
  )
  if (change) above.append(change)
  const below = chart(held, screen, theme, names.scores)
  for (const [number, { kind, scores, nulls }] of run.lines.entries()) {
    if (!held.shown.has(kind)) continue
    const look = { stroke: theme.heads[KIND_COLOURS[number]] }
    below.append(
      line(run.steps.map(x), nulls, { ...look, "stroke-width": 1, "stroke-dasharray": "1 3" }),
      line(run.steps.map(x), scores, {
        ...look,
        "stroke-width": 2.5,
        "stroke-dasharray": KIND_DASHES[number],
      }),
    )
  }
  for (const each of [above, below]) {
    const head = svg("line", {
      y1: TOP,
      y2: CHART - BELOW,
      stroke: theme.text,
      "stroke-width": 1.5,
    })
    screen.playheads.push(head)
    each.append(head)
    each.onpointerdown = (event) => {
      each.setPointerCapture(event.pointerId)
      pause(held)
      seekTo(held, screen, event)
    }
    each.onpointermove = (event) => event.buttons && seekTo(held, screen, event)
    each.onpointerup = () => tellStep(held)
  }
  screen.charts.replaceChildren(
    above,
    el("p", { className: "caption" }, lineNames(held, run)),
    below,
  )
}

// Whose lines the lower chart has.
/** @type {(held: Held, run: Run) => string} */
function lineNames({ data, shown }, run) {
  const { names } = data
  const parts = run.lines
    .filter(({ kind }) => shown.has(kind))
    .map(({ kind, site, seen }) => {
      const head = `${names.layer} ${site[0] + 1}, ${names.head} ${site[1] + 1}`
      return `${names[kind]}: ${seen ? head : names.no_head}`
    })
  return parts.length ? `${parts.join("; ")}. ${names.dotted}` : names.none
}

/** @type {(held: Held, screen: Screen, event: PointerEvent) => void} */
function seekTo(held, screen, event) {
  const box = /** @type {Element} */ (event.currentTarget).getBoundingClientRect()
  const at = (event.clientX - box.left - LEFT) / screen.plot
  const distances = held.steps.map((step) => Math.abs(onAxis(held, step) - at))
  seek(held, distances.indexOf(Math.min(...distances)))
}

/** @type {(held: Held, screen: Screen, theme: Theme, name: string) => SVGElement} */
function chart(held, screen, theme, name) {
  const width = screen.plot + LEFT + RIGHT
  const drawing = svg("svg", {
    width,
    height: CHART,
    role: "img",
    "aria-label": `${screen.run.name}: ${name}`,
  })
  for (const share of [0, 0.5, 1]) {
    const y = yOf(share)
    drawing.append(
      svg("line", { x1: LEFT, x2: LEFT + screen.plot, y1: y, y2: y, stroke: theme.grid }),
      text(percent(share), LEFT - 4, y + 4, { fill: theme.quiet, "text-anchor": "end" }),
    )
  }
  for (const step of STEPS.filter((each) => each <= held.last)) {
    const x = LEFT + onAxis(held, step) * screen.plot
    const label = step === 1 ? `${held.data.names.step} 1` : step.toLocaleString("en")
    drawing.append(
      svg("line", { x1: x, x2: x, y1: CHART - BELOW, y2: CHART - BELOW + 4, stroke: theme.quiet }),
      text(label, x, CHART - 3, { fill: theme.quiet, "text-anchor": "middle" }),
    )
  }
  return drawing
}

/** @type {(held: Held, screen: Screen, theme: Theme) => SVGElement[]} */
function band(held, screen, theme) {
  const { change } = screen.run
  if (!change) return []
  const [from, to] = [change.step / Math.SQRT2, change.step * Math.SQRT2].map(
    (step) => LEFT + onAxis(held, step) * screen.plot,
  )
  const said = `${percent(change.before)} → ${percent(change.after)}`
  // After the change, between accuracy and loss; where that has no room, before it, between them or below both.
  const hasRoom = LEFT + screen.plot - to > LABEL && change.after > 0.75
  const share = hasRoom || change.before < 0.35 ? 0.5 : 0.12
  const look = { fill: theme.text, "text-anchor": hasRoom ? "start" : "end", class: "change" }
  return [
    svg("rect", {
      x: from,
      y: TOP,
      width: to - from,
      height: CHART - TOP - BELOW,
      fill: theme.accent,
      opacity: 0.15,
    }),
    text(said, hasRoom ? to + 4 : from - 4, yOf(share), look),
  ]
}

/** @param {number} share */
const yOf = (share) => CHART - BELOW - share * (CHART - BELOW - TOP)

/** @type {(xs: number[], shares: number[], look: Record<string, unknown>) => SVGElement} */
const line = (xs, shares, look) =>
  svg("polyline", {
    points: xs
      .map((x, place) => `${x.toFixed(1)},${yOf(Math.max(0, shares[place])).toFixed(1)}`)
      .join(" "),
    fill: "none",
    ...look,
  })

/** @type {(name: string, attributes: Record<string, unknown>) => SVGElement} */
function svg(name, attributes) {
  const element = document.createElementNS(SVG, name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value))
  return element
}

/** @type {(words: string, x: number, y: number, look: Record<string, unknown>) => SVGElement} */
function text(words, x, y, look) {
  const element = svg("text", { x, y, "font-size": TYPE, ...look })
  element.textContent = words
  return element
}

// The heads' pictures

/** @type {(held: Held, screen: Screen) => void} */
function drawHeads(held, screen) {
  const { run, theme, heads } = screen
  const count = run.tokens.length
  const isBeside = held.data.runs.length === 1 && held.width >= BESIDE
  const room = (screen.element.clientWidth * (isBeside ? HEADS_SHARE : 1)) / run.heads - 12
  const tile = Math.max(NARROWEST_HEAD, Math.min(WIDEST_HEAD, room))
  const named = (tile - NAMES) / count >= NAMED_CELL
  const cell = Math.max(1, Math.floor((tile - (named ? NAMES : 0)) / count))
  while (heads.children.length < run.layers * run.heads)
    heads.append(mountTile(held, screen, heads.children.length))
  for (const [number, child] of [...heads.children].entries()) {
    const canvas = /** @type {HTMLCanvasElement} */ (child.querySelector("canvas"))
    drawTile(canvas, screen, number, { cell, left: named ? NAMES : 0, theme })
  }
  reachable(heads)
}

/** @type {(held: Held, screen: Screen, number: number) => HTMLElement} */
function mountTile(held, screen, number) {
  const { run } = screen
  const { names } = held.data
  const name = `${names.layer} ${Math.floor(number / run.heads) + 1}, ${names.head} ${(number % run.heads) + 1}`
  const canvas = el("canvas", { role: "img", "aria-label": `${names.weights}: ${name}` })
  canvas.onpointermove = (event) => point(held, screen, number, name, event)
  canvas.onpointerleave = () => {
    screen.pointed.textContent = ""
  }
  return el("figure", {}, el("figcaption", {}, name), canvas)
}

/** @type {(screen: Screen, number: number) => Uint8Array} */
function weightsOf({ run, weights, place }, number) {
  const size = run.tokens.length ** 2
  const start = (place * run.layers * run.heads + number) * size
  return weights.subarray(start, start + size)
}

/** @type {(canvas: HTMLCanvasElement, screen: Screen, number: number, plan: { cell: number, left: number, theme: Theme }) => void} */
function drawTile(canvas, screen, number, { cell, left, theme }) {
  const { tokens } = screen.run
  const bytes = weightsOf(screen, number)
  const side = left + cell * tokens.length
  const ratio = devicePixelRatio || 1
  canvas.width = canvas.height = Math.round(side * ratio)
  canvas.style.width = canvas.style.height = `${side}px`
  Object.assign(canvas.dataset, { cell, left })
  const context = contextOf(canvas)
  context.scale(ratio, ratio)
  const tile = picture(
    tokens.length,
    tokens.length,
    shadesOf(theme, "blue"),
    (at) => bytes[at] / BYTE,
  )
  context.imageSmoothingEnabled = false
  context.drawImage(tile, left, 0, side - left, side - left)
  context.strokeStyle = theme.grid
  context.strokeRect(left + 0.5, 0.5, side - left - 1, side - left - 1)
  if (!left) return
  context.fillStyle = theme.quiet
  context.font = `${Math.min(11, cell)}px ${theme.font}`
  context.textAlign = "center"
  context.textBaseline = "middle"
  for (const [place, token] of tokens.entries()) {
    context.fillText(token, left / 2, (place + 0.5) * cell)
    context.fillText(token, left + (place + 0.5) * cell, side - left / 2)
  }
}

/** @type {(held: Held, screen: Screen, number: number, name: string, event: PointerEvent) => void} */
function point({ data }, screen, number, name, event) {
  const canvas = /** @type {HTMLCanvasElement} */ (event.currentTarget)
  const { tokens } = screen.run
  const [cell, left] = [Number(canvas.dataset.cell), Number(canvas.dataset.left)]
  const key = Math.floor((event.offsetX - left) / cell)
  const query = Math.floor(event.offsetY / cell)
  if (!tokens[key] || !tokens[query]) return
  const weight = (weightsOf(screen, number)[query * tokens.length + key] / BYTE) ** 2
  const places = `${query + 1} · ${tokens[query]} → ${key + 1} · ${tokens[key]}`
  screen.pointed.textContent = `${name}: ${places}, ${data.names.weight} ≈ ${weight.toFixed(2)}`
}

// What is wider than its place can be scrolled by the keyboard.
/** @type {(element: HTMLElement) => void} */
function reachable(element) {
  if (element.scrollWidth > element.clientWidth) element.tabIndex = 0
  else element.removeAttribute("tabindex")
}

// What the model takes to come next

/** @type {(held: Held, screen: Screen) => void} */
function drawGuesses({ data }, screen) {
  const { run, place, guesses } = screen
  const columns = run.tokens.map((token, at) => {
    const hit = run.hits[place][at]
    const kind = hit === null ? "open" : hit ? "right" : "wrong"
    return el("span", {}, el("b", {}, token), el("i", { className: kind }, run.guesses[place][at]))
  })
  const said = `${data.names.reads}: ${run.tokens.join(" ")}. ${data.names.guesses}: ${run.guesses[place].join(" ")}.`
  const row = el("div", { className: "row", role: "img", "aria-label": said }, ...columns)
  const titles = el(
    "div",
    { className: "titles" },
    el("b", {}, data.names.reads),
    el("i", {}, data.names.guesses),
  )
  guesses.replaceChildren(titles, row)
  reachable(row)
}
