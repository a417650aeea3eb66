#!/usr/bin/env python3
"""docs/results.md, one page of what holds now, from evidence/claims.toml.

scripts/results.py            writes the page
scripts/results.py --check    exits with 1 if the page is out of date
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CLAIMS, PAGE = ROOT / "evidence/claims.toml", ROOT / "docs/results.md"

HEAD = """# Results

```sh
make results
```

writes this page from [evidence/claims.toml](../evidence/claims.toml): what holds now, the command that shows it, and the page where it was measured. What was tried on the
way, also what failed, is in [evidence/trials](../evidence/trials/README.md); `DATA` is a folder of data sets, which are not part of the repository.

Figures of `make calibrate` are those of the present default, eight chains from different starts. All others are older: they are of point estimates, or of
chains from one start, as many and as long as their pages say.
"""


def page(claims: dict) -> str:
    """The page."""
    text = HEAD
    for group in claims["group"]:
        text += f"\n## {group['title']}\n\n| claim | figure | command | measured |\n|---|---|---|---|\n"
        for claim in group["claim"]:
            text += f"| {claim['claim']} | {claim['figure']} | `{claim['command']}` | {link(claim['page'])} |\n"
    return text


def link(path: str) -> str:
    """A link from the page to a page of the repository: a trial is named by its day."""
    name = Path(path).stem
    if path.startswith("docs/"):
        return f"[{name}]({path.removeprefix('docs/')})"
    folder = Path(path).parent.name
    return f"[{name[:10] if folder == 'trials' else f'{folder}/{name}'}](../{path})"


def main(words: list[str]) -> int:
    text = page(tomllib.loads(CLAIMS.read_text(encoding="utf-8")))
    if "--check" in words:
        if PAGE.read_text(encoding="utf-8") != text:
            print("docs/results.md is not what evidence/claims.toml says: run make results", file=sys.stderr)
            return 1
        return 0
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
