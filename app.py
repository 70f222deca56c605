"""Headlight: everything a Transformer computes for a sentence. Run with: streamlit run app.py"""

import pages
from pages.parts.frame.paper import fit_paper
from pages.parts.frame.sidebar import configure, style_sheet
from pages.parts.frame.theme import follow_theme
from pages.parts.shared_cache import leave_a_core
from pages.parts.state.session import carry, finish

configure()
style_sheet()
leave_a_core()
carry()
pages.route().run()
follow_theme()
fit_paper()
finish()
