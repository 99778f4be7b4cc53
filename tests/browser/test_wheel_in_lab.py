from __future__ import annotations

import subprocess
import sys
import sysconfig

import nbformat
import pytest
from playwright.sync_api import expect
from view.samples import small_run
from views import row_of, steps_of, toggle_of
from wheels import ROOT, build, copy_tree, env_of, install

from agent_magic.record.run import to_record
from agent_magic.view.bundle import to_bundle

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("live_view")]

DATA = sysconfig.get_path("data")


def test_wheel_installed_without_node_shows_a_saved_run_without_a_kernel(serve, lab_folder, tmp_path):
    subprocess.run([sys.executable, "labextension/build.py", "build"], cwd=ROOT, check=True, timeout=500)
    built, _ = build(copy_tree(tmp_path / "tree", is_built=True), "wheel", env={"SKIP_JUPYTER_BUILDER": "1"})
    python = install(next(built.glob("*.whl")), tmp_path / "environment")
    run = nbformat.v4.new_output("display_data", data=to_bundle(to_record(small_run())))
    cells = [nbformat.v4.new_code_cell("%%agent analyst\nWhich is it?", outputs=[run])]
    # Of a kernel that nobody has.
    kernelspec = {"name": "elsewhere", "display_name": "Elsewhere", "language": "python"}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernelspec})
    nbformat.write(notebook, lab_folder / "elsewhere.ipynb")
    # What JupyterLab itself needs is not copied into the environment.
    lab = serve(
        python=str(python),
        env=env_of(tmp_path / "environment"),
        flags=[f"--LabApp.app_dir={DATA}/share/jupyter/lab"],
    )
    lab.open("elsewhere.ipynb", wait_for_kernel=False)
    lab.page.locator("dialog.jp-Dialog").get_by_role("button", name="No Kernel").click()
    shown = lab.area(0)
    expect(shown.get_by_text("The penguins of Biscoe are the heaviest").first).to_be_visible()
    expect(steps_of(shown)).to_have_count(4)
    row = row_of(shown, 1)
    expect(row).to_be_visible()
    toggle_of(row).click()
    expect(row.get_by_text("4716.0").last).to_be_visible()
    expect(shown.get_by_role("combobox")).to_have_count(0)
    expect(shown.locator("details")).to_have_count(0)
