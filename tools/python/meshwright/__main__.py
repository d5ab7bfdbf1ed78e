"""`python -m meshwright` and the console script: the program itself takes this process's place."""
import os
import pathlib
import sys


def program():
    return str(pathlib.Path(__file__).resolve().parent / "bin/meshwright")


def main():
    try:
        os.execv(program(), ["meshwright", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"meshwright: {program()} can't be run: {error.strerror}")


if __name__ == "__main__":
    main()
