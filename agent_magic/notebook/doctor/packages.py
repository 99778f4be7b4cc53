"""The doctor's checks of what is installed: Python, this package, those that it needs.

They read what the installer wrote beside the packages. They must not import any that they look at.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import sys
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from agent_magic.core.version import __version__
from agent_magic.notebook.doctor.finding import Found, Scene, failure, ok, warning

_NAME = "agent-magic"
_FOLDER = Path(__file__).parents[2]
"""Where the package is."""
_EXTRAS = ("local", "transformers")
"""What these need is looked at where it is installed."""
_WITH_OWN_LINE = frozenset({"ipython", "ipywidgets", "anywidget", "jupyterlab", "litellm"})
_OLDEST_IPYKERNEL = "6.31"
_FIRST_WITH_SUBSHELLS = 7


def python(_scene: Scene) -> Found:
    """Which Python runs."""
    return ok(f"{platform.python_version()}, {sys.executable or sys.platform}")


def package(scene: Scene) -> Found:
    """Whether what runs is what was installed."""
    folder = _FOLDER
    installed = version_of(_NAME)
    if installed == __version__:
        return ok(f"{__version__}, in {folder}")
    install = install_this(scene)
    if installed is None:
        return warning(
            f"{__version__}, in {folder}, not installed by pip: JupyterLab does not find its extension so",
            install_this(scene, with_needs=True),
        )
    text = f"{__version__} runs here, from {folder}, but {installed} is installed"
    if scene.magics is not None:
        return failure(text, f"Restart the kernel. If it stays so: {install}")
    return failure(text, install)


def packages(scene: Scene) -> Found:
    """Whether the packages that this one needs are there, those left out that have a line of their own."""
    needs = _needs_of(_NAME)
    if not needs:
        return warning(
            "what is needed is not known, as pip has not installed agent-magic",
            "Do what the line above says.",
        )
    others = [needed for name, needed in needs.items() if name not in _WITH_OWN_LINE]
    if faults := {_plain(needed): fault for needed in others if (fault := _fault_of(needed))}:
        return failure("; ".join(faults.values()), scene.pip(*faults))
    return ok(f"the {len(others)} that it needs besides those below are there")


def ipython(scene: Scene) -> Found:
    """Whether IPython is there."""
    return fault_of(scene, "ipython") or ok(f"{version_of('ipython')}")


def ipykernel(scene: Scene) -> Found:
    """By which way a page reaches a kernel that is busy."""
    if scene.shell is not None and scene.kernel is None:
        return ok("none runs here: this is IPython in a terminal")
    if scene.kernel is not None and not hasattr(scene.kernel, "control_handlers"):
        package = type(scene.kernel).__module__.partition(".")[0]
        return warning(
            f"this kernel is of {package}: what is clicked while a cell runs counts only when it has ended",
            "Choose a kernel of ipykernel for this notebook, such as Python 3 (ipykernel).",
        )
    version = version_of("ipykernel")
    needed = Requirement(f"ipykernel>={_OLDEST_IPYKERNEL}")
    if version is None:
        return failure("not installed: no notebook can run in this Python", scene.pip(str(needed)))
    if not _fits(needed, version):
        return failure(
            f"{version} is older than {_OLDEST_IPYKERNEL}, the oldest in which a run is known to be stopped and steered",
            scene.pip(str(needed)),
        )
    has_subshells = _major(version) >= _FIRST_WITH_SUBSHELLS
    also = "; it has subshells" if has_subshells else "; it has no subshells, and none are needed"
    return ok(f"{version}: while a cell runs, pages reach it by the control channel{also}")


def litellm(scene: Scene) -> Found:
    """Whether LiteLLM could be imported, which takes seconds and is not done."""
    if sys.platform == "emscripten":
        return ok("there is none in a browser")
    if fault := fault_of(scene, "litellm"):
        return fault
    version = version_of("litellm")
    if importlib.util.find_spec("litellm") is None:
        return failure(
            f"{version} is installed, but its files are gone",
            scene.pip("--force-reinstall", "--no-deps", f"litellm=={version}"),
        )
    faults = {
        _plain(needed): fault for needed in _needs_of("litellm").values() if (fault := _fault_of(needed))
    }
    if faults:
        return failure(f"{version}, but {'; '.join(faults.values())}", scene.pip(*faults))
    return ok(
        f"{version}, with all that it needs; not imported yet"
        if "litellm" not in sys.modules
        else f"{version}"
    )


def install_this(scene: Scene, *, with_needs: bool = False) -> str:
    """The line that installs this package anew, from its sources if it runs from there.

    Args:
        with_needs: Install what it needs as well.
    """
    sources = _FOLDER.parent
    name = str(sources) if (sources / "pyproject.toml").is_file() else _NAME
    return scene.pip(name) if with_needs else scene.pip("--force-reinstall", "--no-deps", name)


def fault_of(scene: Scene, name: str) -> Found | None:
    """The failure where a needed package is missing, or of a version that does not do; else None."""
    needed = _needs_of(_NAME).get(name) or Requirement(name)
    fault = _fault_of(needed)
    return failure(fault, scene.pip(_plain(needed))) if fault else None


def version_of(name: str) -> str | None:
    """The version of an installed package; None if it is not installed."""
    try:
        return importlib.metadata.version(name) or None
    except (importlib.metadata.PackageNotFoundError, KeyError):  # the latter: a folder with nothing in it
        return None


def _needs_of(name: str) -> dict[str, Requirement]:
    """What a package says that it needs here, by name; empty if it is not installed."""
    try:
        texts = importlib.metadata.requires(name) or []
    except importlib.metadata.PackageNotFoundError:
        return {}
    return {canonicalize_name(needed.name): needed for text in texts for needed in _parse(text)}


def _parse(text: str) -> Iterator[Requirement]:
    try:
        needed = Requirement(text)
    except InvalidRequirement:
        return
    extras = ("", *_EXTRAS) if version_of(needed.name) else ("",)
    if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in extras):
        yield needed


def _fault_of(needed: Requirement) -> str | None:
    """What is wrong with a needed package."""
    version = version_of(needed.name)
    if version is None:
        return f"{needed.name} is not installed"
    return None if _fits(needed, version) else f"{needed.name} is {version}, needed is {needed.specifier}"


def _fits(needed: Requirement, version: str) -> bool:
    try:
        return needed.specifier.contains(Version(version), prereleases=True)
    except InvalidVersion:  # one of somebody's own making
        return True


def _plain(needed: Requirement) -> str:
    """The requirement as pip takes it, without the condition on which it is one."""
    return f"{needed.name}{needed.specifier}"


def _major(version: str) -> int:
    try:
        return Version(version).major
    except InvalidVersion:
        return 0
