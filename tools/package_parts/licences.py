"""The licences of what an archive holds of other projects, from the Debian packages that it came from."""
import pathlib
import re
import shutil
import subprocess

DOC = pathlib.Path("/usr/share/doc")
COMMON = re.compile(rb"/usr/share/common-licenses/([A-Za-z0-9.+-]*[A-Za-z0-9+])")


class MissingLicence(Exception):
    pass


def query(*arguments):
    return subprocess.run(["dpkg-query", *arguments], capture_output=True, text=True, check=False)


def owner(path):
    """The package that a file belongs to. Files of packages from before the merge of /lib and /usr/lib stand there by
    their old path."""
    for candidate in (path, pathlib.Path(str(path).removeprefix("/usr"))):
        answer = query("--search", candidate)
        if answer.returncode == 0:
            return answer.stdout.split(":")[0]
    raise MissingLicence(f"no Debian package owns {path}, so its licence is not known")


def compiled_in(setup_packages):
    """Packages of which headers or static libraries end in the binaries: those that the build needs, and the compiler's
    runtime, which the launcher holds."""
    runtime = subprocess.run(["g++", "-print-file-name=libstdc++.a"], capture_output=True, text=True, check=True).stdout
    headers = [package for package in setup_packages if package.endswith("-dev")]
    return [*headers, owner(pathlib.Path(runtime.strip()).resolve())]


def describe(package):
    return query("--show", "--showformat", "${binary:Package} ${Version}, source package ${source:Package} "
                 "${source:Version}\n", package).stdout.splitlines()[0]


def copy_all(packages, torch_licences, folder):
    """Writes one file per package, the licence texts that those refer to, LibTorch's own, and a list."""
    folder.mkdir(parents=True)
    common = set()
    lines = ["What this archive holds of other projects, and the Debian packages that it came from.\n\n"]
    for package in sorted(set(packages)):
        source = DOC / package.split(":")[0] / "copyright"
        if not source.exists():
            raise MissingLicence(f"{source} is missing: the licence of {package} is not known")
        shutil.copyfile(source, folder / package)
        common.update(name.decode() for name in COMMON.findall(source.read_bytes()))
        lines.append(describe(package) + "\n")
    for name in sorted(common):
        source = pathlib.Path("/usr/share/common-licenses") / name
        if source.is_file():
            shutil.copyfile(source, folder / f"common-{name}")
    for source in torch_licences:
        shutil.copyfile(source, folder / f"torch-{source.name}")
    lines.append("torch: headers only\n")
    (folder / "PACKAGES").write_text("".join(lines))
