// Two canvases, one over the other: the picture, and over it what follows the pointer, so that a
// hover repaints little.
import { el } from "../element.js"
import { prepared } from "../paint.js"
/** @import { Actions, Box, Context, Point, Pointed, Press } from "../types.js" */

const ZOOM_STEP = 1.5 // of one press of a zoom button
const CLOSEST = 40
const PAN_STEP = 0.25 // of what is seen, of one press of an arrow key
const TOUCH_SLIP = 8 // pixels that a finger may move in a tap

export class Stack {
  // `actions` has hover(place or null), choose(place, event), press(place), open(place).
  /**
   * @param {string} name
   * @param {string} label
   * @param {Actions} actions
   */
  constructor(name, label, actions) {
    this.base = el("canvas", { className: "base" })
    this.over = el("canvas", { className: "over" })
    this.host = el(
      "div",
      { className: `stack ${name}`, role: "img", "aria-label": label },
      this.base,
      this.over,
    )
    this.actions = actions
    this.zoom = 1
    this.shift = { x: 0, y: 0 } // of the upper left corner, as a share of the whole picture
    /** @type {Box} */
    this.inner = /** @type {any} */ (undefined) // until it is drawn
    this.size = { width: 0, height: 0 }
    /** @type {Press | null} */
    this.held = null
    /** @type {(Point & { apart: number }) | null} */
    this.fingers = null
    this.slipped = false
    this.listen()
  }

  listen() {
    this.host.onpointermove = (event) => {
      if (this.fingers) return
      if (this.held && event.buttons) this.drag(event)
      else this.actions.hover(this.place(event))
    }
    this.host.onpointerleave = () => this.actions.hover(null)
    this.host.onpointerdown = (event) => {
      this.held = {
        x: event.clientX,
        y: event.clientY,
        slipped: false,
        shiftX: this.shift.x,
        shiftY: this.shift.y,
      }
      if (this.zoom > 1) this.host.setPointerCapture(event.pointerId)
      this.actions.press?.(this.place(event))
    }
    this.host.onpointerup = this.host.onpointercancel = ({ type }) => {
      if (type === "pointercancel") this.actions.press?.(null) // a finger that scrolls
      this.slipped = Boolean(this.held?.slipped)
      this.held = null
    }
    this.host.onclick = (event) => {
      if (!this.slipped) this.actions.choose(this.place(event), event)
    }
    this.host.ondblclick = (event) => this.actions.open?.(this.place(event))
    this.host.onwheel = (event) => {
      // The page scrolls; with Ctrl, and so by pinching, the picture zooms.
      if (!event.ctrlKey || !this.inner) return
      event.preventDefault()
      this.zoomBy(event.deltaY < 0 ? 1.2 : 1 / 1.2, this.point(event))
    }
    this.host.ontouchstart = this.host.ontouchmove = (event) => this.pinch(event)
    this.host.ontouchend = this.host.ontouchcancel = () => {
      this.fingers = null
    }
  }

  // Two fingers: what lies between them stays there, as large as they are far apart.
  /** @param {TouchEvent} event */
  pinch(event) {
    if (event.targetTouches.length !== 2 || !(this.inner?.width > 0 && this.inner.height > 0))
      return
    if (event.cancelable) event.preventDefault()
    const [one, other] = [...event.targetTouches].map((touch) => this.point(touch))
    const now = {
      apart: Math.hypot(one.x - other.x, one.y - other.y),
      x: (one.x + other.x) / 2,
      y: (one.y + other.y) / 2,
    }
    if (this.fingers) {
      this.shift.x -= (now.x - this.fingers.x) / (this.inner.width * this.zoom)
      this.shift.y -= (now.y - this.fingers.y) / (this.inner.height * this.zoom)
      this.zoomBy(now.apart / Math.max(this.fingers.apart, 1), now)
    }
    this.fingers = now
    this.held = null // neither finger drags
  }

  /** @type {(event: { clientX: number; clientY: number }) => Point} */
  point(event) {
    const box = this.host.getBoundingClientRect()
    return { x: event.clientX - box.left + this.host.scrollLeft, y: event.clientY - box.top }
  }

  /** @type {(event: { clientX: number; clientY: number }) => Pointed | null} */
  place(event) {
    const { x, y } = this.point(event)
    return this.at(x, y)
  }

  // What lies at a point of the picture, as each of them knows.
  /** @type {(x: number, y: number) => Pointed | null} */
  at(_x, _y) {
    return null
  }

  /** @param {PointerEvent} event */
  drag(event) {
    if (!this.held) return
    const [across, down] = [event.clientX - this.held.x, event.clientY - this.held.y]
    if (Math.hypot(across, down) > TOUCH_SLIP) this.held.slipped = true
    if (this.zoom > 1 && this.inner) {
      this.shift.x = this.held.shiftX - across / (this.inner.width * this.zoom)
      this.shift.y = this.held.shiftY - down / (this.inner.height * this.zoom)
      this.moved()
    } else this.actions.hover(this.place(event))
  }

  // `point` stays where it is on the screen.
  /** @type {(factor: number, point?: Point | null) => void} */
  zoomBy(factor, point = null) {
    const { left, top, width, height } = this.inner
    if (!(width > 0 && height > 0)) return // every token may be hidden
    const zoom = Math.min(Math.max(this.zoom * factor, 1), CLOSEST)
    const middle = point ?? { x: left + width / 2, y: top + height / 2 }
    const [across, down] = [(middle.x - left) / width, (middle.y - top) / height]
    this.shift.x += across / this.zoom - across / zoom
    this.shift.y += down / this.zoom - down / zoom
    this.zoom = zoom
    this.moved()
  }

  zoomIn() {
    this.zoomBy(ZOOM_STEP)
  }

  zoomOut() {
    this.zoomBy(1 / ZOOM_STEP)
  }

  zoomReset() {
    this.zoom = 1
    this.shift = { x: 0, y: 0 }
    this.moved()
  }

  // So many steps to the right and down.
  /** @type {(across: number, down: number) => void} */
  pan(across, down) {
    if (!this.inner) return
    this.shift.x += (across * PAN_STEP) / this.zoom
    this.shift.y += (down * PAN_STEP) / this.zoom
    this.moved()
  }

  moved() {
    const most = 1 - 1 / this.zoom
    this.shift.x = Math.min(Math.max(this.shift.x, 0), most)
    this.shift.y = Math.min(Math.max(this.shift.y, 0), most)
    this.host.style.touchAction = this.zoom > 1 ? "none" : "pan-y"
    this.actions.redraw()
  }

  // From a share of the whole picture to pixels, and back.
  /** @type {(share: number) => number} */
  toX(share) {
    return this.inner.left + (share - this.shift.x) * this.zoom * this.inner.width
  }

  /** @type {(share: number) => number} */
  toY(share) {
    return this.inner.top + (share - this.shift.y) * this.zoom * this.inner.height
  }

  /** @type {(x: number) => number} */
  fromX(x) {
    return (x - this.inner.left) / (this.zoom * this.inner.width) + this.shift.x
  }

  /** @type {(y: number) => number} */
  fromY(y) {
    return (y - this.inner.top) / (this.zoom * this.inner.height) + this.shift.y
  }

  /** @type {(width: number, height: number) => Context} */
  contexts(width, height) {
    this.host.style.height = `${height}px`
    this.size = { width, height }
    return prepared(this.base, width, height)
  }

  overlay() {
    return prepared(this.over, this.size.width, this.size.height)
  }
}
