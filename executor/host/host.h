// What this machine is: its name, and the processor cores and memory that this process may use.
#pragma once

#include <cstdint>
#include <string>

namespace meshwright::host {

// Physical cores among the processors in this process's affinity mask; hardware threads of one core
// count once. At least 1.
int32_t PhysicalCores();

std::string HostName();

// As the kernel has it, such as "AMD EPYC 9654 96-Core Processor"; "CPU" where it does not tell.
std::string ProcessorName();

// Main memory, or what control groups leave of it; at least 1.
int64_t MemoryBytes();

}  // namespace meshwright::host
