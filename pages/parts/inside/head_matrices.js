// One head as the matrices of its formula: Q at the left of QKᵀ and Kᵀ above it, so that a product
// stands where its row and its column cross; the same for weights, V and context. What a visitor
// typed is only ever set as text.
import { el } from "../../../viz/explorer/browser/element.js"
import {
  contextOf,
  fitted,
  inkOn,
  prepared,
  shadesOf,
  themeOf,
} from "../../../viz/explorer/browser/paint.js"
/** @import { Box, Context, Mounting } from "../../../viz/explorer/browser/types.js" */
/** @import { At, Figure, Held, Numbers, Panel, Part, Plan } from "./head_matrices_types.js" */

// Pixels.
const [LARGEST, SMALLEST, LABELLED, NUMBERED] = [26, 3.2, 9, 18] // a token's cell; to be named, to hold a number
const [BETWEEN_PANELS, TITLE, TYPE, TITLE_TYPE] = [26, 22, 12, 13]
const [WIDEST_VECTOR, NARROWEST_VECTOR, COORDINATE] = [150, 44, 14]
const [VECTOR_SHARE, LONG_SHARE, LONG] = [0.15, 0.09, 24] // of the width; of a text of more tokens
const [WIDEST_NAME, NAME_SHARE, TALLEST_NAME] = [92, 0.2, 74]
const [TALLEST, LEAST_SQUARE] = [270, 200] // a matrix of tokens, as far as its cells allow it
const [VEIL, MARKED] = [0.62, 2]
const LEAST_MARKED = 8 // a cell with room for a dash or a stroke
const DENSE_CELLS = 4.2
// The matrices from left to right, those that stand above them, and how they are broken into lines.
/** @type {Part[][]} */
const GROUPS = [["query", "products", "key"], ["scores", "mask"], ["weights"], ["context", "value"]]
const BROKEN = [
  [[0, 1, 2, 3]],
  [
    [0, 1],
    [2, 3],
  ],
  [[0], [1, 2], [3]],
  [[0], [1], [2], [3]],
]
/** @type {Record<string, [number, number]>} */
const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }
const [KNOB_END, KNOB_STEP] = [6, 0.25] // powers of 2 around the model's own scale
const SIDEWAYS = "The matrices are wider than the screen: scroll them sideways. ↔"
const HELP =
  "Matrices of one head. The arrow keys move from weight to weight, and what makes a weight is read out."
/** @type {WeakMap<HTMLElement, Held>} */
const drawnHeads = new WeakMap()

/** @param {Mounting<Figure>} mounting */
export default function ({ data, parentElement, setTriggerValue }) {
  const held = drawnHeads.get(parentElement) ?? mountHead(parentElement)
  const written = JSON.stringify(data)
  Object.assign(held, { data, tell: setTriggerValue })
  if (held.written !== written) {
    held.model = numbersOf(data)
    Object.assign(held, { written, numbers: held.model, scale: data.scale, pointed: null })
    held.slider.value = "0"
  }
  held.observer.observe(held.root)
  drawHead(held)
  return () => held.observer.disconnect()
}

/** @type {(parentElement: HTMLElement) => Held} */
function mountHead(parentElement) {
  const root = /** @type {HTMLElement} */ (parentElement.querySelector(".whole"))
  const [caption, formula, readout, scaled, wider, cut] = [
    "caption",
    "formula",
    "said",
    "scaled",
    "wider",
    "cut",
  ].map((className) => el("p", { className }))
  const under = el("canvas", { className: "under", "aria-hidden": "true" })
  const over = el("canvas", {
    className: "over",
    tabIndex: 0,
    role: "application",
    "aria-label": HELP,
  })
  const sheet = el("div", { className: "sheet" }, under, over)
  const slider = el("input", {
    type: "range",
    min: String(-KNOB_END),
    max: String(KNOB_END),
    step: String(KNOB_STEP),
    "aria-label": "Scale, from all alike to one word",
  })
  const jumps = [0, 1].map(() => el("button", { type: "button" }))
  const knob = el(
    "div",
    { className: "knob" },
    el("label", {}, "all alike", slider, "one word"),
    ...jumps,
    scaled,
  )
  readout.setAttribute("aria-live", "polite")
  scaled.setAttribute("aria-live", "polite")
  const head = el("div", { className: "head" }, formula, caption)
  root.replaceChildren(head, knob, readout, sheet, wider, cut)
  /** @type {Partial<Held>} */
  const parts = { root, caption, formula, sheet, under, over, readout, knob, slider, jumps, scaled }
  Object.assign(parts, { wider, cut, written: "", width: 0, painted: 0, pointed: null, part: null })
  const held = /** @type {Held} */ (parts)
  held.observer = new ResizeObserver(() => root.clientWidth !== held.width && drawHead(held))
  hear(held)
  drawnHeads.set(parentElement, held)
  Object.assign(root, { held }) // for those who measure
  return held
}

