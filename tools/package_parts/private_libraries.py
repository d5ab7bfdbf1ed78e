"""Makes the libraries of a folder its own, for a process that may have others of the same names.

A Python process loads libmeshwright.so beside whatever else it has: another protobuf, another Abseil. The loader takes
a library that is there already for one of the same SONAME, and symbols of the binding STB_GNU_UNIQUE are one for the
whole process, even of libraries that are loaded with RTLD_LOCAL. So every library gets a SONAME of its own, and its
unique symbols become global ones, which RTLD_LOCAL keeps apart.
"""
import struct

from package_parts import check, elf

MARK = "-meshwright"
_SHT_DYNSYM = 11
_SECTION = struct.Struct("<IIQQQQIIQQ")  # Elf64_Shdr
_SYMBOL_BYTES = 24  # of an Elf64_Sym, whose fifth byte holds binding and type
_STB_GLOBAL = 1
_STB_GNU_UNIQUE = 10


def private_name(name):
    """libz-meshwright.so.1 for libz.so.1."""
    stem, suffix = name.split(".so", 1)
    return f"{stem}{MARK}.so{suffix}"


def unique_symbols_made_global(data):
    """The number of symbols of an ELF file's bytes (a bytearray) that were unique to the process and no longer are."""
    section_offset, = struct.unpack_from("<Q", data, 0x28)
    section_count, = struct.unpack_from("<H", data, 0x3C)
    changed = 0
    for index in range(section_count):
        section = _SECTION.unpack_from(data, section_offset + index * _SECTION.size)
        kind, offset, size = section[1], section[4], section[5]
        if kind != _SHT_DYNSYM:
            continue
        for info in range(offset + 4, offset + size, _SYMBOL_BYTES):
            if data[info] >> 4 == _STB_GNU_UNIQUE:
                data[info] = _STB_GLOBAL << 4 | data[info] & 0xF
                changed += 1
    return changed


def make_private(root, own):
    """Renames the libraries below root/lib but those named in `own`, for everything in `root` that needs them."""
    libraries = [path for path in check.elf_files(root / "lib") if path.name not in own]
    names = {path.name: private_name(path.name) for path in libraries}
    for path in check.elf_files(root):
        needed = [name for name in elf.read(path).needed if name in names]
        elf.edit(path, *(word for name in needed for word in ("--replace-needed", name, names[name])))
    for path in libraries:
        # Not in one run with the above: patchelf 0.14 then writes the wrong name.
        elf.edit(path, "--set-soname", names[path.name])
    for path in libraries:
        data = bytearray(path.read_bytes())
        if unique_symbols_made_global(data):
            path.write_bytes(data)
        path.rename(path.with_name(names[path.name]))
