from __future__ import annotations

import threading

import pytest
from inline_snapshot import snapshot
from threads import join

from agent_magic.notebook.kernel.code_displays import CodeDisplays


class Taken:
    """What the displays of one thread came to."""

    def __init__(self):
        self.texts = []
        self.pictures = []
        self.thread = threading.get_ident()

    def is_ours(self):
        return threading.get_ident() == self.thread


@pytest.fixture
def taken():
    return Taken()


@pytest.fixture
def displays(shell, taken):
    """Displays of this thread are the code's as long as it is open."""
    with CodeDisplays(shell, is_ours=taken.is_ours, tell=taken.texts.append, show=taken.pictures.append):
        yield shell


def published(shell, capsys):
    """What went through to the shell's own publisher."""
    return capsys.readouterr().out


def test_display_is_taken_as_its_text(displays, taken, capsys):
    displays.run_cell("display(1, 'a')\nfrom IPython.display import display as show\nshow([1, 2])")
    assert taken.texts == ["1\n", "'a'\n", "[1, 2]\n"]
    assert published(displays, capsys) == ""


def test_html_and_scripts_are_not_let_through(displays, taken, capsys):
    displays.run_cell(
        "from IPython.display import HTML, Javascript, Markdown, Latex\n"
        "class Table:\n"
        "    def _repr_html_(self): return '<table onclick=1>'\n"
        "    def __repr__(self): return 'a table'\n"
        "display(Table(), HTML('<b>x</b>'), Javascript('alert(1)'), Markdown('**x**'), Latex('$x$'))\n"
        "display({'text/html': '<i>'}, raw=True)"
    )
    assert taken.texts == snapshot(
        [
            "a table\n",
            "<IPython.core.display.HTML object>\n",
            "<IPython.core.display.Javascript object>\n",
            "**x**\n",
            "$x$\n",
        ]
    )
    assert published(displays, capsys) == ""


def test_display_that_is_updated_or_cleared_is_the_codes_too(displays, taken, capsys):
    displays.run_cell(
        "from IPython.display import clear_output\n"
        "handle = display('a', display_id=True)\nhandle.update('b')\nclear_output()\nx = display(display_id='x')"
    )
    assert taken.texts == ["'a'\n", "'b'\n"]
    assert published(displays, capsys) == ""


def test_figure_and_image_are_taken_as_they_are(displays, taken):
    displays.run_cell(
        "from PIL import Image\nfrom matplotlib.figure import Figure\n"
        "image, figure = Image.new('RGB', (2, 1)), Figure()\ndisplay(image, figure)"
    )
    names = displays.user_ns
    first, second = taken.pictures
    assert first is names["image"]
    assert second is names["figure"]
    assert taken.texts[1] == "<Figure size 640x480 with 0 Axes>\n"


def test_png_of_a_display_is_taken_as_an_image(displays, taken):
    displays.run_cell(
        "import io\nfrom PIL import Image\nfile = io.BytesIO()\nImage.new('RGB', (3, 2), 'red').save(file, 'png')\n"
        "display({'text/plain': 'red', 'image/png': file.getvalue()}, raw=True)\n"
        "display({'text/plain': 'broken', 'image/png': b'no image'}, raw=True)\n"
        "import base64\n"
        "display({'image/png': base64.b64encode(file.getvalue()).decode()}, raw=True)"
    )
    assert [(picture.size, picture.getpixel((0, 0))) for picture in taken.pictures] == [
        ((3, 2), (255, 0, 0))
    ] * 2
    assert taken.texts == ["red\n", "broken\n"]


def test_display_of_another_thread_goes_through(displays, taken, capsys):
    thread = threading.Thread(target=lambda: displays.run_cell("display('from afar')"))
    thread.start()
    join(thread)
    assert (taken.texts, published(displays, capsys)) == ([], "'from afar'\n")


def test_displays_of_a_step_inside_another_are_its_own(shell, taken, capsys):
    inner = Taken()
    is_inner = [False]
    with CodeDisplays(
        shell, is_ours=lambda: not is_inner[0], tell=taken.texts.append, show=taken.pictures.append
    ):
        with CodeDisplays(
            shell, is_ours=lambda: is_inner[0], tell=inner.texts.append, show=inner.pictures.append
        ):
            shell.run_cell("display(1)")
            is_inner[0] = True
            shell.run_cell("display(2)")
        shell.run_cell("display(3)")
        is_inner[0] = False
        shell.run_cell("display(4)")
    assert (taken.texts, inner.texts, published(shell, capsys)) == (["1\n", "4\n"], ["2\n"], "3\n")


def test_shell_is_as_it_was_afterwards(shell, taken, capsys):
    before = (dict(vars(shell.display_pub)), dict(vars(shell.display_formatter)))
    with pytest.raises(KeyError), CodeDisplays(shell, is_ours=taken.is_ours, tell=print, show=print):
        raise KeyError
    after = (vars(shell.display_pub), vars(shell.display_formatter))
    assert [names.keys() for names in after] == [names.keys() for names in before]
    shell.run_cell("display(1)")
    assert published(shell, capsys) == "1\n"
