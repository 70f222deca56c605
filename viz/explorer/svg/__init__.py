"""The explorer's views as SVG for print, each in the file of the name that it has in browser/panels/.

Constants of both are in viz/explorer/layout.py.
"""
