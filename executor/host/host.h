// These functions describe this machine: its name, and the processor cores and memory that this
// process may use.
#pragma once

#include <cstdint>
#include <string>

namespace meshwright::host {

// Returns the number of physical cores in the calling thread's affinity mask, at least 1. The
// hardware threads of a core count once.
int32_t PhysicalCores();

std::string HostName();

// Returns the kernel's name of the processor, such as "AMD EPYC 9654 96-Core Processor", or "CPU"
// if the kernel has none.
std::string ProcessorName();

// Returns the version of the NVIDIA driver that the kernel has loaded, such as "580.82.07", or an
// empty text if there is none. `root` is the file system's root.
std::string NvidiaDriverVersion(const std::string& root = "/");

// Returns the bytes of main memory, or the smallest limit of a control group if that is less.
// Returns at least 1.
int64_t MemoryBytes();

}  // namespace meshwright::host
