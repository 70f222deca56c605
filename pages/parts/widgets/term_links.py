"""Words of the field in running text, each a link to the page Words, which explains it."""

from urllib.parse import urlencode

from pages.parts.state.session import ALWAYS_KEPT, address_of
from viz.text.glossary import TERMS
from viz.tokens import markdown_text


def term_link(name: str, words: str = "") -> str:
    """ "[**head**](words?term=head)", Markdown: the text and model on the screen go along, and nothing else.

    name: that of a term, or its key in an address. words: what the link says where it is not the name, Markdown.
    KeyError for a term that there is not.
    """
    term = TERMS[name.lower().replace("_", "-").replace(" ", "-")]
    address = address_of("words", term=term.key)
    named = urlencode({name: address[name] for name in (*ALWAYS_KEPT, "term") if name in address})
    return f"[{words or f'**{markdown_text(term.name)}**'}](words?{named})"
