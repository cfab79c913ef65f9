"""``python -m captious``: the command."""

from captious.cli.app import main

if __name__ == "__main__":
    main()
