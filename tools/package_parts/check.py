"""Checks the folder that becomes an archive: that it loads from wherever it lies, on every machine that it is for."""
import pathlib

from package_parts import elf, libraries

# The libc of Debian 12, which the archive is built on.
NEWEST_VERSIONS = {"GLIBC": (2, 36), "GLIBCXX": (3, 4, 30), "CXXABI": (1, 3, 13), "GCC": (12,)}
# What is started through the launcher, with LibTorch and CUDA on its library path.
TORCH_FOLDERS = ("libexec", "tests")


def elf_files(root):
    return [path for path in sorted(root.rglob("*"))
            if path.is_file() and not path.is_symlink() and elf.is_elf(path)]


def newest_versions(root):
    """The newest symbol version of each family that anything in the folder needs."""
    newest = {}
    for path in elf_files(root):
        for family, version in elf.read(path).versions.items():
            newest[family] = max(newest.get(family, ()), version)
    return newest


def search_folders(path, facts, root):
    """Folders of its search path, and what is wrong with them."""
    folders, problems = [], []
    for entry in facts.search_path:
        folder = pathlib.Path(entry.replace("$ORIGIN", str(path.parent))).resolve()
        if not entry.startswith("$ORIGIN") or not folder.is_relative_to(root):
            problems.append(f"{path.relative_to(root)} looks for libraries in {entry}, outside the archive")
        folders.append(folder)
    return folders, problems


def file_problems(path, root, torch_libraries):
    name = path.relative_to(root)
    facts = elf.read(path)
    folders, problems = search_folders(path, facts, root)
    for library in facts.needed:
        if libraries.in_system(library) or any((folder / library).exists() for folder in folders):
            continue
        if name.parts[0] in TORCH_FOLDERS and libraries.with_torch(library, torch_libraries):
            continue
        problems.append(f"{name} needs {library}, which neither the archive nor the machine that it is for has")
    for family, version in facts.versions.items():
        if family in NEWEST_VERSIONS and version > NEWEST_VERSIONS[family]:
            problems.append(f"{name} needs {family}_{'.'.join(map(str, version))}, newer than Debian 12")
    return problems


def problems(root, torch_libraries):
    root = root.resolve()
    found = [problem for path in elf_files(root) for problem in file_problems(path, root, torch_libraries)]
    for path in sorted(root.glob("lib/*.so*")):
        # The worker would load it in place of LibTorch's own.
        if libraries.with_torch(path.name, torch_libraries):
            found.append(f"lib/{path.name} hides a library of LibTorch or CUDA")
    return found
