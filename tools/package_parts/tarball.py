"""Writes a folder as .tar.zst: the same bytes for the same contents, and never half a file under the given name."""
import contextlib
import os
import signal
import subprocess
import tarfile


@contextlib.contextmanager
def replaced_when_done(path):
    """A path beside `path` to write to. It becomes `path` in the end, and is removed where that is not reached."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield partial
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def write_tar(folder, path, modified_s):
    """`modified_s`: the time of every entry, in seconds since 1970."""
    def plain(entry):
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = "root"
        entry.mtime = modified_s
        entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
        return entry

    with tarfile.open(path, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for entry in [folder, *sorted(folder.rglob("*"))]:
            tar.add(entry, arcname=entry.relative_to(folder.parent), recursive=False, filter=plain)


def compress(tar, path, level):
    """`level`: zstd's, 1 to 19."""
    # A window of 128 MiB, the most that zstd unpacks without being asked: the binaries share much code.
    run(["zstd", "--quiet", f"-{level}", "--long=27", "-T2", "-o", path, tar])


def run(command):
    """As subprocess.run(), which leaves the command running where a signal's handler raises while it is started."""
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    process = subprocess.Popen(command, preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, mask))
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if process.wait() != 0:
            raise subprocess.CalledProcessError(process.returncode, command)
    finally:
        process.kill()
        process.wait()
