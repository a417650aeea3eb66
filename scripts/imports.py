#!/usr/bin/env python3
"""Finds import circles between the modules of Rust crates and Python packages, and between the folders of a crate.

    python scripts/imports.py crates/rflvm/src crates/rflvm-py/python/rflvm

Each argument is the `src` folder of a crate or the folder of a Python package. Prints every circle, module by module,
and exits with 1 if there is one. Folders, and files beside them, may not import each other in a circle either, whichever of
their files do.

An arrow goes from a module to each module whose names it imports, wherever in the file the import stands. A name that
a module only re-exports counts as an import of the module that defines it, and re-exporting is no arrow itself: a
`mod.rs` or `__init__.py` may list its children. Tests are left out, and so are imports for type checkers only.
"""

import ast
import re
import sys
from pathlib import Path
from typing import Dict, Iterator, List, Optional, Set, Tuple

Module = Tuple[str, ...]
Arrows = Dict[Module, Set[Module]]


def main(folders: List[str]) -> int:
    if not folders:
        print(__doc__.split("\n\n")[1].strip(), file=sys.stderr)
        return 2
    found = 0
    for folder in map(Path, folders):
        if not folder.is_dir():
            print(f"{folder}: no such folder", file=sys.stderr)
            return 2
        arrows = arrows_of(folder)
        if not arrows:
            print(f"{folder}: no .rs or .py files", file=sys.stderr)
            return 2
        circles = circles_in(arrows)
        for circle in circles:
            print(f"{folder}: {len(circle)} modules import each other in a circle")
            for module in circle:
                targets = ", ".join(name(target) for target in sorted(arrows[module] & set(circle)))
                print(f"    {name(module)} → {targets}")
        between = {} if circles else between_folders(arrows)
        knots = circles_in(between)
        for knot in knots:
            print(f"{folder}: {len(knot)} folders import each other in a circle")
            for source in sorted(arrows):
                for target in sorted(arrows[source]):
                    if source[:1] in knot and target[:1] in knot and source[:1] != target[:1]:
                        print(f"    {name(source)} → {name(target)}")
        found += len(circles) + len(knots)
        print(f"{folder}: {len(arrows)} modules, {len(circles) + len(knots)} circles")
    return 1 if found else 0


def between_folders(arrows: Arrows) -> Arrows:
    """The arrows between what lies directly in a folder: its folders, and its files; the root only declares and re-exports."""
    between: Arrows = {module[:1]: set() for module in arrows if module}
    for module, targets in arrows.items():
        if module:
            between[module[:1]] |= {target[:1] for target in targets if target and target[:1] != module[:1]}
    return between


def name(module: Module) -> str:
    return ".".join(module) or "(root)"


def arrows_of(folder: Path) -> Arrows:
    if any(folder.rglob("*.rs")):
        return RustCrate(folder).arrows()
    return python_arrows(folder)


# Rust

USE = re.compile(r"^\s*(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);", re.M)
PATH = re.compile(r"\b(?:crate|super)(?:::\w+)+")