/** @param {Held} held */
function hear(held) {
  const { over, slider } = held
  over.onpointermove = over.onpointerdown = (event) => pointTo(held, event)
  over.onpointerleave = () => pointAt(held, null, null)
  over.onblur = () => pointAt(held, null, null)
  over.onclick = () => chooseAt(held)
  over.onkeydown = (event) => press(held, event)
  slider.oninput = () => turn(held, scaleAt(held, Number(slider.value)))
}

/** @param {Held} held */
function drawHead(held) {
  const { data, root } = held
  held.width = root.clientWidth
  if (!data || !held.width) return
  held.theme = themeOf(root)
  held.plan = planOf(held)
  const { width, height } = held.plan
  prepared(held.under, width, height)
  prepared(held.over, width, height)
  root.classList.toggle("alone", data.alone)
  held.caption.textContent = data.caption
  held.cut.textContent = data.cut
  held.cut.hidden = !data.cut
  held.wider.hidden = width <= held.width + 1
  held.wider.textContent = SIDEWAYS
  held.formula.replaceChildren(
    ...data.formula.map(({ text, part }) => {
      const piece = el("span", {}, text)
      piece.dataset.part = part
      return piece
    }),
  )
  held.knob.hidden = !data.knob
  if (data.knob) showKnob(held)
  paint(held)
  light(held)
}

// Numbers

/** @type {(data: Figure) => Numbers} */
function numbersOf({ matrices }) {
  const numbers = Object.fromEntries(
    Object.entries(matrices).map(([name, text]) => [name, floats(text)]),
  )
  return /** @type {Numbers} */ (/** @type {unknown} */ ({ bias: null, ...numbers }))
}

/** @type {(text: string) => Float32Array} */
function floats(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
  return new Float32Array(bytes.buffer)
}

// The head at another scale, from the products on.
/** @type {(data: Figure, model: Numbers, scale: number) => Numbers} */
function rescaled(data, model, scale) {
  const { rows, sent, headWidth, cap } = data
  const scores = new Float32Array(model.scores.length)
  const weights = new Float32Array(model.weights.length)
  const context = new Float32Array(model.context.length)
  for (let row = 0; row < rows.length; row++) {
    let largest = -Infinity
    for (let at = row * sent; at < (row + 1) * sent; at++) {
      let score = model.products[at] * scale + (model.bias ? model.bias[at] : 0)
      if (cap !== null) score = cap * Math.tanh(score / cap)
      scores[at] = model.scores[at] === -Infinity ? -Infinity : score
      largest = Math.max(largest, scores[at])
    }
    let sum = 0
    for (let at = row * sent; at < (row + 1) * sent; at++) {
      weights[at] = largest === -Infinity ? 0 : Math.exp(scores[at] - largest)
      sum += weights[at]
    }
    for (let key = 0; key < sent; key++) {
      const at = row * sent + key
      weights[at] /= sum || 1
      for (let place = 0; place < headWidth; place++)
        context[row * headWidth + place] += weights[at] * model.value[key * headWidth + place]
    }
  }
  return { ...model, scores, weights, context }
}

