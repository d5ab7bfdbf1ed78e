// ClusterPreset is what `meshwright list clusters` shows of a preset.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planner/codec/fields.h"
#include "planner/report/preset_evidence.h"

namespace meshwright::planner {

struct ClusterPreset {
  std::string name;
  std::vector<std::string> other_names;  // usual names of its device
  std::string device;
  int64_t devices_per_node = 0;
  int64_t memory_bytes = 0;      // memory of one device
  double memory_bytes_per_s = 0.0;  // its bandwidth, by the data sheet
  double peak_bf16_flops = 0.0;     // FLOP/s; 0 if the device has no bf16 products
  double peak_half_flops = 0.0;     // FLOP/s in bf16 or, without bf16 products, in fp16
  // Bandwidth of a link in one direction, by the data sheet:
  double scale_up_bytes_per_s = 0.0;   // bandwidth inside a node
  double scale_out_bytes_per_s = 0.0;  // bandwidth between nodes
  PresetEvidence evidence;             // evidence, under the name of the preset that was fitted
  std::optional<double> median_error;  // median error of the fit's step times, a fraction
  std::string based_on;                // empty if the file stands by itself

  friend bool operator==(const ClusterPreset&, const ClusterPreset&) = default;
};

template <ConstOr<ClusterPreset> Preset, typename Visitor>
void VisitFields(Preset& preset, Visitor& visit) {
  visit("name", preset.name);
  visit("other_names", preset.other_names);
  visit("device", preset.device);
  visit("devices_per_node", preset.devices_per_node);
  visit("memory_bytes", preset.memory_bytes);
  visit("memory_bytes_per_s", preset.memory_bytes_per_s);
  visit("peak_bf16_flops", preset.peak_bf16_flops);
  visit("peak_half_flops", preset.peak_half_flops);
  visit("scale_up_bytes_per_s", preset.scale_up_bytes_per_s);
  visit("scale_out_bytes_per_s", preset.scale_out_bytes_per_s);
  visit("evidence", preset.evidence);
  visit("median_error", preset.median_error);
  visit("based_on", preset.based_on);
}

// Returns every cluster preset, in the order of ClusterNames(). `host_cores` means the same as in
// FindCluster().
std::vector<ClusterPreset> ClusterPresets(int32_t host_cores);

}  // namespace meshwright::planner
