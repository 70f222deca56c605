// Copies the address bar. Where the clipboard is closed (an insecure origin, an old browser) the older command does it.
export default function ({ parentElement }) {
  const button = parentElement.querySelector("button")
  const status = parentElement.querySelector("span")
  let timer

  const say = (text) => {
    status.textContent = text
    button.textContent = text
    clearTimeout(timer)
    timer = setTimeout(() => {
      button.textContent = "Share"
    }, 2000)
  }

  const copyTheOldWay = (address) => {
    const field = document.createElement("textarea")
    field.value = address
    document.body.append(field)
    field.select()
    const copied = document.execCommand("copy")
    field.remove()
    return copied
  }

  button.onclick = async () => {
    const address = window.location.href
    try {
      await navigator.clipboard.writeText(address)
      say("Copied")
    } catch {
      say(copyTheOldWay(address) ? "Copied" : "Not copied")
    }
  }

  return () => clearTimeout(timer)
}
