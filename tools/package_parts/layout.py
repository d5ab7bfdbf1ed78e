"""From a build folder to the folder that becomes an archive or a wheel."""
import dataclasses
import subprocess
import sys

from package_parts import check, contents


class Failure(Exception):
    def __init__(self, text, exit_code=1):
        super().__init__(text)
        self.exit_code = exit_code


@dataclasses.dataclass
class Commit:
    id: str
    time_s: int
    dirty: bool


def _git(checkout, *words):
    done = subprocess.run(["git", "-C", checkout, *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"{checkout} is not a git checkout, so there is no commit to name: {done.stderr.strip()}", 2)
    return done.stdout.strip()


def commit(checkout):
    return Commit(id=_git(checkout, "rev-parse", "HEAD"), time_s=int(_git(checkout, "log", "-1", "--format=%ct")),
                  dirty=_git(checkout, "status", "--porcelain") != "")


def build(checkout, folder, targets):
    """The build folder, read only. Without `folder`, build/release, in which the targets are brought up to date."""
    if folder is None:
        subprocess.run(["bash", "-euc", '. "$1/tools/lib/build.sh"; shift; set_up_and_build "$@"', "build", checkout,
                        *targets], check=True, stdout=sys.stderr)
    folder = (folder or checkout / "build/release").resolve()
    if not (folder / "package.txt").exists():
        raise Failure(f"--build {folder}: is not a build folder of this project: it has no package.txt", 2)
    built = contents.Build(folder)
    with_tests = "package_tests" in targets
    missing = [file for where, file in built.files if not file.exists() and (with_tests or where != "tests")]
    if not built.beside.is_dir():
        missing.append(built.beside)
    if missing:
        raise Failure(f"--build {folder}: {missing[0]} is not built", 2)
    return built


def lay_out(checkout, built, root, with_tests):
    """Fills `root` and checks it. Returns the commit."""
    source = commit(checkout)
    bundled = contents.copy_programs(built, with_tests, root)
    contents.copy_beside(built, root)
    contents.copy_sources(checkout, with_tests, root)
    contents.write_licences(checkout, built, bundled, root)
    contents.write_manifest(source, built, root)
    problems = check.problems(root, built.torch_libraries)
    if problems:
        raise Failure("the archive would not run elsewhere:\n  " + "\n  ".join(problems))
    return source