/** @type {(held: Held, numbers: Numbers) => number} */
function meanLargest({ data }, { weights }) {
  const largest = data.rows.map((_, row) =>
    Math.max(...weights.subarray(row * data.sent, (row + 1) * data.sent)),
  )
  return largest.reduce((sum, each) => sum + each, 0) / largest.length
}

// The knob

/** @type {(held: Held, power: number) => number} */
const scaleAt = ({ data }, power) => (power <= -KNOB_END ? 0 : data.scale * 2 ** power)

/** @type {(held: Held, scale: number) => void} */
function turn(held, scale) {
  held.scale = scale
  held.numbers =
    scale === held.data.scale ? held.model : rescaled(held.data, held.model, held.scale)
  showKnob(held)
  paint(held)
  light(held)
}

/** @param {Held} held */
function showKnob(held) {
  const { data, jumps, slider } = held
  const scales = [data.scale, 1]
  const names = [`with the division: × ${data.scaleName}`, "without: × 1"]
  for (const [place, jump] of jumps.entries()) {
    jump.textContent = names[place]
    jump.hidden = data.scale === 1 && place === 1
    jump.setAttribute("aria-pressed", String(held.scale === scales[place]))
    jump.onclick = () => {
      slider.value = String(Math.log2(scales[place] / data.scale))
      turn(held, scales[place])
    }
  }
  const [now, before] = [meanLargest(held, held.numbers), meanLargest(held, held.model)]
  const changed =
    held.scale === data.scale ? "" : `; at ${data.scaleName} it is ${percentage(before)}`
  held.scaled.textContent =
    `QKᵀ × ${significant(held.scale)}: the largest weight of a row is ${percentage(now)} on average` +
    `${changed}.`
}

// Where everything is

/** @type {(held: Held) => Plan} */
function planOf(held) {
  const { data, width } = held
  const most = Math.max(data.rows.length, data.columns.length)
  const names = namesWidth(held)
  const share = most > LONG ? LONG_SHARE : VECTOR_SHARE
  const vector = Math.min(
    data.headWidth * COORDINATE,
    Math.max(NARROWEST_VECTOR, Math.min(WIDEST_VECTOR, width * share)),
  )
  const enough = Math.min(LABELLED, Math.max(SMALLEST, LEAST_SQUARE / most))
  /** @type {(lines: number[][]) => number} */
  const roomFor = (lines) =>
    Math.min(
      ...lines.map((groups) => {
        const vectors = groups.filter((group) => group % 3 === 0).length * vector
        const gaps = (groups.length + (groups[0] === 0 ? 1 : 0)) * BETWEEN_PANELS
        const cells = groups.filter((group) => group < 3).length * data.columns.length
        return cells ? (width - names - vectors - gaps) / cells : Infinity
      }),
    )
  const lines = BROKEN.find((each) => roomFor(each) >= enough) ?? BROKEN[BROKEN.length - 1]
  const largest = Math.min(LARGEST, Math.max(TALLEST / most, DENSE_CELLS))
  const cell = Math.max(SMALLEST, Math.min(largest, roomFor(lines)))
  return placed(held, lines, { cell, vector, names })
}

/** @type {(held: Held) => number} */
function namesWidth({ data, over, width, theme }) {
  const context = contextOf(over)
  context.font = `${TYPE}px ${theme.font}`
  const widths = data.rows.map(({ text }) => context.measureText(text).width)
  return Math.ceil(Math.min(Math.max(...widths) + 8, WIDEST_NAME, width * NAME_SHARE))
}

