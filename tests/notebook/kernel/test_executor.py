from __future__ import annotations

import threading

import pytest
from inline_snapshot import snapshot
from IPython.core.displaypub import CapturingDisplayPublisher
from threads import join

from agent_magic.core.errors import CodeRefused
from agent_magic.execution.request import CodeStep, Guard
from agent_magic.execution.step.running import give_answer, persons_code
from agent_magic.notebook.kernel.executor import KernelExecutor


@pytest.fixture
def execute(shell, capsys):
    """Runs code in the shell's namespace; what reaches the screen is asserted by whoever asks."""
    executor = KernelExecutor(shell)

    def run(code, *, functions=None, imports=("matplotlib", "PIL", "IPython"), **guard):
        return executor.execute(
            CodeStep(
                code=code,
                label="bot step 1",
                functions={"final_answer": give_answer, **(functions or {})},
                guard=Guard(imports=imports, **guard),
            )
        )

    return run


def test_code_works_on_the_variables_of_the_shell(shell, execute):
    shell.run_cell("rows = [1, 2]")
    outcome = execute("total = sum(rows)\ntotal")
    assert (outcome.value, outcome.error) == (3, None)
    assert shell.run_cell("total + 1").result == 4
    assert shell.user_ns["rows"] is shell.user_ns["rows"]


def test_names_of_the_kernel_are_nobodys(shell, execute):
    shell.run_cell("1 + 1", store_history=True)
    outcome = execute("_ = 5\n__ = 6\n_1 = 7\nfor _ in range(3): pass")
    assert (outcome.error, outcome.notes) == (None, ())


def test_name_of_the_kernel_that_the_person_bound_is_the_persons(shell, execute):
    shell.run_cell("open = 'the door'")
    outcome = execute("open = 1")
    assert isinstance(outcome.error, CodeRefused)
    assert shell.user_ns["open"] == "the door"


def test_prints_and_displays_are_told_in_order(execute, capsys):
    outcome = execute(
        "from IPython.display import HTML, Markdown\n"
        "print(1)\ndisplay([2], HTML('<b>'))\nprint(3)\ndisplay('four', Markdown('**five**'))"
    )
    assert outcome.printed == snapshot("""\
1
[2]
<IPython.core.display.HTML object>
3
'four'
**five**
""")
    assert capsys.readouterr() == ("", "")


def test_value_is_not_displayed_by_the_shell(shell, execute, capsys):
    assert execute("[1, 2]").value == [1, 2]
    assert capsys.readouterr().out == ""
    assert shell.user_ns.get("_") == ""


def test_image_that_is_displayed_is_a_picture(execute, capsys):
    outcome = execute(
        "from PIL import Image\nred = Image.new('RGB', (2, 1), 'red')\nprint('a')\ndisplay(red)"
    )
    (picture,) = outcome.pictures
    assert (picture.image.size, picture.image.getpixel((0, 0)), picture.name) == ((2, 1), (255, 0, 0), "red")
    assert outcome.printed.startswith("a\n<PIL.Image.Image")


def test_image_that_is_the_value_is_no_second_picture(execute):
    outcome = execute("from PIL import Image\nred = Image.new('RGB', (2, 1), 'red')\ndisplay(red)\nred")
    assert len(outcome.pictures) == 1


@pytest.mark.parametrize(
    "code",
    [
        "figure = plt.figure()",
        "figure = plt.figure()\nplt.show()",
        "figure = plt.figure()\nplt.show()\nplt.show()",
        "figure = plt.figure()\ndisplay(figure)",
        "figure = plt.figure()\ndisplay(figure)\nplt.show()",
        "figure = plt.figure()\nfigure",
        "figure, _ = plt.subplots()\nplt.plot([1])\nplt.show()\nfigure",
        "figure = plt.figure()\ndisplay(figure)\nfigure",
    ],
)
def test_figure_is_shown_once_and_closed(execute, capsys, code):
    outcome = execute(f"import matplotlib.pyplot as plt\n{code}")
    assert outcome.error is None
    (picture,) = outcome.pictures
    assert (picture.name, picture.image.format) == ("figure", "PNG")
    assert open_figures() == []
    assert capsys.readouterr() == ("", "")


def test_figures_of_one_step_are_shown_in_order(execute):
    outcome = execute(
        "import matplotlib.pyplot as plt\na = plt.figure(figsize=(1, 1))\nb = plt.figure(figsize=(2, 1))\n"
        "display(b)\nplt.show()\nc = plt.figure()\n1"
    )
    assert [picture.name for picture in outcome.pictures] == ["b", "a", "c"]
    assert outcome.value == 1


def test_figure_that_is_left_open_by_an_error_is_closed(execute):
    outcome = execute("import matplotlib.pyplot as plt\nplt.figure()\n1 / 0")
    assert outcome.error is not None
    assert open_figures() == []


def test_figure_of_the_person_stays_open(shell, execute):
    shell.run_cell("import matplotlib.pyplot as plt\nmine = plt.figure()")
    numbers = open_figures()
    outcome = execute("import matplotlib.pyplot as plt\nother = plt.figure()")
    assert [picture.name for picture in outcome.pictures] == ["other"]
    assert open_figures() == numbers
    shell.run_cell("plt.close('all')")


def test_answer_ends_the_code_and_its_figures_are_shown(execute):
    outcome = execute("import matplotlib.pyplot as plt\nplt.figure()\nfinal_answer(1)\nplt.figure()")
    assert (outcome.answer, len(outcome.pictures)) == (1, 1)
    assert open_figures() == []


def test_display_inside_a_tool_is_the_persons(shell, execute, capsys):
    def look():
        with persons_code():
            shell.run_cell("display('seen')")

    outcome = execute("display('told')\nlook()\ndisplay('told again')", functions={"look": look})
    assert outcome.printed == "'told'\n'told again'\n"
    assert capsys.readouterr().out == "'seen'\n"


def test_display_of_another_thread_meanwhile_is_nobodys_business(shell, execute):
    shell.display_pub = CapturingDisplayPublisher(shell=shell)
    asked, answered = threading.Event(), threading.Event()

    def show():
        asked.wait(10)
        shell.display_pub.publish({"text/plain": "from afar"})
        answered.set()

    thread = threading.Thread(target=show)
    thread.start()

    def wait():
        asked.set()
        answered.wait(10)

    outcome = execute("wait()\ndisplay('told')", functions={"wait": wait})
    join(thread)
    assert outcome.printed == "'told'\n"
    assert [output["data"] for output in shell.display_pub.outputs] == [{"text/plain": "from afar"}]


def test_display_of_a_thread_of_the_code_is_the_codes(execute, capsys):
    outcome = execute(
        "import threading\nthread = threading.Thread(target=display, args=('told',))\nthread.start()\nthread.join()",
    )
    assert (outcome.printed, capsys.readouterr().out) == ("'told'\n", "")


def test_step_inside_a_tool_of_another_has_displays_of_its_own(execute, capsys):
    inner = []

    def ask():
        with persons_code():
            inner.append(execute("display('inner')"))

    outcome = execute("display('before')\nask()\ndisplay('after')", functions={"ask": ask})
    assert outcome.printed == "'before'\n'after'\n"
    assert inner[0].printed == "'inner'\n"
    assert capsys.readouterr().out == ""


def test_get_ipython_is_refused(execute):
    outcome = execute("get_ipython().run_line_magic('ls', '')")
    assert isinstance(outcome.error, CodeRefused)


def open_figures():
    import matplotlib.pyplot as plt

    return plt.get_fignums()
