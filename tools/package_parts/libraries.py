"""Which shared libraries an archive brings along, and which ones the machine has."""
import re

from package_parts import elf

# Every machine that the archive is for has libc and GCC's C++ runtime.
SYSTEM = re.compile(r"(ld-linux-x86-64|libc|libm|libmvec|libpthread|libdl|librt|libresolv|libutil|libanl|libstdc\+\+|"
                    r"libgcc_s)\.so(\.\d+)?")
# CUDA, NCCL and the driver lie where LibTorch or the machine has them.
CUDA = re.compile(r"lib(cuda|cudart|cublas|cublasLt|cudnn|cufft|cufile|cupti|curand|cusolver|cusparse|cusparseLt|nccl|"
                  r"nvJitLink|nvrtc|nvidia-ml|nvshmem_host)\.so(\.\d+)*")


class MissingLibrary(Exception):
    pass


def in_system(name):
    return SYSTEM.fullmatch(name) is not None


def with_torch(name, torch_libraries):
    """Whether LibTorch brings a library or it belongs to CUDA. `torch_libraries`: names of the files in torch/lib."""
    return name in torch_libraries or CUDA.fullmatch(name) is not None


def to_bundle(program, torch_libraries):
    """What to put beside a program: {name: path}. `torch_libraries` is empty for a program without LibTorch."""
    where = elf.resolved(program)
    bundle = {}
    open_files = [program]
    while open_files:
        file = open_files.pop()
        for name in elf.read(file).needed:
            if name in bundle or in_system(name) or with_torch(name, torch_libraries):
                continue
            if where.get(name) is None:
                raise MissingLibrary(f"{file} needs {name}, which this machine does not have")
            bundle[name] = where[name].resolve()
            open_files.append(bundle[name])
    return bundle