/** @type {(held: Held, lines: number[][], sizes: { cell: number, vector: number, names: number }) => Plan} */
function placed({ data }, lines, { cell, vector, names }) {
  const [queries, keys] = [data.rows.length, data.columns.length]
  const [down, across] = [queries * cell, keys * cell]
  const room = Math.min(TALLEST_NAME, names)
  /** @type {Plan} */
  const plan = { cell, width: 0, height: 0, panels: [], arrows: [], rowLabels: [], keyLabels: [] }
  let top = 0
  for (const groups of lines) {
    const above = Math.max(
      ...groups.map((group) => [room + vector, down, 0, across][group] + (group === 2 ? 0 : TITLE)),
    )
    const [upper, lower] = [top + above, top + above + TITLE]
    let x = names + 6
    plan.rowLabels.push({ left: 0, top: lower, width: names, height: down })
    for (const [place, group] of groups.entries()) {
      const [main, ...others] = GROUPS[group]
      if (place) {
        plan.arrows.push({ x: x - BETWEEN_PANELS / 2, y: lower + down / 2 })
      }
      /** @type {(part: Part, left: number, y: number, wide: number, tall: number, rows: number, columns: number) => void} */
      const add = (part, left, y, wide, tall, rows, columns) => {
        plan.panels.push({ part, left, top: y, width: wide, height: tall, rows, columns })
      }
      if (main === "query") {
        add("query", x, lower, vector, down, queries, data.headWidth)
        x += vector + BETWEEN_PANELS
        add("products", x, lower, across, down, queries, keys)
        add("key", x, upper - vector, across, vector, data.headWidth, keys)
        plan.keyLabels.push({ x, y: upper - vector - TITLE, room, upright: true })
      } else if (main === "context") {
        add("context", x, lower, vector, down, queries, data.headWidth)
        add(others[0], x, upper - across, vector, across, keys, data.headWidth)
        plan.keyLabels.push({ x: x - 6, y: upper - across, room: names, upright: false })
      } else {
        add(main, x, lower, across, down, queries, keys)
        if (main === "scores") add("mask", x, upper - down, across, down, queries, keys)
        else if (cell >= LABELLED)
          plan.keyLabels.push({ x, y: lower + down + room + 2, room, upright: true })
      }
      x += (main === "context" ? vector : across) + BETWEEN_PANELS
    }
    plan.width = Math.max(plan.width, x - BETWEEN_PANELS + 4)
    top = lower + down + (groups.includes(2) && cell >= LABELLED ? room + 6 : 12)
  }
  plan.height = top
  return plan
}

// What is drawn under what is lit

/** @param {Held} held */
function paint(held) {
  const { plan, theme, under, data } = held
  const context = prepared(under, plan.width, plan.height)
  const reaches = reachesOf(held)
  for (const panel of plan.panels) {
    fill(held, context, panel, reaches[panel.part] ?? 1)
    context.strokeStyle = theme.quiet
    context.lineWidth = 1
    context.strokeRect(panel.left - 0.5, panel.top - 0.5, panel.width + 1, panel.height + 1)
    context.fillStyle = theme.text
    context.textBaseline = "bottom"
    context.textAlign = "left"
    context.font = `600 ${TITLE_TYPE}px ${theme.font}`
    const title = panel.part === "scores" ? scoresTitle(held) : data.titles[panel.part]
    const room = Math.max(panel.width + BETWEEN_PANELS - 4, 60)
    context.fillText(fitted(context, title, room), panel.left, panel.top - 3)
  }
  context.textBaseline = "middle"
  context.textAlign = "center"
  context.font = `18px ${theme.font}`
  for (const { x, y } of plan.arrows) context.fillText("→", x, y)
  if (plan.cell >= LABELLED) names(held, context, () => false)
}

/** @type {(held: Held) => string} */
function scoresTitle({ data, scale }) {
  return scale === data.scale
    ? data.titles.scores
    : data.titles.scores.replace(data.scaleName, significant(scale))
}

// The number that the strongest colour of each matrix stands for.
/** @type {(held: Held) => Partial<Record<Part, number>>} */
function reachesOf({ numbers }) {
  const value = reach(numbers.value)
  return {
    query: reach(numbers.query),
    key: reach(numbers.key),
    products: reach(numbers.products),
    scores: reach(numbers.scores),
    mask: numbers.bias ? reach(numbers.bias) : 1,
    value,
    context: value, // a weighted mean of values
  }
}

