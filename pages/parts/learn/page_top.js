// A page that becomes another question begins at its top: Streamlit leaves it scrolled to its end,
// where the button was.

/** @type {WeakMap<HTMLElement, string>} */
const asked = new WeakMap()

/** @param {{ data: { question: string }, parentElement: HTMLElement }} mounting */
export default function ({ data, parentElement }) {
  const before = asked.get(parentElement)
  asked.set(parentElement, data.question)
  if (before === undefined || before === data.question) return
  document.querySelector("[data-testid=stMain]")?.scrollTo({ top: 0 })
}
