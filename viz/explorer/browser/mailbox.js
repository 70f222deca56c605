// Puts what the server says into the page's mailbox, and tells the explorer.
export default function ({ data }) {
  const box = (window.headlight ??= {})
  if (data instanceof Uint8Array) box.layer = data
  else box.steer = data
  window.dispatchEvent(new CustomEvent("headlight-explorer"))
}
