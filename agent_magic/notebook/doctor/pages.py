"""The doctor's checks of where runs are shown and steered: widgets, JupyterLab, the front end, the magics.

They must not import what draws, nor say that something is missing which another front end brings itself.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from agent_magic.core.errors import OptionError
from agent_magic.core.settings import AgentSettings, SettingValues
from agent_magic.core.version import __version__
from agent_magic.notebook.cell.answers import takes_input
from agent_magic.notebook.doctor.finding import Found, Scene, failure, ok, warning
from agent_magic.notebook.doctor.lab import find_extension
from agent_magic.notebook.doctor.packages import fault_of, install_this, version_of
from agent_magic.notebook.kernel.control_channel import REQUEST
from agent_magic.prompts.templates import PromptTemplates
from agent_magic.view.drawing_code import is_built

_OURS = "agent-magic"
_MANAGER = "@jupyter-widgets/jupyterlab-manager"
_OUR_MAGICS = "agent_magic.notebook.magics"
_OLDEST_NODE = "20.19"
_HOSTS = {
    "COLAB_RELEASE_TAG": "Google Colab",
    "KAGGLE_KERNEL_RUN_TYPE": "Kaggle",
    "DATABRICKS_RUNTIME_VERSION": "Databricks",
}
"""Variables by which hosted front ends are known."""


def widgets(scene: Scene) -> Found:
    """Whether the packages are there that the live view is a widget of."""
    names = ("ipywidgets", "anywidget")
    for name in names:
        if fault := fault_of(scene, name):
            return fault
    return ok(", ".join(f"{name} {version_of(name)}" for name in names))


def widget_manager(scene: Scene) -> Found:
    """Whether JupyterLab can show widgets at all."""
    if version_of("jupyterlab") is None and version_of("notebook") is None:
        return ok("not looked for: there is no JupyterLab in this Python")
    for name, installed in ((_MANAGER, "jupyterlab_widgets"), ("anywidget", "anywidget")):
        extension = find_extension(name)
        if extension is None or not extension.is_whole:
            return failure(
                f"JupyterLab of this Python finds no {name}: runs stand there in their static form, without a live view",
                f"{scene.pip('--force-reinstall', '--no-deps', installed)}, and reload the page",
            )
        if extension.disabled_by is not None:
            return failure(
                f"{name} is disabled in JupyterLab, by the entry {extension.disabled_by!r}: "
                "runs stand there in their static form, without a live view",
                f"jupyter labextension enable {extension.disabled_by}, and reload the page",
            )
    return ok(f"{_MANAGER}, found and enabled")


def live_view(scene: Scene) -> Found:
    """Whether what draws runs was built."""
    if is_built():
        return ok("built")
    return warning(
        "not built: runs stand in their static form",
        f"Install node {_OLDEST_NODE} or newer with npm, then: {install_this(scene)}",
    )


def jupyterlab(scene: Scene) -> Found:
    """Whether there is a JupyterLab to look at."""
    if sys.platform == "emscripten":
        return ok("the page itself")
    return fault_of(scene, "jupyterlab") or ok(f"{version_of('jupyterlab')}")


def extension(scene: Scene) -> Found:
    """Whether JupyterLab finds our extension, of this version, and has it on."""
    found = find_extension(_OURS)
    reinstall = f"{install_this(scene)}, and reload the page"
    if found is None:
        return warning(
            "JupyterLab of this Python does not find it: saved runs stand in their static form, "
            "and what is clicked during a run may count only when its cell has ended",
            f"{reinstall}; if another Python serves your notebooks, do so there",
        )
    if found.version != __version__ or not found.is_whole:
        what = f"is of version {found.version}" if found.is_whole else "is not whole"
        return failure(f"the one in {found.folder} {what}, and {__version__} runs here", reinstall)
    if found.disabled_by is not None:
        return warning(
            f"{found.version}, disabled by the entry {found.disabled_by!r}: saved runs stand in their static form, "
            "and what is clicked during a run may count only when its cell has ended",
            f"jupyter labextension enable {found.disabled_by}, and reload the page",
        )
    return ok(f"{found.version}, enabled, in {found.folder}")


def front_end(scene: Scene) -> Found:
    """What shows this notebook, as far as a kernel can tell."""
    if scene.shell is None:
        return ok("a terminal; %agent doctor in a notebook looks at that one")
    if scene.kernel is None:
        return ok("IPython in a terminal: a run is a tree of text")
    if not takes_input(scene.shell):
        return ok(
            "nobody can type in it (nbclient, papermill or nbconvert): no live view, and a run without an answer is an error"
        )
    return ok(f"{_host(scene.environ, scene.shell.user_ns)}; you can type in it")


def magics(scene: Scene) -> Found | None:
    """Whether `%%agent` is ours still, and pages reach this kernel."""
    if scene.shell is None:
        return None
    known = scene.shell.magics_manager.magics
    for kind, shown in (("cell", "%%agent"), ("line", "%agent")):
        magic = known[kind].get("agent")
        owner = _owner(magic)
        if owner != _OUR_MAGICS:
            return failure(
                f"{shown} is not ours but of {owner or 'nobody'}: another extension was loaded after this one",
                "%reload_ext agent_magic, after whatever brings the other one",
            )
    handlers = getattr(scene.kernel, "control_handlers", None)
    if isinstance(handlers, dict) and REQUEST not in handlers:
        return failure("this kernel takes no requests of pages", "%reload_ext agent_magic")
    return ok("%%agent and %agent are loaded" + ("; this kernel takes requests of pages" if handlers else ""))


def config(scene: Scene) -> Found | None:
    """Whether the values of `%config AgentMagics` can be; the model's is looked at by itself."""
    if scene.magics is None:
        return None
    faults = [*_unknown_names(scene.magics), *_wrong_values(scene.magics)]
    if not faults:
        return ok("each value can be")
    return failure(
        "; ".join(fault.rstrip(".") for fault in faults),
        "Set each anew by %config AgentMagics.NAME = VALUE; %config AgentMagics lists them.",
    )