/** @type {(numbers: Float32Array) => number} */
function reach(numbers) {
  let most = 0
  for (const number of numbers) if (Number.isFinite(number)) most = Math.max(most, Math.abs(number))
  return most || 1
}

// The number of a cell; null where the mask hides it.
/** @type {(held: Held, part: Part, row: number, column: number) => number | null} */
function numberAt({ data, numbers }, part, row, column) {
  const { headWidth, sent, first } = data
  const cell = row * sent + first + column
  switch (part) {
    case "query":
    case "context":
      return numbers[part][row * headWidth + column]
    case "key":
      return numbers.key[(first + column) * headWidth + row]
    case "value":
      return numbers.value[(first + row) * headWidth + column]
    case "products":
      return numbers.products[cell]
    default: {
      const hidden = numbers.scores[cell] === -Infinity
      if (part === "weights") return hidden && !numbers.weights[cell] ? null : numbers.weights[cell]
      if (hidden) return null
      return part === "mask" ? (numbers.bias ? numbers.bias[cell] : 0) : numbers.scores[cell]
    }
  }
}

/** @type {(held: Held, context: Context, panel: Panel, most: number) => void} */
function fill(held, context, panel, most) {
  const { part, left, top, width, height, rows, columns } = panel
  const full = part === "weights" ? held.data.full : most
  const [blue, above, below] = ["blue", "above", "below"].map((name) => shadesOf(held.theme, name))
  const image = contextOf(el("canvas")).createImageData(columns, rows)
  const [wide, tall] = [width / columns, height / rows]
  const marks = Math.min(wide, tall) >= LEAST_MARKED
  /** @type {(() => void)[]} */
  const later = []
  for (let cell = 0; cell < rows * columns; cell++) {
    const [row, column] = [Math.floor(cell / columns), cell % columns]
    const number = numberAt(held, part, row, column)
    const box = { left: left + column * wide, top: top + row * tall, width: wide, height: tall }
    if (number === null) {
      if (marks) later.push(() => strike(context, held.theme.quiet, box))
      continue // the page's grey shines through
    }
    const strength = Math.sqrt(Math.min(1, Math.abs(number) / full))
    const shades = part === "weights" ? blue : number < 0 ? below : above
    const start = Math.round(strength * (shades.length / 3 - 1)) * 3
    image.data.set([...shades.subarray(start, start + 3), 255], cell * 4)
    if (marks)
      later.push(() => mark(context, inkOn(held.theme, shades, strength), held, part, number, box))
  }
  context.fillStyle = held.theme.grid
  context.fillRect(left, top, width, height)
  stretched(context, image, panel)
  for (const draw of later) draw()
}

// One pixel a cell, drawn as large as the matrix.
/** @type {(context: Context, image: ImageData, panel: Panel) => void} */
function stretched(context, image, { left, top, width, height }) {
  const small = el("canvas", { width: image.width, height: image.height })
  contextOf(small).putImageData(image, 0, 0)
  context.imageSmoothingEnabled = false
  context.drawImage(small, left, top, width, height)
}

// The number of a weight, and a dash in what is below 0, where a cell has room for them.
/** @type {(context: Context, ink: string, held: Held, part: Part, number: number, box: Box) => void} */
function mark(context, ink, { theme }, part, number, { left, top, width, height }) {
  const [x, y] = [left + width / 2, top + height / 2]
  context.fillStyle = ink
  if (part === "weights") {
    if (height < NUMBERED || number < 0.005) return
    context.font = `${TYPE}px ${theme.font}`
    context.textAlign = "center"
    context.textBaseline = "middle"
    context.fillText(hundredths(number), x, y + 0.5)
  } else if (number < 0) {
    context.globalAlpha = 0.6
    context.fillRect(x - 2, y - 0.5, 4, 1)
    context.globalAlpha = 1
  }
}

// A stroke through what the mask hides.
/** @type {(context: Context, line: string, box: Box) => void} */
function strike(context, line, { left, top, width, height }) {
  context.strokeStyle = line
  context.lineWidth = 0.75
  context.beginPath()
  context.moveTo(left + 1, top + height - 1)
  context.lineTo(left + width - 1, top + 1)
  context.stroke()
}

