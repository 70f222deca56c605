// One layer's heads that are on, as a heatmap: query rows, key columns.
import { strengthOf } from "../data.js"
import {
  LABEL_SHARE,
  LARGEST_CELL,
  LONGEST_RAMP,
  MARK_WIDTH,
  MATRIX_APART,
  MATRIX_AROUND,
  MATRIX_BELOW,
  MATRIX_LABELS,
  MATRIX_RIGHT,
  MATRIX_ROOM,
  MATRIX_TYPE,
  MATRIX_VEIL,
  MATRIX_WEIGHT,
  RAMP_BESIDE,
  RAMP_DIGITS,
  RAMP_HEIGHT,
  RAMP_LEFT,
  RAMP_STEPS,
  RAMP_TOP,
  SHORTEST_RAMP,
  TALLEST_MATRIX,
  WIDEST_LABEL,
} from "../layout.js"
import { contextOf, fitted, picture } from "../paint.js"
import { Stack } from "./stack.js"
/** @import { Actions, Active, Context, DrawnScene, Frame, Group, Pointed } from "../types.js" */
/** @import { Theme } from "../types.js" */

const TALLEST_ALONE = 0.85 // of the window, which paper does not have
const ROUNDED = 0.001 // pixels that a distance may lack by its rounding

export class Matrix extends Stack {
  /** @param {Actions} actions */
  constructor(actions) {
    super("matrix", "Heatmap: a query in each row, a key in each column", actions)
    /** @type {DrawnScene} */
    this.scene = /** @type {any} */ (undefined) // until it is drawn
    this.small = document.createElement("canvas") // a pixel a cell
  }

  /** @param {DrawnScene} scene */
  setNumbers(scene) {
    const { drawnMean, frame, view, shades, fullMean } = scene
    this.small = picture(frame.rows.length, frame.columns.length, shades, (cell) =>
      strengthOf(drawnMean[cell], fullMean, view.scale),
    )
  }

  /** @type {(scene: DrawnScene, width: number) => void} */
  draw(scene, width) {
    const { frame, theme, view } = scene
    const [rows, columns] = [frame.rows.length, frame.columns.length]
    const tallest =
      view.show === "matrix"
        ? Math.max(TALLEST_MATRIX, TALLEST_ALONE * window.innerHeight)
        : TALLEST_MATRIX
    this.scene = scene
    const measure = contextOf(this.base)
    measure.font = `${MATRIX_WEIGHT} ${MATRIX_TYPE}px ${theme.font}` // any may be marked
    /** @param {Group[]} groups */
    const longest = (groups) =>
      groups.reduce((most, { label }) => Math.max(most, measure.measureText(label).width), 0)
    const left = Math.min(longest(frame.rows), WIDEST_LABEL, width * LABEL_SHARE) + MATRIX_ROOM
    const top = Math.min(longest(frame.columns), WIDEST_LABEL) + MATRIX_ROOM
    const cell = Math.min(
      (width - left - MATRIX_RIGHT) / columns,
      LARGEST_CELL,
      Math.max((tallest - top) / rows, 1),
    )
    this.inner = { left, top, width: cell * columns, height: cell * rows }
    const context = this.contexts(width, top + this.inner.height + MATRIX_BELOW)
    if (rows && columns) this.cells(context, theme)
    this.legend(context, scene, width)
  }

  /** @type {(context: Context, theme: Theme) => void} */
  cells(context, theme) {
    const { left, top, width, height } = this.inner
    context.save()
    context.beginPath()
    context.rect(left, top, width, height)
    context.clip()
    context.imageSmoothingEnabled = false
    context.drawImage(this.small, this.toX(0), this.toY(0), width * this.zoom, height * this.zoom)
    context.restore()
    context.strokeStyle = theme.grid
    context.strokeRect(left - 0.5, top - 0.5, width + 1, height + 1)
  }

  // As many labels as fit without touching, and those of what is marked, which stay in sight.
  /** @type {(context: Context, frame: Frame, theme: Theme, active: Active) => void} */
  labels(context, { rows, columns }, theme, { row, column }) {
    const { left, top, width, height } = this.inner
    context.textBaseline = "middle"
    /** @param {number} share */
    const toY = (share) => this.toY(share)
    for (const [place, y] of this.fittingPlaces(rows.length, toY, top, height, row)) {
      this.ink(context, theme, place === row)
      this.rowLabel(context, rows[place].label, y)
    }
    /** @param {number} share */
    const toX = (share) => this.toX(share)
    for (const [place, x] of this.fittingPlaces(columns.length, toX, left, width, column)) {
      this.ink(context, theme, place === column)
      this.columnLabel(context, columns[place].label, x)
    }
  }

  // Along one axis the marked place, if there is one, and every so many of the others in sight that
  // would not touch it.
  /**
   * @param {number} count
   * @param {(share: number) => number} toPixels
   * @param {number} start
   * @param {number} size
   * @param {number} marked
   * @returns {[place: number, pixel: number][]}
   */
  fittingPlaces(count, toPixels, start, size, marked) {
    const apart = MATRIX_TYPE + MATRIX_LABELS
    const every = Math.max(1, Math.ceil((apart * count) / (size * this.zoom)))
    /** @param {number} place */
    const middle = (place) => toPixels((place + 0.5) / count)
    /** @param {number} pixel */
    const inside = (pixel) => Math.min(Math.max(pixel, start), start + size)
    const own = inside(middle(marked))
    /** @type {[place: number, pixel: number][]} */
    const places = marked < 0 ? [] : [[marked, own]]
    for (let place = 0; place < count; place += every) {
      const pixel = middle(place)
      const clear = marked < 0 || Math.abs(pixel - own) > apart - ROUNDED
      if (pixel === inside(pixel) && clear) places.push([place, pixel])
    }
    return places
  }

