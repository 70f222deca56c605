// How every script of ours makes an element. Text is never read as markup.

/**
 * A style is given as text.
 * @template Element
 * @typedef {Partial<Omit<Element, "style">> & Record<string, unknown>} Properties
 */

/**
 * An element of the page; what is no property of it becomes an attribute.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Properties<HTMLElementTagNameMap[Tag]>} [properties]
 * @param {...(Node | string)} children
 */
export function el(tag, properties, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (name.startsWith("on") || name in element) Reflect.set(element, name, value)
    else element.setAttribute(name, String(value))
  }
  element.append(...children)
  return element
}
