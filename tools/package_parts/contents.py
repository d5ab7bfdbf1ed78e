"""Lays out the folder that becomes an archive:

bin/           meshwright; meshwright-worker, the launcher that finds LibTorch; the CUDA module, as a link
libexec/       the worker itself, and the CUDA module beside it
lib/           libraries for everything; lib/cli has those that meshwright alone needs, and its own, libmeshwright.so
share/         models, clusters and framework profiles (the binary holds these too), as examples; completions, manual
               pages and manifests for Kubernetes, at the paths of a prefix
lib/systemd/   units for serve and agent
tests/         what --tests adds: gpu tests, those that stand in for them on a CPU, a worker for them, benchmarks
tools/         what --tests adds: tools/gpu and what belongs to it, at the paths of a checkout
licences/      of everything that comes from elsewhere
README.md, MANIFEST.json: what this is, what it needs, and every file
"""
import hashlib
import json
import pathlib
import shutil
import subprocess

from package_parts import check, elf, libraries, licences

CLI_LIBRARIES = "lib/cli"
# The code of meshwright, which also serves programs of other languages.
OWN_LIBRARY = "libmeshwright.so"
PROGRAM_FOLDERS = ("bin", "libexec", "tests")
# What tools/gpu needs beside the binaries; a folder stands for all of it.
GPU_FILES = ("tools/gpu", "tools/gpu_parts", "tools/bench/plain_llama_device.py")


class Build:
    """A build folder, read only."""

    def __init__(self, folder):
        self.folder = folder
        self.setup = dict(line.split("=", 1) for line in (folder / "setup.env").read_text().splitlines())
        cache = (folder / "CMakeCache.txt").read_text()
        self.version = cache.split("CMAKE_PROJECT_VERSION:STATIC=")[1].splitlines()[0]
        lines = [line.split(" ", 1) for line in (folder / "package.txt").read_text().splitlines()]
        self.files = [(where, pathlib.Path(file)) for where, file in lines]
        self.beside = folder / "beside"
        self.torch = pathlib.Path(self.setup["MESHWRIGHT_TORCH_DIR"])
        self.torch_libraries = {path.name for path in (self.torch / "lib").glob("*.so*")}

    def torch_version(self):
        text = (self.torch / "version.py").read_text()
        return text.split("__version__ = ")[1].splitlines()[0].strip("'\"")

    def torch_licences(self):
        return sorted(path for path in self.torch.parent.glob("torch-*.dist-info/**/*")
                      if path.is_file() and path.name.startswith(("LICENSE", "NOTICE")))

    def test_lists(self):
        """Which tests are for a GPU and which stand in for them, as the build lists them for tools/gpu."""
        return sorted((self.folder / "tests").glob("*_tests.txt"))


def tracked(checkout, *paths):
    """What git tracks of the paths, by paths below the checkout."""
    text = subprocess.run(["git", "-C", checkout, "ls-files", "-z", "--", *paths], check=True, capture_output=True,
                          text=True).stdout
    return [pathlib.Path(name) for name in text.split("\0") if name]


def copy_file(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(0o755 if source.stat().st_mode & 0o100 else 0o644)


def copy_elf(source, target, search_path):
    copy_file(source, target)
    target.chmod(0o755)
    elf.strip(target)
    elf.set_search_path(target, search_path)


def copy_programs(build, with_tests, root):
    """Copies programs and what they load. Returns the paths on this machine of the libraries of others."""
    shared, cli_only, programs = {}, {}, []
    for folder, file in build.files:
        if folder == "tests" and not with_tests:
            continue
        uses_torch = folder in check.TORCH_FOLDERS
        bundle = libraries.to_bundle(file, build.torch_libraries if uses_torch else set())
        (shared if uses_torch else cli_only).update(bundle)
        programs.append((folder, file, bool(bundle)))
    cli_only = {name: path for name, path in cli_only.items() if name not in shared}
    for folder, file, loads in programs:
        path = [] if folder in check.TORCH_FOLDERS else [f"$ORIGIN/../{CLI_LIBRARIES}"]
        copy_elf(file, root / folder / file.name, [*path, "$ORIGIN/../lib"] if loads else [])
    for name, path in shared.items():
        copy_elf(path, root / "lib" / name, ["$ORIGIN"])
    for name, path in cli_only.items():
        copy_elf(path, root / CLI_LIBRARIES / name, ["$ORIGIN", "$ORIGIN/.."])
    for path in build.test_lists() if with_tests else []:
        copy_file(path, root / "tests" / path.name)
    # Tests look for the module in the folder in which they find the worker; a worker of theirs, in its own.
    for module in sorted((root / "libexec").glob("*.so")):
        for folder in ["bin", "tests"] if with_tests else ["bin"]:
            (root / folder / module.name).symlink_to(f"../libexec/{module.name}")
    return [path for path in [*shared.values(), *cli_only.values()] if path.name != OWN_LIBRARY]


def copy_beside(build, root):
    """Copies what lies beside the programs: completions, manual pages, units, manifests."""
    for path in sorted(build.beside.rglob("*")):
        if path.is_file():
            copy_file(path, root / path.relative_to(build.beside))


def copy_sources(checkout, with_tests, root):
    """Copies what git tracks of the examples and the runners, and with the tests of tools/gpu."""
    for path in tracked(checkout, "README.md"):
        copy_file(checkout / path, root / path)
    data = pathlib.Path("planner/data")
    for path in tracked(checkout, data):
        if path.suffix == ".json":
            copy_file(checkout / path, root / "share" / path.relative_to(data))
    runners = pathlib.Path("tools/runners")
    for path in tracked(checkout, runners):
        copy_file(checkout / path, root / "share/runners" / path.relative_to(runners))
    if with_tests:
        for path in tracked(checkout, *GPU_FILES):
            copy_file(checkout / path, root / path)


def write_licences(checkout, build, bundled, root):
    setup_packages = subprocess.run([checkout / "tools/setup", "--print-packages"], check=True, capture_output=True,
                                    text=True).stdout.split()
    packages = licences.compiled_in(setup_packages) + [licences.owner(path) for path in bundled]
    licences.copy_all(packages, build.torch_licences(), root / "licences")


def describe_file(path, root):
    entry = {"path": str(path.relative_to(root))}
    if path.is_symlink():
        return entry | {"link": str(path.readlink())}
    return entry | {"bytes": path.stat().st_size, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}


def write_manifest(commit, build, root):
    newest = check.newest_versions(root)
    manifest = {
        "name": "meshwright",
        "version": build.version,
        "commit": commit.id,
        "uncommitted_changes": commit.dirty,
        "torch": build.torch_version(),
        "glibc": ".".join(map(str, newest["GLIBC"])),
        "glibcxx": ".".join(map(str, newest["GLIBCXX"])),
        "files": [describe_file(path, root) for path in sorted(root.rglob("*")) if path.is_symlink() or path.is_file()],
    }
    (root / "MANIFEST.json").write_text(json.dumps(manifest, indent=1) + "\n")