  /** @type {(context: Context, theme: Theme, chosen: boolean) => void} */
  ink(context, theme, chosen) {
    context.font = `${chosen ? `${MATRIX_WEIGHT} ` : ""}${MATRIX_TYPE}px ${theme.font}`
    context.fillStyle = chosen ? theme.second : theme.text
  }

  /** @type {(context: Context, label: string, y: number) => void} */
  rowLabel(context, label, y) {
    context.textAlign = "right"
    context.fillText(
      fitted(context, label, this.inner.left - MATRIX_AROUND),
      this.inner.left - MATRIX_APART,
      y,
    )
  }

  /** @type {(context: Context, label: string, x: number) => void} */
  columnLabel(context, label, x) {
    context.save()
    context.translate(x, this.inner.top - MATRIX_APART)
    context.rotate(-Math.PI / 2)
    context.textAlign = "left"
    context.fillText(fitted(context, label, this.inner.top - MATRIX_AROUND), 0, 0)
    context.restore()
  }

  /** @type {(context: Context, scene: DrawnScene, width: number) => void} */
  legend(context, { theme, shades, view, fullMean }, width) {
    const { left, top, height } = this.inner
    const [y, length] = [
      top + height + RAMP_TOP,
      Math.max(Math.min(LONGEST_RAMP, width - left - RAMP_BESIDE), SHORTEST_RAMP),
    ]
    const [x, middle] = [left + RAMP_LEFT, y + RAMP_HEIGHT / 2]
    const ramp = picture(1, RAMP_STEPS, shades, (cell) =>
      strengthOf((cell / (RAMP_STEPS - 1)) * fullMean, fullMean, view.scale),
    )
    context.imageSmoothingEnabled = false
    context.font = `${MATRIX_TYPE}px ${theme.font}`
    context.fillStyle = theme.quiet
    context.textAlign = "left"
    context.textBaseline = "middle"
    context.fillText("0", left, middle)
    context.drawImage(ramp, x, y, length, RAMP_HEIGHT)
    context.strokeStyle = theme.grid
    context.strokeRect(x - 0.5, y - 0.5, length + 1, RAMP_HEIGHT + 1)
    context.fillText(
      `${fullMean === 1 ? "1" : fullMean.toPrecision(RAMP_DIGITS)}  weight`,
      x + length + MATRIX_APART,
      middle,
    )
  }

  /** @type {(scene: DrawnScene, active: Active) => void} */
  drawOverlay({ frame, theme }, active) {
    const context = this.overlay()
    const { left, top, width, height } = this.inner
    const [rows, columns] = [frame.rows.length, frame.columns.length]
    context.save()
    context.beginPath()
    context.rect(left - 1, top - 1, width + 2, height + 2)
    context.clip()
    const [tall, wide] = [(height * this.zoom) / rows, (width * this.zoom) / columns]
    this.veil(context, theme, [active.row, rows], [active.column, columns])
    context.strokeStyle = theme.second
    context.lineWidth = MARK_WIDTH
    if (active.row >= 0)
      context.strokeRect(
        this.toX(0),
        this.toY(active.row / rows),
        width * this.zoom,
        Math.max(tall, 1),
      )
    if (active.column >= 0)
      context.strokeRect(
        this.toX(active.column / columns),
        this.toY(0),
        Math.max(wide, 1),
        height * this.zoom,
      )
    context.restore()
    this.labels(context, frame, theme, active)
  }

  // Everything but the row and the column in question steps back, so that what a token attends to
  // is seen alone.
  /**
   * @param {Context} context
   * @param {Theme} theme
   * @param {[place: number, count: number]} row
   * @param {[place: number, count: number]} column
   */
  veil(context, theme, [row, rows], [column, columns]) {
    if (row < 0 && column < 0) return
    /** @type {(place: number, count: number) => number[][]} */
    const others = (place, count) =>
      place < 0
        ? [[0, 1]]
        : [
            [0, place / count],
            [(place + 1) / count, 1],
          ]
    context.globalAlpha = MATRIX_VEIL
    context.fillStyle = theme.background
    for (const [top, bottom] of others(row, rows)) {
      for (const [left, right] of others(column, columns)) {
        context.fillRect(
          this.toX(left),
          this.toY(top),
          this.toX(right) - this.toX(left),
          this.toY(bottom) - this.toY(top),
        )
      }
    }
    context.globalAlpha = 1
  }

  /** @type {(x: number, y: number) => Pointed | null} */
  at(x, y) {
    if (!this.inner || !this.scene) return null
    const { rows, columns } = this.scene.frame
    /** @type {(share: number, count: number) => number} */
    const within = (share, count) => (share >= 0 && share < 1 ? Math.floor(share * count) : -1)
    const row = y < this.inner.top ? -1 : within(this.fromY(y), rows.length)
    const column = x < this.inner.left ? -1 : within(this.fromX(x), columns.length)
    if (y > this.inner.top + this.inner.height || x > this.inner.left + this.inner.width)
      return null
    if (row < 0 && column < 0) return null
    return {
      ...(row >= 0 && { query: rows[row].first }),
      ...(column >= 0 && { key: columns[column].first }),
    }
  }
}