// What is not all is not 100.
/** @type {(share: number) => string} */
function hundredths(share) {
  const rounded = Math.round(100 * share)
  return String(rounded === 100 && share < 1 - 1e-6 ? 99 : rounded)
}

// The tokens beside the matrices: all where there is room, or those that are lit.
/** @type {(held: Held, context: Context, lit: (side: "row" | "column", place: number) => boolean) => void} */
function names(held, context, lit) {
  const { data, plan, theme } = held
  const all = context === contextOf(held.under)
  const type = plan.cell < LABELLED ? TYPE : Math.min(TYPE, plan.cell + 1)
  /** @type {(text: string, room: number, marked: boolean) => void} */
  const write = (text, room, marked) => {
    context.font = `${marked ? "700 " : ""}${type}px ${theme.font}`
    const short = fitted(context, text, room)
    const wide = context.measureText(short).width
    if (marked) {
      context.fillStyle = theme.background
      context.fillRect(context.textAlign === "right" ? -wide - 3 : -3, -type / 2, wide + 6, type)
    }
    context.fillStyle = marked ? theme.second : theme.text
    context.fillText(short, 0, 0)
  }
  context.textBaseline = "middle"
  /** @type {(x: number, y: number, angle: number, align: CanvasTextAlign, text: string, room: number, marked: boolean) => void} */
  const put = (x, y, angle, align, text, room, marked) => {
    context.save()
    context.translate(x, y)
    context.rotate(angle)
    context.textAlign = align
    write(text, room, marked)
    context.restore()
  }
  for (const { width, top } of plan.rowLabels)
    data.rows.forEach(({ text }, row) => {
      const marked = lit("row", row)
      if (all || marked)
        put(width, top + (row + 0.5) * plan.cell, 0, "right", text, width - 2, marked)
    })
  for (const { x, y, room, upright } of plan.keyLabels)
    data.columns.forEach(({ text }, column) => {
      const marked = lit("column", column)
      if (!all && !marked) return
      const at = (column + 0.5) * plan.cell
      if (upright) put(x + at, y, -Math.PI / 2, "left", text, room - 2, marked)
      else put(x, y + at, 0, "right", text, room, marked)
    })
}

// What is lit

/** @param {Held} held */
function light(held) {
  const { data, plan, theme, over, pointed } = held
  const context = prepared(over, plan.width, plan.height)
  const [row, column] = pointed ?? data.chosen
  for (const panel of plan.panels) {
    const { left, top, width, height, rows, columns, part } = panel
    const [wide, tall] = [width / columns, height / rows]
    const across = part === "key" ? null : part === "value" ? column : row
    const strip =
      across === null
        ? { x: left + column * wide, y: top, w: wide, h: height }
        : { x: left, y: top + across * tall, w: width, h: tall }
    if (pointed) {
      context.globalAlpha = VEIL
      context.fillStyle = theme.background
      context.fillRect(left, top, width, height)
      context.globalAlpha = 1
      context.clearRect(strip.x, strip.y, strip.w, strip.h)
    }
    const cells = part === "products" || part === "mask" || part === "scores" || part === "weights"
    context.strokeStyle = theme.second
    context.lineWidth = cells ? 1 : MARKED
    context.strokeRect(strip.x, strip.y, strip.w, strip.h)
    if (cells) {
      context.lineWidth = MARKED
      context.strokeRect(
        left + column * wide - 1,
        top + row * tall - 1,
        Math.max(wide, 3) + 2,
        Math.max(tall, 3) + 2,
      )
    }
  }
  names(held, context, (side, place) => place === (side === "row" ? row : column))
  for (const piece of held.formula.children)
    piece.classList.toggle(
      "lit",
      held.part !== null && /** @type {HTMLElement} */ (piece).dataset.part === held.part,
    )
  say(held, row, column)
  held.painted += 1
}

