// Describes this machine: its name, and the processor cores and memory that this process may use.
#pragma once

#include <cstdint>
#include <string>

namespace meshwright::host {

// Returns the number of physical cores in this process's affinity mask; hardware threads of one
// core count once. At least 1.
int32_t PhysicalCores();

std::string HostName();

// Returns the kernel's name of the processor, such as "AMD EPYC 9654 96-Core Processor"; "CPU"
// where it has none.
std::string ProcessorName();

// Returns the bytes of main memory, or what control groups leave of it; at least 1.
int64_t MemoryBytes();

}  // namespace meshwright::host
