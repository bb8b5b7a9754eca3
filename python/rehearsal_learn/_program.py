"""The command `rehearsal`."""

import sys

from . import _rehearsal


def main() -> None:
    """Run the command line, and exit with its exit code."""
    sys.exit(_rehearsal.main(sys.argv))
