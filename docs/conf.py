"""How Sphinx makes the site: no network, no script of others, formulas as MathML."""

import re
from pathlib import Path

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx

import qops

here = Path(__file__).parent
wide = ["index", "trust/compare", "develop/contributing"]  # pages without a list of their headings at the right
wide += [path.relative_to(here).with_suffix("").as_posix() for path in here.glob("rules/*/*.md")]
project = "qops"
copyright = "The qops developers, BSD-3-Clause"
release = qops.__version__
extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "sphinx_design",
]
default_role = "py:obj"
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "off"
nb_ipywidgets_js: dict[str, dict[str, str]] = {}
numpydoc_show_class_members = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
html_theme = "pydata_sphinx_theme"
html_title = "qops"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_extra_path = ["extra"]
html_show_sourcelink = False
html_copy_source = False
html_math_renderer = "mathml"
html_sidebars = {page: [] for page in ("index", "ten_minutes", "surprises")}
html_domain_indices = False  # it would list internal modules
html_theme_options = {
    "header_links_before_dropdown": 6,
    "navbar_persistent": ["search-button"],
    "show_prev_next": False,
    "collapse_navigation": True,
    "secondary_sidebar_items": {"**": ["page-toc"], **{page: [] for page in wide}},
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def write_inline(writer: nodes.NodeVisitor, node: nodes.math) -> None:
    """Put a formula into a line."""
    writer.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def write_block(writer: nodes.NodeVisitor, node: nodes.math_block) -> None:
    """Put a formula on lines of its own, one for each equation."""
    parts = re.split(r"\\q?quad", node.astext())
    writer.body.append(f'<div class="formula">{"".join(tex2mathml(part, as_block=True) for part in parts)}</div>')
    raise nodes.SkipNode


def with_breaks(app: Sphinx, page: str, template: str, context: dict[str, object], tree: object) -> None:
    """Let long names in headings break at their dots and underscores."""
    if "body" in context:
        context["body"] = re.sub(
            r"(<h[1-3]>)(.*?)(<a )",
            lambda found: found[1] + re.sub(r"(\w[._])(?=\w)", r"\1<wbr>", found[2]) + found[3],
            str(context["body"]),
        )


def with_neighbours(app: Sphinx, page: str, template: str, context: dict[str, object], tree: object) -> None:
    """Give the pages that are read one after the other their links to the previous and the next."""
    context["theme_show_prev_next"] = page.startswith(("notebooks/", "guide/"))


def setup(app: Sphinx) -> None:
    """Register the writers of formulas, and what changes pages."""
    app.connect("html-page-context", with_neighbours, priority=900)
    app.connect("html-page-context", with_breaks)
    app.add_html_math_renderer("mathml", (write_inline, None), (write_block, None))
