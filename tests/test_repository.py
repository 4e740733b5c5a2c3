"""The repository itself: its documents point to what exists, and no file knows the machine it was made on."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import gyrostat
from gyrostat.tracing.cache import folder

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    *sorted(
        path for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "site"
    ),  # laid over docs/: see test_site.py
]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_of_documents_lead_somewhere(document):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", document.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (document.parent / target).exists(), f"{document.name} points to {target}"


def test_no_file_names_a_folder_of_one_machine():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    pattern = re.compile(r"(?<![\w.])/(?:home|root|work|Users)/\w")
    for name in listed.stdout.split():
        path = ROOT / name
        if path.suffix in (".py", ".md", ".toml", ".json", ".html", "") and path.is_file():
            found = pattern.search(path.read_text(encoding="utf-8", errors="replace"))
            assert found is None, f"{name}: {found.group() if found else ''}"


def test_the_root_holds_no_files_that_were_made():
    """Code and results that a script has written here are not committed along."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    own = {name for name in listed.stdout.split() if "/" not in name}
    assert {Path(name).suffix for name in own} <= {"", ".md", ".toml", ".cff"}, own


def test_folders_of_tests_hold_tests_and_what_they_share_stands_in_helpers():
    allowed = {"conftest.py", "fuzz_loaders.py"}
    odd = [
        path.relative_to(ROOT)
        for path in (ROOT / "tests").rglob("*.py")
        if not path.name.startswith("test_") and path.parent.name != "helpers" and path.name not in allowed
    ]
    assert odd == []


def test_tests_compile_into_a_cache_of_their_own():
    """Here and in the processes that tests start."""
    code = "from gyrostat.tracing.cache import folder; print(folder())"
    started = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for used in (folder(), Path(started.stdout.strip())):
        assert used is not None and used.is_relative_to(ROOT / ".cache")


def test_the_version_stands_once():
    """In the package; what is built from it asks there."""
    assert tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dynamic"] == ["version"]
    found = subprocess.run(
        ["git", "grep", "-lF", f'"{gyrostat.__version__}"'], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert found.stdout.split() in ([], ["src/gyrostat/__init__.py"])  # nothing: not a git checkout


# Functions that came with NumPy 2: the oldest that pyproject.toml allows is 1.26
NEW = (
    "acos acosh asin asinh astype atan atan2 atanh bitwise_count bitwise_invert bitwise_left_shift bool concat "
    "bitwise_right_shift cumulative_prod cumulative_sum isdtype long matrix_transpose matvec permute_dims pow strings "
    "trapezoid ulong unique_all unique_counts unique_inverse unique_values unstack vecdot vecmat "
    "linalg.(cross|diagonal|matmul|matrix_norm|matrix_transpose|outer|svdvals|tensordot|trace|vecdot|vector_norm)"
)


def test_nothing_of_numpy_is_newer_than_the_oldest():
    """A requirement of a formation failed with NumPy 1.26, for the sake of one function."""
    new = re.compile(rf"\bnp\.({'|'.join(NEW.split())})\b")
    folders = ("src", "tests", "examples", "benchmarks", "tools", "docs")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".md")]
    assert len(files) > 1000
    assert {str(path): found for path in files if (found := new.findall(path.read_text(encoding="utf-8")))} == {}


def test_every_dependency_has_a_lower_bound_that_can_be_installed(tmp_path):
    """`make test-oldest` installs them; a requirement without one stops it with a sentence."""
    tool = ROOT / "tools" / "lower_bounds.py"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    done = subprocess.run(
        [sys.executable, str(tool), "mjcf", "xacro", "control"], capture_output=True, text=True, check=True
    )
    pins = dict(line.split("==") for line in done.stdout.split())
    assert len(pins) == len(project["dependencies"]) + 3 and pins["numpy"] == "1.26"
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "tool.py").write_text(tool.read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["numpy"]\n')
    refused = subprocess.run(
        [sys.executable, str(tmp_path / "tools" / "tool.py")], capture_output=True, text=True, check=False
    )
    assert refused.returncode == 1 and "'numpy' in pyproject.toml has no lower bound" in refused.stderr


def test_the_job_definition_covers_what_gyrostat_says_it_runs_on():
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    oldest = project["requires-python"].removeprefix(">=")
    assert f'python: ["{oldest}", "3.12", "3.13", "3.14"]' in text
    claimed = {entry.rpartition(" ")[2] for entry in project["classifiers"] if re.search(r":: 3\.\d+$", entry)}
    assert claimed and claimed <= set(re.findall(r'"(3\.\d+)"', text)), "a Python is claimed that no job tests"
    assert all(system in text for system in ("ubuntu-24.04 ", "ubuntu-24.04-arm", "macos-15 ", "windows-2025"))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"run: make ([a-z -]+?) PYTHON", text):
        assert all(re.search(rf"^{name}:", makefile, re.MULTILINE) for name in target.split())
