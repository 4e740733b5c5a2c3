"""Every numbered equation of Wilde et al. (2018) has a test with its number in the name; the errata page names tests
that exist.
"""

import re
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2]
PAGE = TESTS.parent / "docs" / "errata" / "wilde2018.md"


def names():
    files = [
        *(TESTS / "formulations" / "generalized_jacobian").glob("test_*.py"),
        TESTS / "control" / "test_computed_torque.py",
    ]
    return {name for file in files for name in re.findall(r"^def (test_\w+)", file.read_text(), re.MULTILINE)}


def numbers(name):
    """Of `test_eq_5_to_10_...`, `test_eq_83_and_85_to_91_...`, `test_eq_67_68_69_...`."""
    words = re.match(r"test_eq_((?:\d+|to|and|_)+)", name)
    found, previous, spanning = set(), 0, False
    for word in words.group(1).strip("_").split("_") if words else ():
        if word.isdigit():
            found |= set(range(previous, int(word) + 1)) if spanning else {int(word)}
            previous, spanning = int(word), False
        else:
            spanning = word == "to"
    return found


def test_every_equation_has_its_test():
    tested = set().union(*map(numbers, names()))
    assert sorted(set(range(1, 116)) - tested) == []


def test_the_errata_page_names_tests_that_exist():
    named = set(re.findall(r"`(test_\w+)`", PAGE.read_text()))
    assert len(named) > 20
    assert sorted(named - names()) == []
