"""Headlight: everything a Transformer computes for a sentence. Run with: streamlit run app.py"""

import streamlit as st

import pages
from pages.parts.computed import leave_a_core
from pages.parts.sidebar import NAME, WIDTH, style_sheet
from pages.parts.state.session import carry
from pages.parts.theme import follow_theme

st.set_page_config(page_title=NAME, page_icon="🔦", layout="wide", initial_sidebar_state=WIDTH)
style_sheet()
leave_a_core()
carry()
pages.route().run()
follow_theme()