class RustCrate:
    """The modules of a crate, by their paths below `src`."""

    def __init__(self, folder: Path) -> None:
        self.texts: Dict[Module, str] = {}
        for file in folder.rglob("*.rs"):
            parts = file.relative_to(folder).with_suffix("").parts
            if "tests" in parts:
                continue
            if parts[-1] in ("mod", "lib", "main"):
                parts = parts[:-1]
            self.texts[parts] = self.texts.get(parts, "") + code_of(file.read_text(encoding="utf-8"))
        # What a module re-exports: name → path as written there.
        self.exports: Dict[Module, Dict[str, str]] = {
            module: {
                path.split(" as ")[-1].split("::")[-1].strip(): path.split(" as ")[0]
                for public, tree in USE.findall(text)
                if public
                for path in expanded(tree)
            }
            for module, text in self.texts.items()
        }

    def arrows(self) -> Arrows:
        arrows: Arrows = {}
        for module, text in self.texts.items():
            paths = [path for public, tree in USE.findall(text) if not public for path in expanded(tree)]
            paths += PATH.findall(USE.sub("", text))
            targets = {self.target(path, module) for path in paths}
            # The root only declares and re-exports.
            arrows[module] = {target for target in targets if target and target != module}
        return arrows

    def target(self, path: str, module: Module, depth: int = 0) -> Optional[Module]:
        """The module that a path leads to from another; None if it leads out of the crate."""
        parts = [part.strip() for part in path.split(" as ")[0].split("::") if part.strip()]
        if not parts:
            return None
        here = list(module)
        if parts[0] == "crate":
            here, parts = [], parts[1:]
        elif parts[0] == "self":
            parts = parts[1:]
        elif parts[0] == "super":
            while parts and parts[0] == "super":
                here, parts = here[:-1], parts[1:]
        elif (*here, parts[0]) not in self.texts:
            return None
        while parts and (*here, parts[0]) in self.texts:
            here, parts = [*here, parts[0]], parts[1:]
        reached = tuple(here)
        exported = self.exports.get(reached, {}).get(parts[0]) if parts else None
        if exported is not None and depth < 8:
            return self.target(exported, reached, depth + 1) or reached
        return reached


def code_of(text: str) -> str:
    """The text without comments, strings and the tests at its end."""
    text = re.sub(r"//[^\n]*", "", text)
    text = text.split("#[cfg(test)]\nmod tests {")[0]
    return re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)


def expanded(tree: str) -> List[str]:
    """The paths of a `use` tree: `a::{b, c::{d, e}}` is a::b, a::c::d and a::c::e."""
    tree = " ".join(tree.split())
    match = re.match(r"^([^{]*)\{(.*)\}$", tree)
    if not match:
        return [tree]
    parts, depth = [""], 0
    for letter in match.group(2):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [match.group(1) + path for part in parts if part.strip() for path in expanded(part.strip())]


# Python


def python_arrows(folder: Path) -> Arrows:
    files: Dict[Module, Path] = {}
    for file in folder.rglob("*.py"):
        parts = file.relative_to(folder).with_suffix("").parts
        files[parts[:-1] if parts[-1] == "__init__" else parts] = file
    arrows: Arrows = {}
    for module, file in files.items():
        package = module if file.name == "__init__.py" else module[:-1]
        wanted = python_imports(ast.parse(file.read_text(encoding="utf-8")), package, folder.name)
        targets = {longest(path, files) for path in wanted}
        # A package's __init__ lists its modules.
        own = len(module) if file.name == "__init__.py" else None
        arrows[module] = {t for t in targets if t and t != module and (own is None or t[:own] != module)}
    return arrows


def python_imports(tree: ast.AST, package: Module, root: str) -> Iterator[Module]:
    """What a module imports of its own package, as paths below it."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(node, ast.ImportFrom):
            stem = tuple(node.module.split(".")) if node.module else ()
            if node.level:
                base = package[: len(package) - node.level + 1] + stem
            elif stem and stem[0] == root:
                base = stem[1:]
            else:
                continue
            yield from (base + (alias.name,) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (tuple(alias.name.split("."))[1:] for alias in node.names if alias.name.split(".")[0] == root)
        else:
            yield from python_imports(node, package, root)


def longest(path: Module, files: Dict[Module, Path]) -> Module:
    """The longest beginning of a path that is a module."""
    while path and path not in files:
        path = path[:-1]
    return path


def circles_in(arrows: Arrows) -> List[List[Module]]:
    """Groups of modules that all reach each other, by Tarjan's algorithm."""
    number: Dict[Module, int] = {}
    low: Dict[Module, int] = {}
    stack: List[Module] = []
    circles: List[List[Module]] = []

    def visit(module: Module) -> None:
        number[module] = low[module] = len(number)
        stack.append(module)
        for target in sorted(arrows[module]):
            if target not in number:
                visit(target)
            if target in stack:
                low[module] = min(low[module], low[target])
        if low[module] == number[module]:
            at = stack.index(module)
            group, stack[at:] = sorted(stack[at:]), []
            if len(group) > 1:
                circles.append(group)

    for module in sorted(arrows):
        if module not in number:
            visit(module)
    return circles


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
