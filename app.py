"""Headlight: everything a Transformer computes for a sentence. Run with: streamlit run app.py"""

import streamlit as st

import pages
from pages.parts.computed import leave_a_core
from pages.parts.state.session import carry
from pages.parts.theme import follow_theme

st.set_page_config(page_title="Headlight", page_icon="🔦", layout="wide")
leave_a_core()
carry()
pages.route().run()
follow_theme()
