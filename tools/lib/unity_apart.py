#!/usr/bin/env python3
"""Finds the sources that cannot be compiled in one group with their neighbours, and has them compiled apart.

Usage: unity_apart.py BUILD_FOLDER LOG

LOG is what `cmake --build BUILD_FOLDER -- -k 0` printed. Of each group that did not compile, the sources that the
errors name (all of it, where they name none) are added to apart.txt beside the build folder, which the next
configuration reads (tools/cmake/MeshwrightUnity.cmake). Exits with 1 where there is nothing to add: what failed is no
matter of groups.
"""
import pathlib
import re
import sys

FAILED_GROUP = re.compile(r"^FAILED: (\S*/Unity/unity_\w+\.cxx)\.o", re.M)
INCLUDED = re.compile(r'^#include "(/[^"]+)"', re.M)
ERROR_IN = re.compile(r"^(/[^\s:]+):\d+:\d+: error:", re.M)


def main():
    folder, log = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).read_text(errors="replace")
    blamed = set(ERROR_IN.findall(log))
    apart_file = folder.parent / "apart.txt"
    known = set(apart_file.read_text().splitlines()) if apart_file.exists() else set()
    found = set()
    for group in FAILED_GROUP.findall(log):
        sources = set(INCLUDED.findall((folder / group).read_text()))
        found |= sources & blamed or sources
    found -= known
    if not found:
        return 1
    apart_file.write_text("".join(f"{path}\n" for path in sorted(known | found)))
    print(f"compiled apart from their neighbours, with whom they share names: {len(known | found)} sources")
    return 0


if __name__ == "__main__":
    sys.exit(main())
