"""The console script `orbtax`, and `python -m orbtax`: an interruption while it loads is quiet."""

from orbtax.errors import ExitCode


def main() -> ExitCode:
    """Loads the commands and runs the one that is asked for, which ends the program itself."""
    try:
        from orbtax import commands

        commands.main()
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    return ExitCode.DONE


if __name__ == "__main__":
    raise SystemExit(main())
