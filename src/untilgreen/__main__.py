"""The command line's front door: quick answers first, everything else from `untilgreen.surfaces.cli`."""

import sys


def main() -> None:
    """What the `untilgreen` command runs."""
    if sys.argv[1:] == ["--version"]:
        from untilgreen import __version__

        sys.stdout.write(f"untilgreen {__version__}\n")
        return
    from untilgreen.surfaces.cli.main import call

    sys.exit(call(sys.argv[1:]))


if __name__ == "__main__":
    main()
