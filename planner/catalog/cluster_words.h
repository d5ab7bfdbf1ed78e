// Reads a cluster that is given in a few words: "h100:8x4,ib=200Gb" is 4 nodes of 8 H100 whose
// network interfaces carry 200 Gb/s a node.
//
//   NAME[:DEVICES[xNODES]][,WORD=RATE]...
//
// NAME is a preset or another name of one (planner/catalog/cluster_names.h). DEVICES are those of a
// node; without NODES there is one. A rate is one way, in Gb (gigabits per second) or GB (gigabytes
// per second), such as 200Gb or 25GB. The words are also keys of a cluster's file, with the rate as
// a text.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace meshwright::planner {

struct ClusterWord {
  std::string_view name;
  std::string_view help;
  // The link of a cluster's file that the word is about, and the key of its rate.
  std::string_view link;
  std::string_view key;
  bool of_node = false;  // the devices of a node share the rate
};

inline constexpr std::array<ClusterWord, 4> kClusterWords = {{
    {"ib", "InfiniBand between nodes: all interfaces of a node together", "scale_out",
     "bytes_per_s", true},
    {"eth", "Ethernet between nodes: all interfaces of a node together", "scale_out", "bytes_per_s",
     true},
    {"link", "What links one device to the others of its node", "scale_up", "bytes_per_s"},
    {"pairs", "Bridges that join two devices of a node each", "scale_up", "pair_bytes_per_s"},
}};

// Returns whether the text is a cluster in words: it has ":" or "," behind the name of a preset.
bool IsInClusterWords(std::string_view text);

// Returns the cluster's file: based_on, name, devices_per_node, nodes and the words. Returns
// InvalidArgument about `cluster` if the text is not as above.
absl::StatusOr<nlohmann::json> ClusterInWords(std::string_view text);

// Replaces the words of a cluster's file, whose base is merged in, by the links that they stand
// for. `own` is the file without its base. Returns InvalidArgument about the word if its rate can't
// be read, or if the file gives the same rate in another key too.
absl::Status ReplaceClusterWords(const nlohmann::json& own, nlohmann::json& merged);

}  // namespace meshwright::planner
