"""Writes a folder as a wheel: its metadata, RECORD, and a zip of the same bytes for the same contents.

Python's specification "Binary distribution format" says what the files of NAME-VERSION.dist-info hold.
"""
import base64
import hashlib
import time
import zipfile

NAME = "meshwright"
# What glibc of the machine that the archive is built on allows (NEWEST_VERSIONS in check.py).
TAG = "py3-none-manylinux_2_36_x86_64"
# zip can't say earlier times.
_EARLIEST_S = 315532800

_METADATA = """Metadata-Version: 2.1
Name: {name}
Version: {version}
Summary: Which parallel layout trains this model fastest on this cluster, and does it fit?
Requires-Python: >=3.9
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Provides-Extra: df
Requires-Dist: pandas; extra == "df"
Provides-Extra: worker
Requires-Dist: torch=={torch}; extra == "worker"
Description-Content-Type: text/markdown

{readme}"""
_WHEEL = f"Wheel-Version: 1.0\nGenerator: tools/wheel\nRoot-Is-Purelib: false\nTag: {TAG}\n"
_ENTRY_POINTS = f"[console_scripts]\n{NAME} = {NAME}.__main__:main\n"


def file_name(version):
    return f"{NAME}-{version}-{TAG}.whl"


def write_metadata(folder, version, torch_version, readme):
    """Writes dist-info into `folder`, which becomes the wheel. Call it last: RECORD lists every file."""
    info = folder / f"{NAME}-{version}.dist-info"
    info.mkdir()
    # LibTorch's own version has the build's suffix; the registry's has none.
    metadata = _METADATA.format(name=NAME, version=version, torch=torch_version.split("+")[0], readme=readme)
    (info / "METADATA").write_text(metadata)
    (info / "WHEEL").write_text(_WHEEL)
    (info / "entry_points.txt").write_text(_ENTRY_POINTS)
    record = info / "RECORD"
    lines = [_record_line(path, folder) for path in files_of(folder)]
    record.write_text("".join(lines) + f"{record.relative_to(folder)},,\n")


def files_of(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _record_line(path, folder):
    data = path.read_bytes()
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{path.relative_to(folder)},sha256={digest},{len(data)}\n"


def write_zip(folder, path, modified_s):
    """`modified_s`: the time of every entry, in seconds since 1970."""
    date = time.gmtime(max(modified_s, _EARLIEST_S))[:6]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for file in files_of(folder):
            entry = zipfile.ZipInfo(str(file.relative_to(folder)), date)
            mode = 0o755 if file.stat().st_mode & 0o100 else 0o644
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, file.read_bytes())
