#!/usr/bin/env python3
"""The server's page in Debian's chromium, on a real server. Needs `tools/setup --page`, and is skipped without.

usage: page_test.py FOLDER_OF_BINARIES MODULE [unittest's arguments]
"""
import importlib
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77


def page_python():
    """The Python of `tools/setup --page`; None where it was not run."""
    said = subprocess.run([HERE.parent.parent / "tools/setup", "--print-env"], capture_output=True, text=True, check=False).stdout
    found = [line.partition("=")[2] for line in said.splitlines() if line.startswith("MESHWRIGHT_PAGE_PYTHON=")]
    return found[0] if found else None


def main():
    if not importlib.util.find_spec("playwright") or not importlib.util.find_spec("axe_playwright_python"):
        python = page_python()
        if not python or os.environ.get("MESHWRIGHT_PAGE_PYTHON") == python:
            print("SKIPPED: playwright is not here; tools/setup --page installs it")
            return SKIPPED
        os.execve(python, [python, "-B", *sys.argv], {**os.environ, "MESHWRIGHT_PAGE_PYTHON": python})
    if not shutil.which("chromium"):
        print("SKIPPED: chromium is not here; tools/setup --page installs it")
        return SKIPPED
    sys.path.insert(0, str(HERE))
    browser = importlib.import_module("browser")
    browser.BIN = pathlib.Path(sys.argv[1]).resolve()
    module = importlib.import_module(sys.argv[2])
    try:
        done = unittest.main(module=module, argv=[sys.argv[2], *sys.argv[3:]], exit=False)
    finally:
        browser.close()
    return 0 if done.result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