def _host(environ: Mapping[str, str], names: Mapping[str, Any]) -> str:
    bare = "which takes no extension of JupyterLab"
    for variable, host in _HOSTS.items():
        if environ.get(variable):
            return f"{host}, {bare}"
    if "__vsc_ipynb_file__" in names:
        return f"VS Code, {bare}"
    if environ.get("JPY_SESSION_NAME"):
        return "a page of a Jupyter server, such as JupyterLab or Notebook"
    return f"VS Code, {bare}" if environ.get("VSCODE_PID") else "one that does not say its name"


def _owner(magic: Any) -> str | None:
    """The module of whoever brought a magic."""
    bound: Any = getattr(magic, "__self__", None)
    module: Any = getattr(magic if bound is None else type(bound), "__module__", None)
    return module if isinstance(module, str) else None


def _unknown_names(magics: Any) -> list[str]:
    given = magics.config.get("AgentMagics", {})
    known = set(magics.trait_names(config=True))
    return [f"there is no setting {name}" for name in given if name not in known]


def _wrong_values(magics: Any) -> list[str]:
    """What is wrong with values that their type alone lets pass."""
    faults: list[str] = []
    for name in SettingValues.__dataclass_fields__:
        if magics.has_trait(name):
            try:
                AgentSettings(**{name: getattr(magics, name)})
            except OptionError as error:
                faults.append(error.message)
    if magics.step_timeout_s is not None and magics.step_timeout_s <= 0:
        faults.append(f"step_timeout_s is {magics.step_timeout_s!r}, and has to be over 0, or None")
    if magics.prompt_templates:
        file = "code_agent.yaml" if magics.mode == "code" else "toolcalling_agent.yaml"
        try:
            PromptTemplates.load(file).override(magics.prompt_templates)
        except OptionError as error:
            faults.append(error.message)
    return faults
