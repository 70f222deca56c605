// Puts what the server says into the page's mailbox, and tells the explorer.
export default function ({ data, key }) {
  const box = (window.headlight ??= { layers: new Map() })
  if (data instanceof Uint8Array) box.layers.set(key, data)
  else box.steer = data
  window.dispatchEvent(new CustomEvent("headlight-explorer"))
}
