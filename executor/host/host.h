// What this machine is: its name and the processor cores that this process may use.
#pragma once

#include <cstdint>
#include <string>

namespace meshwright {

// Physical cores among the processors in this process's affinity mask; hardware threads of one core
// count once. At least 1.
int32_t PhysicalCores();

std::string HostName();

}  // namespace meshwright
