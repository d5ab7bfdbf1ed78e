"""Where the programs are: in a checkout that is built, or in an unpacked archive."""
import dataclasses
import json
import os
import pathlib
import subprocess

from gpu_parts.errors import ItemFailed, UsageError


@dataclasses.dataclass(frozen=True)
class Installation:
    root: pathlib.Path
    bin: pathlib.Path
    tests: pathlib.Path
    commit: str
    archive: bool

    @property
    def meshwright(self):
        return str(self.bin / "meshwright")

    def program(self, name):
        """The path of a test or a benchmark. Raises ItemFailed where it is not there."""
        for folder in (self.tests, self.bin):
            if (folder / name).is_file():
                return str(folder / name)
        raise ItemFailed(f"{name} is not in {self.tests}: "
                         + ("the archive was made without --tests" if self.archive else "build it first"))

    def start(self, program, *arguments):
        """The command that runs a program which may link LibTorch: an archive's launcher finds that."""
        launcher = [str(self.bin / "meshwright-worker"), "--exec"] if self.archive else []
        return [*launcher, str(program), *arguments]

    def test_list(self, name):
        """The names in one of the lists that the build writes beside the tests."""
        file = self.tests / name
        try:
            return [line.strip() for line in file.read_text().splitlines() if line.strip()]
        except OSError as error:
            raise ItemFailed(f"{file} can't be read ({error.strerror}): it says which tests there are") from error

    def environment(self):
        """What tests look for their data and for the worker by."""
        return os.environ | {"MESHWRIGHT_SOURCE_DIR": str(self.root), "MESHWRIGHT_BIN_DIR": str(self.bin)}


def named(commit, changed):
    return f"{commit} and changes" if changed else commit


def manifest_commit(file):
    """The commit that an archive was made from. Raises UsageError."""
    try:
        manifest = json.loads(file.read_text())
        return named(manifest["commit"], manifest.get("uncommitted_changes", False))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{file} can't be read as the manifest of an archive: {error}") from error


def git_commit(root):
    def git(*arguments):
        return subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True, text=True,
                              timeout=60).stdout.strip()
    try:
        return named(git("rev-parse", "HEAD"), git("status", "--porcelain") != "")
    except (OSError, subprocess.SubprocessError):
        return "unknown"


def find_installation(root, build=None):
    """Raises UsageError where `root` holds no programs."""
    manifest = root / "MANIFEST.json"
    if manifest.is_file():
        if build is not None:
            raise UsageError(f"--build {build}: this is an archive, which has its programs in {root / 'bin'}")
        found = Installation(root, root / "bin", root / "tests", manifest_commit(manifest), archive=True)
    else:
        folder = root / "build/release" if build is None else pathlib.Path(build).resolve()
        found = Installation(root, folder / "bin", folder / "tests", git_commit(root), archive=False)
    if not os.access(found.meshwright, os.X_OK):
        raise UsageError(f"there is no program {found.meshwright}; build the project, or name a build with --build")
    return found
