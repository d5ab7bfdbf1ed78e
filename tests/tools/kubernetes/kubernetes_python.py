"""Tests that hold something to Kubernetes' schemas call `use` first: they then run by the Python that `tools/setup --kubernetes`
made, wherever that is and python3 lacks its packages. Without it they run as they are, and skip what needs those packages.
"""
import importlib.util
import os
import pathlib
import subprocess
import sys

SETUP = pathlib.Path(__file__).resolve().parents[3] / "tools" / "setup"
NAME = "MESHWRIGHT_KUBERNETES_PYTHON"
PACKAGES = ("kubernetes_validate", "yaml")


def use() -> None:
    """Does not return where another Python takes over."""
    if all(importlib.util.find_spec(package) for package in PACKAGES) or NAME in os.environ:
        return
    said = subprocess.run([SETUP, "--print-env"], capture_output=True, text=True, check=False).stdout
    for line in said.splitlines():
        name, _, python = line.partition("=")
        if name == NAME:
            os.execve(python, [python, "-B", *sys.argv], {**os.environ, NAME: python})
