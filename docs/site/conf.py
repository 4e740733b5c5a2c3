"""How Sphinx reads the site that `docs/make_site.py` lays out."""

import gyrostat

project = "gyrostat"
author = copyright = "The gyrostat developers"
version = release = gyrostat.__version__

extensions = ["myst_nb", "sphinx_design"]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # tutorials come with their results, see make_site.py
nb_merge_streams = True
exclude_patterns = ["README.md", "tutorials/downloads"]  # the latter: to be downloaded as they are

html_theme = "pydata_sphinx_theme"
html_title = f"gyrostat {version}"
html_static_path = ["static"]
html_css_files = ["gyrostat.css"]
html_sidebars = {page: [] for page in ("index", "from-elsewhere", "validation")}
html_show_sourcelink = False
html_theme_options = {
    "show_prev_next": True,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 7,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "search_bar_text": "Search",
}
