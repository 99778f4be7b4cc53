"""Figures that code shows or leaves open, without a notebook."""

from __future__ import annotations

import matplotlib as mpl
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def _closed():
    plt.close("all")
    yield
    plt.close("all")


@pytest.fixture
def plotting(room):
    room.write("import matplotlib.pyplot as plt")
    return room


def test_figures_left_open_are_pictures_and_closed(plotting):
    outcome = plotting.run("fig, ax = plt.subplots()\nax.plot([1, 2])\nprint('drawn')")
    assert [(picture.image.format, picture.name) for picture in outcome.pictures] == [("PNG", "fig")]
    assert plt.get_fignums() == []
    assert plotting.run("1").pictures == ()


def test_figures_shown_are_pictures_once(plotting):
    show = plt.show
    outcome = plotting.run("for i in range(3):\n    plt.plot([i])\n    plt.show()")
    assert [picture.name for picture in outcome.pictures] == [None, None, None]
    assert outcome.printed == ""
    assert plt.show is show


def test_figures_of_the_person_are_left_open(plotting):
    plotting.write("mine = plt.figure()\nplt.plot([1])\nmine.canvas.draw()")
    outcome = plotting.run("plt.figure()")
    assert len(outcome.pictures) == 1
    assert plt.get_fignums() == [1]


def test_figures_are_closed_when_code_fails(plotting):
    outcome = plotting.run("plt.figure()\n1 / 0")
    assert outcome.error is not None
    assert plt.get_fignums() == []


def test_figure_that_cannot_be_drawn_is_told(plotting):
    outcome = plotting.run("plt.title(r'$\\frac{$')")
    assert outcome.pictures == ()
    assert outcome.printed.startswith("A figure could not be drawn: ValueError")


def test_figure_that_takes_too_long_is_stopped(plotting):
    code = "class Slow(str):\n    def __str__(self):\n        while True: pass\nfig = plt.figure()\ndef draw(r):\n    while True: pass\nfig.draw = draw"
    outcome = plotting.run(code, timeout_s=0.5)
    assert "time limit" in outcome.error.message
    assert plt.get_fignums() == []
