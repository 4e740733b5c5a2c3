"""The site: `make docs`, or `python docs/make_site.py OUT [--fast]` (tutorials without their results).

Pages of `docs/`, those of `docs/site/` on top, tutorials from `examples/` and a reference made from the code are laid
out in OUT/source and built by Sphinx into OUT/html. Warnings are errors. Nothing is fetched, and the pages need no
network.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import make_reference
import make_tutorials

import gyrostat


def stage(source: Path, *, execute: bool) -> None:
    """Everything that Sphinx reads, in `source`."""
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(HERE, source, ignore=shutil.ignore_patterns("site", "*.py", "__pycache__", "index.md"))
    shutil.copytree(HERE / "site", source, dirs_exist_ok=True)
    make_tutorials.write(source / "tutorials", execute=execute)
    (source / "reference").mkdir()
    for name, text in make_reference.pages().items():
        (source / "reference" / f"{name}.md").write_text(text, encoding="utf-8")
    for page in source.rglob("*.md"):
        page.write_text(within_the_site(page.read_text(encoding="utf-8"), page, source), encoding="utf-8")
    list_the_rest(source)
    index = source / "index.md"
    index.write_text(index.read_text(encoding="utf-8").replace("PERFORMANCE", performance()), encoding="utf-8")


def list_the_rest(source: Path) -> None:
    """Pages that no table of contents names come last under How to."""
    lists = [*source.glob("*.md"), source / "reference" / "index.md"]
    named = {line.removeprefix("../") for page in lists for line in page.read_text(encoding="utf-8").splitlines()}
    pages = [page.relative_to(source).with_suffix("").as_posix() for page in sorted(source.rglob("*.md"))]
    made = ("reference/", "tutorials/", "index")
    others = [name for name in pages if name not in named and not name.startswith(made)]
    howto = source / "howto.md"
    listed = howto.read_text(encoding="utf-8").rstrip().removesuffix("```").rstrip()
    howto.write_text("\n".join([listed, *others, "```", ""]), encoding="utf-8")


def within_the_site(text: str, page: Path, source: Path) -> str:
    """Links to examples lead to tutorials; what else lies outside the pages is named without a link."""

    def led(match: re.Match[str]) -> str:
        words, target = match["words"], match["target"]
        example = re.fullmatch(r"(\.\./)+examples/(\d\d_\w+)\.py", target)
        if example:
            up = "../" * (len(page.relative_to(source).parts) - 1)
            return f"[{words}]({up}tutorials/{example[2]}.ipynb)"
        outside = not (page.parent / target.split("#")[0]).resolve().is_relative_to(source.resolve())
        return words if outside else match[0]

    return re.sub(r"(?<!!)\[(?P<words>[^\[\]]+)\]\((?P<target>\.\.?/[^)\s]+)\)", led, text)


def performance() -> str:
    """The first table of README's section on speed, with the sentence before it."""
    text = (HERE.parent / "README.md").read_text(encoding="utf-8").split("## How fast\n")[1]
    first = re.search(r"^\|.*?(?=\n\n)", text, re.DOTALL | re.MULTILINE)
    assert first is not None, "README has a table under 'How fast'"
    return "## How fast\n" + re.sub(r"\s*\(\[all figures\]\([^)]*\)\)", "", text[: first.end()])


def counted() -> dict[str, int]:
    """Public names, and those that say what they are; blocks of code, and those that tests run, read or compare."""
    sections = [
        section.partition("\n")[2]
        for page in make_reference.pages().values()
        for section in re.split(r"^## ", page, flags=re.MULTILINE)[1:]
    ]
    said = sum(len(re.sub(r"```.*?```", "", one, count=1, flags=re.DOTALL).split()) > 1 for one in sections)
    pages = [HERE.parent / "README.md", *HERE.rglob("*.md")]
    opened = [
        language
        for page in pages
        for language in re.findall(r"^```([\w-]+)\n", page.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    rooms = {name for name, home in gyrostat._HOME.items() if not home}
    return {
        "names": len(sections),
        "documented": said,
        "top level": len(set(gyrostat.__all__) - rooms),
        "by example": len(make_reference.examples()),
        "blocks": len(opened),
        "looked at": sum(opened.count(language) for language in ("python", "toml", "c")),  # run; read; compared
    }


def counts() -> str:
    n = counted()
    return (
        f"public names: {n['names']}, documented: {n['documented']}; of the top level: {n['top level']}, by example: "
        f"{n['by example']}; code blocks: {n['blocks']}, run, read or compared by the tests: {n['looked at']}"
    )


def main() -> int:
    given = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    given.add_argument("out", type=Path, nargs="?")
    given.add_argument(
        "--count", action="store_true", help="only count names and blocks, and how many are documented and run"
    )
    given.add_argument("--fast", action="store_true", help="tutorials without their results")
    asked = given.parse_args()
    if asked.count or asked.out is None:
        print(counts())
        return 0
    stage(asked.out / "source", execute=not asked.fast)
    built = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-E"]
    code = subprocess.run([*built, str(asked.out / "source"), str(asked.out / "html")], check=False).returncode
    if code == 0:
        print(counts())
        print(f"{asked.out / 'html' / 'index.html'}")
    return code


if __name__ == "__main__":
    raise SystemExit(main())
