"""A root folder with next to nothing in it, and commands that see nothing else."""
import os
import pathlib
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools"))

from package_parts import elf, libraries  # noqa: E402

LIBRARY_FOLDER = "lib/x86_64-linux-gnu"
LOADER = "lib64/ld-linux-x86-64.so.2"
HOST_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
# In a mount namespace of the command's own, so that nothing stays mounted. Arguments: root, pairs of what to show and
# where, "--", the command.
ENTER = """root=$1; shift
while [ "$1" != -- ]; do mount --rbind "$1" "$root$2"; shift 2; done; shift
exec chroot "$root" "$@"
"""
NAMESPACE = ["unshare", "--mount"] + ([] if os.geteuid() == 0 else ["--user", "--map-root-user"])


def supported():
    """Why no command can be given a root of its own here; empty where one can."""
    try:
        done = subprocess.run([*NAMESPACE, "sh", "-c", "mount --rbind /proc /proc && exec chroot / true"], check=False,
                              capture_output=True, text=True, env={"PATH": HOST_PATH})
    except OSError as error:
        return str(error)
    return "" if done.returncode == 0 else done.stderr.strip() or "unshare, mount or chroot failed"


class MinimalRoot:
    def __init__(self, folder):
        self.folder = folder
        self.shown = []
        for name in ("tmp", "proc", "dev"):
            (folder / name).mkdir(parents=True)
        self.show("/proc", "/proc")
        for device in ("null", "zero", "urandom"):
            self.show(f"/dev/{device}", f"/dev/{device}")

    def at(self, path):
        return self.folder / str(path).lstrip("/")

    def show(self, source, path):
        """Makes a file or folder of this machine visible at `path`."""
        target = self.at(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.mkdir(exist_ok=True) if pathlib.Path(source).is_dir() else target.touch()
        self.shown += [str(source), str(path)]

    def copy(self, source, path):
        target = self.at(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)

    def add_runtime(self, *programs):
        """The loader, and what the programs use of libc and of GCC's C++ runtime."""
        self.copy(f"/{LOADER}", LOADER)
        for program in programs:
            for name, path in elf.resolved(program).items():
                if libraries.in_system(name) and path is not None:
                    self.copy(path, f"{LIBRARY_FOLDER}/{name}")

    def add_program(self, program):
        """A program of this machine with every library that it loads."""
        self.copy(program, program)
        self.add_libraries(program)

    def add_libraries(self, file):
        for name, path in elf.resolved(file).items():
            self.copy(path, f"{LIBRARY_FOLDER}/{name}")

    def start(self, command, variables=None, **options):
        # The path is for the host's tools; nothing of it is inside, unless a test puts it there.
        environment = {"PATH": HOST_PATH, "HOME": "/tmp"} | (variables or {})
        return subprocess.Popen([*NAMESPACE, "sh", "-ec", ENTER, "sh", str(self.folder), *self.shown, "--",
                                 *map(str, command)], env=environment, stdin=subprocess.DEVNULL, text=True, **options)

    def run(self, *command, variables=None, timeout_s=120):
        process = self.start(command, variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            out, err = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise
        return subprocess.CompletedProcess(command, process.returncode, out, err)
