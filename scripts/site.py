"""Hooks of the documentation site (mkdocs.yml): pages outside docs/, source code that pages link to, and what the gallery made.

Text is not copied: the site shows the files of the repository, and a link to a source file leads to a page with that file.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File
from mkdocs.structure.nav import Link

ROOT = Path(__file__).resolve().parents[1]
GALLERY = ROOT / "target" / "gallery"
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)\s#]+)(#[^)\s]*)?\)")
#: A source file as a cell of a table.
CELL = re.compile(r"(?<=\| )(crates/[\w/-]+\.rs)(?= \|)")
#: How source files are highlighted.
LANGUAGES = {".rs": "rust", ".py": "python", ".toml": "toml", ".yml": "yaml", ".csv": "text", ".pyi": "python", "": "make"}


def uri_of(path):
    """Where the site shows a file of the repository, named by its path there; None if it does not."""
    if path == "README.md":
        return "tour.md"
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    file = ROOT / path
    if path.startswith("..") or not file.is_file() or file.suffix not in {".md", *LANGUAGES}:
        return None
    return f"source/{path}" if file.suffix == ".md" else f"source/{path}.md"


def linked(text, path):
    """The text of a page, where source files in tables are links."""
    up = posixpath.relpath(".", posixpath.dirname(path) or ".")
    return CELL.sub(lambda cell: f"[{cell[1]}]({up}/{cell[1]})", text)


def targets(path):
    """The files that a page links to, by their paths in the repository."""
    text = linked((ROOT / path).read_text(encoding="utf-8"), path)
    return [posixpath.normpath(posixpath.join(posixpath.dirname(path), link)) for link, _ in LINK.findall(text)]


def page_of(path, config):
    """A file outside docs/ as a page."""
    uri, file = uri_of(path), ROOT / path
    if file.suffix == ".md":
        return File.generated(config, uri, abs_src_path=str(file))
    text = file.read_text(encoding="utf-8")
    return File.generated(config, uri, content=f"---\nsearch:\n  exclude: true\n---\n# {path}\n\n````{LANGUAGES[file.suffix]}\n{text}\n````\n")


def on_files(files, *, config):
    """Adds everything that pages link to."""
    origins = {uri_of(path): path for path in ["README.md", *(f"docs/{file.src_uri}" for file in files.documentation_pages())]}
    waiting = list(origins.values())
    files.append(page_of("README.md", config))
    while waiting:
        for path in targets(waiting.pop()):
            uri = uri_of(path)
            if uri and uri not in origins and not path.startswith("docs/"):
                origins[uri] = path
                files.append(page_of(path, config))
                if path.endswith(".md"):
                    waiting.append(path)
    for made in sorted(path for kind in ("svg", "png", "html") for path in GALLERY.glob(f"**/*.{kind}")):
        uri = f"gallery/{made.relative_to(GALLERY).as_posix()}"
        files.append(File(uri, str(ROOT / "target"), config.site_dir, config.use_directory_urls))
    config.extra["origins"] = origins
    return files


def on_nav(nav, *, config, files):
    """Adds the Rust API, which `make site` copies into the site after it is built."""
    reference = next(item for item in nav.items if item.title == "Reference")
    reference.children.append(Link("Rust API", "rust/rflvm/index.html"))
    return nav


def on_page_markdown(markdown, *, page, config, files):
    """Turns links between files of the repository into links between pages."""
    path = config.extra["origins"].get(page.file.src_uri)
    if path is None or not path.endswith(".md"):
        return markdown
    here = posixpath.dirname(page.file.src_uri)

    def link(found):
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), found[1]))
        uri = uri_of(target)
        # A folder, or a file that is no text, has no page.
        return f"]({posixpath.relpath(uri, here or '.')}{found[2] or ''})" if uri else "](#)"

    return LINK.sub(link, linked(markdown, path))
