// Reads a cluster that is given in a few words: "h100:8x4,ib=200Gb" is 4 nodes of 8 H100 each; the
// NICs of a node together carry 200 Gb/s.
//
//   NAME[:DEVICES[xNODES]][,WORD=AMOUNT]...
//
// NAME is a preset or another name of one (planner/catalog/cluster_names.h). DEVICES is the number
// of devices per node; NODES is 1 if it is left out. An amount is a rate, one way, in Gb (gigabits
// per second) or GB (gigabytes per second), such as 200Gb or 25GB, or a size in GB or TB; T stands
// for a thousand G, and only the case of b matters. A WORD may also be a key of a cluster's file,
// with its AMOUNT as a text.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace meshwright::planner {

// The kind of a word's amount. The devices of a node share a kRateOfNode.
enum class WordAmount : uint8_t { kRate, kRateOfNode, kSize };

struct ClusterWord {
  std::string_view name;
  std::string_view covers;  // what the amount belongs to, in a few words
  // Other usual names of the same thing, each between blanks. They are not accepted; the error
  // about one of them names this word.
  std::string_view also;
  // The object of a cluster's file that holds the word's figure, and the figure's key in this
  // object.
  std::string_view object;
  std::string_view key;
  WordAmount amount;
};

inline constexpr std::array<ClusterWord, 5> kClusterWords = {{
    {"ib", "all InfiniBand or RoCE interfaces of a node", " infiniband roce nic nics network net ",
     "scale_out", "bytes_per_s", WordAmount::kRateOfNode},
    {"eth", "all Ethernet interfaces of a node", " ethernet tcp ", "scale_out", "bytes_per_s",
     WordAmount::kRateOfNode},
    {"link", "one device to the others of its node", " nvlink nvl nvswitch xgmi pcie up ",
     "scale_up", "bytes_per_s", WordAmount::kRate},
    {"pairs", "two devices that a bridge joins", " pair bridge bridges ", "scale_up",
     "pair_bytes_per_s", WordAmount::kRate},
    {"ram", "memory of a node's host", " host memory mem dram ", "host", "memory_bytes",
     WordAmount::kSize},
}};

// Returns whether the text is a cluster in words: it has ":" or "," after the name of a preset.
bool IsInClusterWords(std::string_view text);

// Returns the cluster's file: based_on, name, devices_per_node, nodes and the words. Returns
// InvalidArgument about `cluster` if the text does not follow this grammar.
absl::StatusOr<nlohmann::json> ClusterInWords(std::string_view text);

// Replaces the words in a cluster's file by the keys that they stand for. The file's base is
// already merged into `merged`. `own` is the file without its base. Returns InvalidArgument about
// the word if its amount can't be read, or if the file gives the same amount in another key too.
absl::Status ReplaceClusterWords(const nlohmann::json& own, nlohmann::json& merged);

}  // namespace meshwright::planner
