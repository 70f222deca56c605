"""Headlight: everything a Transformer computes for a sentence. Run with: streamlit run app.py"""

import pages
from pages.parts.computed import leave_a_core
from pages.parts.paper import fit_paper
from pages.parts.sidebar import configure, style_sheet
from pages.parts.state.session import carry, finish
from pages.parts.theme import follow_theme

configure()
style_sheet()
leave_a_core()
carry()
pages.route().run()
follow_theme()
fit_paper()
finish()
