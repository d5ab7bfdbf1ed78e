// kToyCluster is an invented cluster, so that tests' output does not depend on the presets.
#pragma once

namespace meshwright::cli {

inline constexpr char kToyCluster[] = R"({"name": "toy", "devices_per_node": 8,
  "device": {"name": "toy", "peak_bf16_flops": 1e14, "peak_fp32_flops": 1e13,
             "memory_bytes": 51539607552, "memory_bytes_per_s": 1e12, "matmul_efficiency": 0.5},
  "scale_up": {"bytes_per_s": 1e11}, "scale_out": {"bytes_per_s": 1e10}})";

}  // namespace meshwright::cli
