# SPDX-License-Identifier: GPL-2.0-or-later
# Copyright (c) 2026 The OpenGNI authors
"""Sphinx's configuration: HTML and manual pages from the copy of these pages that scripts/doc.py makes below .build."""

import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP / "scripts"))

from manuals import pages  # noqa: E402  pylint: disable=wrong-import-position
from opengni.version import version as project_version  # noqa: E402  pylint: disable=wrong-import-position

project = "OpenGNI"
author = "OpenGNI"
copyright = "OpenGNI, CC-BY-4.0"  # pylint: disable=redefined-builtin
release = version = project_version()
root_doc = "index"
extensions = ["myst_parser"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4
# A dash in an option stays what it is.
smartquotes = False
html_theme = "alabaster"
html_theme_options = {"description": "An emulated Cray Aries network", "page_width": "1180px"}
html_title = f"OpenGNI {version}"
html_copy_source = False
html_show_sourcelink = False
html_sidebars = {"**": ["about.html", "searchbox.html", "navigation.html"]}
# Titles such as "Description" come on every manual page; nothing refers to them.
suppress_warnings = ["myst.header"]
man_make_section_directory = True
man_show_urls = False
# The page of the interface is for HTML: manual pages of functions come from scripts/manuals/api.py.
man_pages = [(f"man/{path.stem}", name, pages.head(path)[2], [], int(section)) for (name, section), path in pages.sources().items()]
exclude_patterns = []