/** @type {(held: Held, row: number, column: number) => void} */
function say(held, row, column) {
  const { data, numbers, readout } = held
  const at = row * data.sent + data.first + column
  const [query, key] = [data.rows[row], data.columns[column]].map(
    ({ place, text }) => `${place + 1} · ${text}`,
  )
  const scaled = numbers.products[at] * held.scale
  const scale = held.scale === data.scale ? data.scaleName : significant(held.scale)
  const parts = [
    `q · k = ${significant(numbers.products[at])}`,
    `× ${scale} = ${significant(scaled)}`,
  ]
  if (numbers.bias) parts.push(`+ bias ${significant(numbers.bias[at])}`)
  if (data.cap !== null || numbers.bias)
    parts.push(`score ${numbers.scores[at] === -Infinity ? "−∞" : significant(numbers.scores[at])}`)
  parts.push(
    numbers.scores[at] === -Infinity
      ? `the mask hides this key, the weight is ${significant(numbers.weights[at])}`
      : `weight = ${significant(numbers.weights[at])} (${percentage(numbers.weights[at])})`,
  )
  const sentence = `Query ${query} attends to key ${key}: ${parts.join(", ")}.`
  if (readout.textContent !== sentence) readout.textContent = sentence
}

// Four significant digits, with a minus sign.
/** @type {(number: number) => string} */
function significant(number) {
  const [size, digits] = [Math.abs(number), 4]
  const text =
    size && (size < 1e-4 || size >= 1e5)
      ? number.toExponential(digits - 1)
      : String(Number(number.toPrecision(digits)))
  return text.replace("-", "−")
}

/** @type {(share: number) => string} */
function percentage(share) {
  const rounded = (100 * share).toFixed(share < 0.0995 ? 1 : 0)
  if (share > 0 && Number(rounded) === 0) return "< 0.1 %"
  if (share < 1 - 1e-6 && Number(rounded) === 100) return "> 99 %"
  return `${rounded} %`
}

// What a visitor does

/** @type {(held: Held, event: PointerEvent) => void} */
function pointTo(held, event) {
  const { left, top } = held.over.getBoundingClientRect()
  const [x, y] = [event.clientX - left, event.clientY - top]
  const panel = held.plan.panels.find(
    (each) =>
      x >= each.left && x < each.left + each.width && y >= each.top && y < each.top + each.height,
  )
  if (!panel) {
    pointAt(held, null, null)
    return
  }
  const row = Math.floor(((y - panel.top) / panel.height) * panel.rows)
  const column = Math.floor(((x - panel.left) / panel.width) * panel.columns)
  const [query, key] = held.pointed ?? held.data.chosen
  /** @type {At} */
  const at =
    panel.part === "query" || panel.part === "context"
      ? [row, key]
      : panel.part === "key"
        ? [query, column]
        : panel.part === "value"
          ? [query, row]
          : [row, column]
  pointAt(held, at, panel.part)
}

/** @type {(held: Held, at: At | null, part: Part | null) => void} */
function pointAt(held, at, part) {
  if (String(held.pointed) === String(at) && held.part === part) return
  Object.assign(held, { pointed: at, part })
  light(held)
}

/** @param {Held} held */
function chooseAt(held) {
  const { data, pointed } = held
  if (!data.chooses || !pointed) return
  held.tell("chosen", [data.rows[pointed[0]].place, data.columns[pointed[1]].place])
}

/** @type {(held: Held, event: KeyboardEvent) => void} */
function press(held, event) {
  const move = MOVES[event.key]
  if (event.ctrlKey || event.altKey || event.metaKey) return
  if (move) {
    const [row, column] = held.pointed ?? held.data.chosen
    const within = (/** @type {number} */ place, /** @type {number} */ count) =>
      Math.min(Math.max(place, 0), count - 1)
    pointAt(
      held,
      [
        within(row + move[0], held.data.rows.length),
        within(column + move[1], held.data.columns.length),
      ],
      "weights",
    )
  } else if (event.key === "Enter" || event.key === " ") chooseAt(held)
  else if (event.key === "Escape") pointAt(held, null, null)
  else return
  event.preventDefault()
}
