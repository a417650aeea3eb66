#!/usr/bin/env python3
"""Find phrases that a native reader stumbles over, and say what to write instead.

    scripts/dialect.py                          the documents, and the sources in Python and Rust
    scripts/dialect.py docs README.md           some files and folders
    scripts/dialect.py --program target/debug/rflvm docs    also the --help of every command of a program

Prints one line per hit, `file:line: phrase -> advice`, and exits with 1 if there are any. Phrases are also found across line breaks.
A line that must quote such a phrase ends with the comment `dialect: quoted`.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from bisect import bisect_right
from pathlib import Path
from typing import Iterator

ROOT = Path(__file__).resolve().parent.parent
DEFAULT = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "CITATION.cff",
    "Cargo.toml",
    "pyproject.toml",
    "deny.toml",
    ".github",
    "Makefile",
    "docs",
    "evidence",
    "crates",
    "validation",
]
SUFFIXES = {".md", ".py", ".pyi", ".rs", ".cff", ".toml", ".yml", ""}
#: This file and its test are full of examples.
SKIPPED = {"dialect.py", "test_language.py"}

UNIT = (
    r"(?:CPU second|second|minute|(?:kept |new )?draw|missing cell|cell|row|column|sweep|chain|line|fit|table|sample|sequence|axis|file|frequency"
    r"|point|level|family|step|class|page|new time|source file|block|trajectory|process|entry|label|configuration)"
)
#: After "rows a fit", these begin a clause: "the rows a fit has not seen" is good English.
CLAUSE = (
    r"(?! (?:that|which|has|have|had|is|was|makes?|made|keeps?|kept|takes?|took|reads?|writes?|can|could|needs?|does|did|will|would|should"
    r"|must|may|holds?|knows|saw|sees|leaves?)\b)"
)
THING = (
    r"(?:(?:one|a|per|each) (?:line|row|column|object|panel|try|number|family|file|value|vector|function|slice|pair|thread|trial|snapshot"
    r"|unit|point|draw|matrix)"
    r"|JSON object|seconds?|milliseconds|nanoseconds|microseconds|ms|CPU s|wall s|ESS|points|tries|nats?|bytes|parameters|evaluations|allocations"
    r"|(?:effective|kept|more|\d+|[{][^{}]*[}]) (?:samples|draws|rows|sweeps)|leapfrog steps|figures|lines|chains|sweeps|\d+ times"
    r"|(?:two|three|four|five) times|log density|slice tries)"
)

#: After "of its own", these show that no noun follows.
LINK = r"(?:and|or|in|with|for|that|which|from|to|by|as|where|is|are|has|have)"
#: Where a sentence begins, and verbs of an inverted one ("What is not set has a default").
SENTENCE, VERB = r"(?:^|(?<=[.;:] ))", r"(?:is|are|has|have|goes|raises|stays|falls|counts|follows|comes)"

#: What to look for, and what to write instead.
PATTERNS = [
    (rf"\b{THING} an? {UNIT}\b{CLAUSE}", "per"),
    (r"\b(?:samples|thousand|times) a (?:CPU )?second\b(?! time)", "per"),
    (rf"\bone an? (?:line|column|row|cell|sweep|chain|sequence|axis|table|file|level)\b{CLAUSE}", "one per …"),
    (r"\bso man(?:y|ieth)\b", "M, that many, or every `thin`-th"),
    (r"\bborn on\b", "simulated along"),
    (r"\blets? (?:those|them|these|axes) go\b", "prunes, drops"),
    (r"\b(?:data|cells|rows) (?:do not |does not )?ask for\b", "support"),
    (r"\bhardly a word\b", "without"),
    (r"\b[Gg]o(?:es|ing)? on with\b", "resume, continue"),
    (r"\b(?:run|fit|command|chain|same|resume(?:\(\))?|tests?|it) goes? on\b", "continues"),
    (r"\bas if it had never\b", "identical to an uninterrupted run"),
    (r"\bto the bit\b", "bit-identical"),
    (r"\bsays? nothing (?:sensible )?of\b|\bnothing sensible\b", "cannot be interpreted as"),
    (r"\b(?:[Tt]he|where) climbs?\b|\bclimb(?:s|ed)? (?:to|from|on|further)\b|\bclimb had\b", "optimiser, optimisation"),
    (r"\brounds were up\b", "reached its iteration limit"),
    (r"\b(?:takes?|taken|took) up (?:a|the|by|where|from)\b", "resume, continue"),
    (r"\b(?:that|which|what|What) (?:is|are|was|were) there\b(?! (?:to|for|in|no|a)\b)", "existing, present, available"),
    (r"\b(?:is|are) not there\b", "missing, not found"),
    (r"\bto speak of\b", "delete"),
    (r"\btells? (?:it in|it by|of|little|large|too little|less|nothing|each other)\b", "reports, describes, is uninformative"),
    (r"\b(?:tell|tells) more (?:of|than)\b|\btells more\b", "is more informative, see"),
    (r"\btold (?:of|in|by its|by their)\b|\b(?:is|are|was|were|be) told\b(?! apart)|\bunless told\b|\bnot told\b(?!\.)", "is given, is reported"),
    (r"\bwhatever comes\b|\bwhat comes of (?:it|them)\b", "the result"),
    (r"\bha(?:s|ve|d) (?:had|seen) enough\b", "stops"),
    (r"\bsurprises? less\b", "have higher predictive density"),
    (r"(?<!def )(?<!\.)\b[Bb]eside (?!=)", "next to, compared with, in addition to"),
    (r"\bstands? for\b", "means, represents"),
    (rf"\bof (?:its|their|his|our|your) own(?=[.,;:)]| {LINK}\b|\s*$)", "its own …, a separate …"),
    (
        rf"{SENTENCE}What (?:is|are|has|was|were|does|do|did|cannot)(?: not| no)? [^?.,|\n]{{0,120}}\b{VERB}\b[^?|\n.]*\.(?= |$)",
        "put the subject first",
    ),
    (rf"{SENTENCE}The same (?:of|for|from|as one) ", "name the noun"),
    (r"\b(?:read|placed?|handed back|held|grouped?) (?:\w+ ){0,2}alike\b", "in the same way"),
    (r"\blesser modes?\b", "minor mode"),
    (r"\banew\b", "again, afresh"),
    (r"\bas of (?:any )?other\b", "as for other …"),
    (r"\bfit's own rows\b|\bown rows of the fit\b", "training rows"),
    (r"\b(?:should|will|would) do(?=[;.,])", "are enough"),
    (r"\bother work\b", "other jobs"),
    (r"\b(?:has|have|had|with) more to (?:say|tell)\b", "see"),
    (r"\bsay(?:s)? (?:it|this) of\b", "say about"),
    (r"\bin units? a\b", "per"),
]
COMPILED = [(re.compile(pattern, re.MULTILINE | re.IGNORECASE), advice) for pattern, advice in PATTERNS]
#: How a line ends that quotes such a phrase.
QUOTED = ("dialect: quoted", "dialect: quoted -->")
#: What begins a line of a comment, a quotation or a list.
PREFIX = re.compile(r"^\s*(?://[/!]?|#[:!]?|\*|>|- )?\s*")


def flowing(text: str) -> tuple[str, list[int]]:
    """The text with the lines of each paragraph joined by blanks, and where each line begins in it.

    Blank lines, fences, table rows and headings end a paragraph. Output of the program, in blocks of `text`, is left out.
    """
    parts: list[str] = []
    starts, size, is_output = [], 0, False
    for line in text.split("\n"):
        if line.startswith("```"):
            is_output = line == "```text"
        is_left_out = is_output or line.rstrip().endswith(QUOTED)
        body = "" if is_left_out else PREFIX.sub("", line).rstrip()
        is_apart = not body or line.startswith(("```", "|", "# ", "## ", "### "))
        if is_apart and parts:
            parts[-1] = parts[-1][:-1] + "\n"
        starts.append(size)
        parts.append(body + ("\n" if is_apart else " "))
        size += len(parts[-1])
    return "".join(parts), starts


def hits(name: str, text: str) -> Iterator[str]:
    """One line per phrase."""
    joined, starts = flowing(text)
    found = sorted((match.start(), match.group(), advice) for pattern, advice in COMPILED for match in pattern.finditer(joined))
    for place, phrase, advice in found:
        yield f"{name}:{bisect_right(starts, place)}: {phrase.strip()!r} -> {advice}"


def files(paths: list[str]) -> Iterator[Path]:
    """The files to read, in order."""
    for path in map(Path, paths):
        found = sorted(path.rglob("*")) if path.is_dir() else [path]
        wanted = (file for file in found if file.is_file() and file.suffix in SUFFIXES and file.name not in SKIPPED)
        yield from (file for file in wanted if not {"target", "__pycache__", "results"} & set(file.parts))


def helps(program: str) -> Iterator[tuple[str, str]]:
    """The help of a program and of its commands."""

    def ask(*words: str) -> str:
        return subprocess.run([program, *words, "--help"], capture_output=True, text=True, check=True).stdout

    overview = ask()
    yield "--help", overview
    commands = overview.split("Commands:\n", 1)[-1].split("\n\n", 1)[0]
    for command in re.findall(r"^  (\w+)", commands, re.MULTILINE):
        if command != "help":
            yield f"{command} --help", ask(command)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", help="files and folders; the whole repository by default")
    parser.add_argument("--program", help="also read the --help of this program")
    arguments = parser.parse_args()
    paths = arguments.paths or [str(ROOT / path) for path in DEFAULT if (ROOT / path).exists()]
    found = [hit for file in files(paths) for hit in hits(str(file), file.read_text(encoding="utf-8"))]
    if arguments.program:
        found += [hit for name, text in helps(arguments.program) for hit in hits(name, text)]
    for hit in found:
        print(hit)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
