"""docs/results.md is what evidence/claims.toml says; what it names exists; and README claims no number that it does not have."""

import importlib.util
import re
import shlex
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
if not (ROOT / "evidence" / "claims.toml").exists():
    pytest.skip("the evidence is not here", allow_module_level=True)
CLAIMS = tomllib.loads((ROOT / "evidence" / "claims.toml").read_text(encoding="utf-8"))
ALL = [claim for group in CLAIMS["group"] for claim in group["claim"]]
#: A number in figures or in words.
NUMBER = re.compile(
    r"\d[\d,.]*|\b(?:half|third|tenth|two|three|four|five|six|seven|eight|nine|ten|hundred|thousand|million|twice|times (?:as|faster|more))\b",
    re.IGNORECASE,
)


def generator():
    spec = importlib.util.spec_from_file_location("results", ROOT / "scripts" / "results.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def targets():
    """The targets of the Makefile."""
    lines = re.findall(r"^([a-z][a-z -]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    return {target for line in lines for target in line.split()}


def fault(command):
    """What a command names that does not exist, or None."""
    words = shlex.split(command)
    if words[0] == "mpirun":
        words = words[3:]
    program, *rest = words
    if program == "make":
        return None if rest[0] in targets() else rest[0]
    if program == "python":
        return None if (ROOT / rest[0]).is_file() else rest[0]
    if program == "rflvm":
        return None if f"`rflvm {rest[0]} " in (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8") else rest[0]
    if program == "cargo":
        names = {tomllib.loads(path.read_text(encoding="utf-8"))["package"]["name"] for path in ROOT.glob("*/Cargo.toml")}
        return None if rest[rest.index("-p") + 1] in names else rest[rest.index("-p") + 1]
    return program


def prose(text):
    """README without code, links' targets and its table."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"`[^`]*`|\]\([^)]*\)", " ", text)
    lines = [line for line in text.splitlines() if not line.startswith("|")]
    return " ".join(" ".join(lines).replace("[", " ").replace("*", " ").split())


def unclaimed(text, told):
    """Numbers of a text that no phrase of `told` has."""
    for phrase in told:
        text = text.replace(phrase, " ")
    return [text[max(0, at.start() - 40) : at.end() + 40] for at in NUMBER.finditer(text)]


def test_the_page_is_up_to_date():
    module = generator()
    assert module.PAGE.read_text(encoding="utf-8") == module.page(CLAIMS), "run make results"
    assert len(module.page(CLAIMS).splitlines()) <= 120


@pytest.mark.parametrize("claim", ALL, ids=[claim["claim"] for claim in ALL])
def test_what_a_claim_names_exists(claim):
    assert set(claim) <= {"claim", "figure", "command", "page", "readme"}
    assert (ROOT / claim["page"]).is_file()
    assert fault(claim["command"]) is None
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert claim.get("readme", "") in readme


@pytest.mark.parametrize("claim", ALL, ids=[claim["claim"] for claim in ALL])
def test_a_figure_is_on_its_page(claim):
    """Each number of a figure, rounded as it is there, is on the page where it was measured."""
    page = (ROOT / claim["page"]).read_text(encoding="utf-8").replace("−", "-").replace(",", "")
    known = [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", page)]
    for number in re.findall(r"-?\d+(?:\.\d+)?", claim["figure"].replace("−", "-").replace(",", "")):
        digits = len(number.partition(".")[2])
        assert any(abs(value - float(number)) <= 0.5001 * 10**-digits for value in known), f"{number} is not on {claim['page']}"


def test_faults_are_seen():
    assert fault("make nothing") == "nothing" and fault("python evidence/none.py --x") == "evidence/none.py"
    assert fault("rflvm guess DIR") == "guess" and fault("cargo run -p none") == "none" and fault("curl x") == "curl"
    assert unclaimed("It is twice as fast, in 2023.", ["in 2023"]) == ["It is twice as fast,  ."]


def test_every_number_in_the_prose_of_readme_is_a_claim_or_told():
    readme = prose((ROOT / "README.md").read_text(encoding="utf-8"))
    known = [claim["readme"] for claim in ALL if "readme" in claim]
    assert unclaimed(readme, [*known, *CLAIMS["told"]]) == []


def test_links_of_the_evidence_lead_somewhere():
    for page in sorted((ROOT / "evidence").rglob("*.md")):
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
            assert target.startswith("http") or (page.parent / target).exists(), f"{page}: {target}"


def test_every_trial_is_listed():
    folder = ROOT / "evidence" / "trials"
    listed = set(re.findall(r"\]\((\d[^)]*\.md)\)", (folder / "README.md").read_text(encoding="utf-8")))
    assert listed == {path.name for path in folder.glob("*.md")} - {"README.md"}
    assert all(re.match(r"\d{4}-\d\d-\d\d-[\w.-]+\.md$", name) for name in listed)
