// How every script of ours makes an element. Text is never read as markup.

/**
 * An element of the page; what is no property of it becomes an attribute.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Partial<HTMLElementTagNameMap[Tag]> & Record<string, unknown>} [properties]
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
