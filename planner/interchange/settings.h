// Settings hold the values of a framework's configuration, under names of this project: the keys of
// a layout (planner/layout/keys.h), the options of a run (planner/spec/run_option_table.h), and the
// further names of kFurtherSettings. The tables of names (planner/interchange/name_table.h) connect
// these names with those of frameworks.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "planner/interchange/export_job.h"

namespace meshwright::planner {

// A setting that is neither a key nor an option. `part_of` is the key or the option that the
// setting is a part of; empty: the setting describes the run or the model.
struct FurtherSetting {
  std::string_view name;
  std::string_view part_of = {};
  std::string_view help;
};

inline constexpr std::array kFurtherSettings = {
    FurtherSetting{.name = "seq_len", .help = "tokens per sequence"},
    FurtherSetting{.name = "global_batch", .help = "sequences per optimizer step"},
    FurtherSetting{.name = "dtype", .help = "number format of the matrix products"},
    FurtherSetting{.name = "optimizer", .help = "what updates the weights"},
    FurtherSetting{.name = "gpus", .help = "devices of the run"},
    FurtherSetting{.name = "nodes", .help = "nodes of the run"},
    FurtherSetting{.name = "gpus_per_node", .help = "devices of a node"},
    FurtherSetting{.name = "accumulation", .help = "micro-batches of a step on one rank of dp"},
    FurtherSetting{.name = "rank_batch", .help = "sequences that one rank of dp takes at once"},
    FurtherSetting{.name = "shards", .part_of = "hs", .help = "ranks of dp that divide states"},
    FurtherSetting{.name = "copies", .part_of = "hs", .help = "copies of the divided states"},
    FurtherSetting{.name = "chunk_layers", .part_of = "vpp", .help = "layers of a chunk"},
    FurtherSetting{.name = "recompute", .part_of = "rc", .help = "none, selective or full"},
    FurtherSetting{.name = "recompute_method", .part_of = "rc", .help = "uniform or block"},
    FurtherSetting{.name = "recompute_layers", .part_of = "rc", .help = "a number of layers"},
    FurtherSetting{.name = "recompute_modules", .part_of = "rc", .help = "names, with blanks"},
    FurtherSetting{.name = "pipeline_layout", .part_of = "stages", .help = "Megatron-LM's text"},
    FurtherSetting{.name = "uneven_ends", .part_of = "stages", .help = "1: ends have a layer less"},
    FurtherSetting{.name = "stage_layers", .part_of = "stages", .help = "layers of inner stages"},
    FurtherSetting{.name = "first_less", .part_of = "stages", .help = "fewer layers, first stage"},
    FurtherSetting{.name = "last_less", .part_of = "stages", .help = "fewer layers, last stage"},
    FurtherSetting{.name = "offload_layers", .part_of = "offload", .help = "layers of a chunk"},
    FurtherSetting{.name = "offload_optimizer", .part_of = "offload", .help = "0 or 1"},
    FurtherSetting{.name = "offload_parameters", .part_of = "offload", .help = "0 or 1"},
    FurtherSetting{.name = "offload_all", .part_of = "offload", .help = "1: opt+param+grad"},
    FurtherSetting{.name = "state_master", .part_of = "states", .help = "format of master weights"},
    FurtherSetting{.name = "state_grad", .part_of = "states", .help = "format of gradients"},
    FurtherSetting{.name = "state_m", .part_of = "states", .help = "format of the first moment"},
    FurtherSetting{.name = "state_v", .part_of = "states", .help = "format of the second moment"},
    FurtherSetting{.name = "liger", .part_of = "loss", .help = "1: fused loss and fused norms"},
    FurtherSetting{.name = "chunked", .part_of = "loss", .help = "1: the loss is in chunks"},
    FurtherSetting{.name = "overlap", .help = "1: gradients are reduced beside compute"},
    FurtherSetting{.name = "pipelined", .help = "1: pp is above 1"},
    FurtherSetting{.name = "divided", .help = "1: ZeRO divides something"},
    FurtherSetting{.name = "sharded", .help = "1: ZeRO divides gradients or weights"},
    FurtherSetting{.name = "sharded_copies", .help = "1: copies of what ZeRO 2 or 3 divides"},
    FurtherSetting{.name = "offloads_optimizer", .help = "1: the optimizer's states are moved"},
    FurtherSetting{.name = "offloads_alone", .help = "1: they are moved where nothing is divided"},
    FurtherSetting{.name = "of_deepspeed", .help = "1: DeepSpeed runs the model"},
    FurtherSetting{.name = "trainer_recomputes", .help = "1: the Trainer recomputes"},
    FurtherSetting{.name = "liger_plugin", .help = "1: some of Liger's kernels are used"},
    FurtherSetting{.name = "moment_formats", .help = "1: formats of the states are said"},
    FurtherSetting{.name = "sparse_context", .help = "1: cp divides sparse attention"},
    FurtherSetting{.name = "hybrid_pattern", .part_of = "stages", .help = "a hybrid's layers"},
    FurtherSetting{.name = "uses_adapter", .help = "1: adapters train, not weights"},
    FurtherSetting{.name = "adapter", .help = "full, lora or qlora"},
    FurtherSetting{.name = "adapter_rank", .part_of = "train", .help = "rank of adapters"},
    FurtherSetting{.name = "adapter_targets", .help = "all-linear, or names with blanks"},
    FurtherSetting{.name = "adapter_linear", .help = "1: adapters are on all linear layers"},
    FurtherSetting{.name = "adapter_dora", .help = "1: adapters have magnitudes"},
    FurtherSetting{.name = "base_4bit", .help = "1: frozen weights have 4 bits"},
    FurtherSetting{.name = "engine", .help = "verl's engine of the policy: fsdp2 or megatron"},
    FurtherSetting{.name = "of_fsdp", .help = "1: the engine is fsdp2"},
    FurtherSetting{.name = "of_megatron", .help = "1: the engine is megatron"},
    FurtherSetting{.name = "gathers", .help = "1: the engine's ranks gather updated weights"},
    FurtherSetting{.name = "prompt_tokens", .help = "most tokens of a prompt"},
    FurtherSetting{.name = "answer_tokens", .help = "most tokens of an answer"},
    FurtherSetting{.name = "samples", .help = "answers to a prompt, all in one batch"},
    FurtherSetting{.name = "model", .help = "name or folder of the model"},
    FurtherSetting{.name = "family", .help = "torchtitan's module of the model"},
    FurtherSetting{.name = "flavor", .help = "torchtitan's name of the model in its module"},
    FurtherSetting{.name = "layers", .help = "layers of the model"},
    FurtherSetting{.name = "hidden", .help = "width of the model"},
    FurtherSetting{.name = "ffn", .help = "width of an FFN"},
    FurtherSetting{.name = "heads", .help = "heads of queries"},
    FurtherSetting{.name = "kv_heads", .help = "heads of keys and values"},
    FurtherSetting{.name = "vocab", .help = "tokens that the model knows"},
    FurtherSetting{.name = "num_experts", .help = "routed experts of a layer"},
};

// Returns the key or the option that the setting is, or is a part of; otherwise an empty text.
std::string_view KeyOfSetting(std::string_view name);

// Returns whether a key, an option or a further setting has this name.
bool IsSetting(std::string_view name);

// The largest count that a setting may have. It is above the devices, the layers and the tokens of
// a sequence in any run, and small enough that the product of two counts does not overflow.
inline constexpr int64_t kMostCounted = int64_t{1} << 24;

class Settings {
 public:
  void Set(std::string_view name, std::string text) { texts_[std::string(name)] = std::move(text); }
  void Set(std::string_view name, int64_t number) { Set(name, std::to_string(number)); }
  void Remove(std::string_view name) { texts_.erase(std::string(name)); }

  // Returns null if the setting is not set.
  const std::string* Find(std::string_view name) const;
  // Returns `otherwise` if the setting is not set.
  std::string TextOf(std::string_view name, std::string_view otherwise) const;
  // Returns nullopt if the setting is not set, or is not a whole number from 1 to kMostCounted.
  std::optional<int64_t> CountOf(std::string_view name) const;
  bool IsOn(std::string_view name) const { return TextOf(name, "0") == "1"; }

 private:
  std::map<std::string, std::string> texts_;
};

// Returns the settings of a job: every key, the options that differ from their default, and the
// further settings of the run, except those of an adapter. The settings that are parts of rc, hs
// and offload are included.
Settings SettingsOf(const ExportJob& job);

}  // namespace meshwright::planner
