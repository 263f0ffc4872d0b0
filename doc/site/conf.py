# SPDX-License-Identifier: GPL-3.0-or-later
"""Sphinx's settings; build.py starts it."""
import os, re

project = "Sweetspot"
copyright = author = "the Sweetspot developers"
language = "en"
extensions = ["myst_parser"]
myst_heading_anchors = 6
html_theme = "furo"
html_title = "Sweetspot"
html_copy_source = False
html_show_sphinx = False
html_static_path = ["static"]
html_css_files = ["site.css"]
templates_path = ["templates"]
html_search_scorer = os.path.join(os.path.dirname(__file__), "scorer.js")
exclude_patterns = ["extra", "figures", ".trees"]
highlight_language = "none"
pygments_style = "default"
pygments_dark_style = "github-dark"
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5394", "color-brand-content": "#0b5394"},
    "dark_css_variables": {"color-brand-primary": "#7ab8ff", "color-brand-content": "#7ab8ff"},
}


def words(app, page, source):
    """<!-- words: a, b --> becomes an entry of the index, which the search ranks like a title."""
    found = re.search(r"<!-- words: (.*?) -->\n", source[0])
    if found:
        source[0] = source[0].replace(found[0], f"```{{index}} {found[1]}\n```\n", 1)


def setup(app):
    app.connect("source-read", words)
