"""``python -m captious``: the command."""

from captious.cli.start import command

if __name__ == "__main__":
    command()
