// Puts what the server says into the page's mailbox, tells the explorer, and takes its questions to
// the server.
/** @import { ExactRow, Mailbox, MeasuresMessage, Mounting, Steering } from "./types.js" */

const WAIT = 100 // milliseconds between two looks whether a link still leads away

/** @typedef {{ exact: ExactRow | null; view?: never; measures?: never }} Answer */

/** @param {Mounting<Uint8Array<ArrayBuffer> | (Steering & { measures?: never }) | (MeasuresMessage & { view?: never }) | Answer>} mounting */
export default function ({ data, key, setTriggerValue }) {
  window.headlight ??= { layers: new Map() }
  const box = window.headlight
  if (data instanceof Uint8Array) box.layers.set(key, data)
  else if (data.view) box.steer = data
  else if (data.measures) box.measures = data
  else {
    /** @type {typeof setTriggerValue} */
    const ask = (...question) => {
      if (!window.headlightLeaving?.()) setTriggerValue(...question)
      else setTimeout(() => box.ask === ask && ask(...question), WAIT)
    }
    Object.assign(box, { exact: data.exact, ask })
  }
  window.dispatchEvent(new CustomEvent("headlight-explorer"))
}
