"""What a program or library asks of the machine that loads it, read with binutils; and the edits for an archive."""
import dataclasses
import pathlib
import re
import subprocess


@dataclasses.dataclass
class Elf:
    # Names of the libraries that it is linked to.
    needed: list
    # Folders of its RPATH and RUNPATH, as they stand there.
    search_path: list
    # Newest symbol version that it needs, by family: {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 30)}.
    versions: dict


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def read(path):
    text = subprocess.run(["readelf", "--dynamic", "--version-info", "--wide", path], check=True, capture_output=True,
                          text=True, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}).stdout
    versions = {}
    for family, number in re.findall(r"Name: ([A-Z]+)_([0-9.]+) ", text):
        versions[family] = max(versions.get(family, ()), tuple(int(part) for part in number.split(".")))
    search_path = [folder for line in re.findall(r"Library r(?:un)?path: \[(.*)\]", text) for folder in line.split(":")]
    return Elf(needed=re.findall(r"\(NEEDED\) +Shared library: \[(.*)\]", text), search_path=search_path,
               versions=versions)


def resolved(path):
    """Where this machine finds each library that the file loads, directly or not: {name: path or None}."""
    text = subprocess.run(["ldd", path], capture_output=True, text=True, check=False).stdout
    found = {}
    for name, where in re.findall(r"^\s*(\S+) => (not found|/\S+)", text, re.MULTILINE):
        found[name] = None if where == "not found" else pathlib.Path(where)
    return found


def strip(path):
    subprocess.run(["strip", "--strip-unneeded", path], check=True)


def edit(path, *words):
    """Runs patchelf with these words, if there are any."""
    if words:
        subprocess.run(["patchelf", *words, path], check=True)


def set_search_path(path, folders):
    """An RPATH, which also serves what the libraries load themselves and comes before LD_LIBRARY_PATH."""
    if folders:
        edit(path, "--force-rpath", "--set-rpath", ":".join(folders))
    elif read(path).search_path:
        edit(path, "--remove-rpath")
