#include "planner/interchange/settings.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "base/text/enum_names.h"
#include "base/text/string_view.h"
#include "planner/layout/keys.h"
#include "planner/layout/mesh.h"
#include "planner/spec/run_option_table.h"

namespace meshwright::planner {
namespace {

void SetRecompute(const Layout& layout, Settings& settings) {
  switch (layout.recompute) {
    case Recompute::kNone:
      settings.Set("recompute", "none");
      return;
    case Recompute::kSelective:
      settings.Set("recompute", "selective");
      return;
    case Recompute::kModules:
      settings.Set("recompute", "selective");
      settings.Set("recompute_modules",
                   NamesOf(layout.recompute_modules, RecomputeModuleName, " "));
      return;
    case Recompute::kFull:
      settings.Set("recompute", "full");
      settings.Set("recompute_method", "uniform");
      settings.Set("recompute_layers", 1);
      return;
    case Recompute::kBlock:
      settings.Set("recompute", "full");
      settings.Set("recompute_method", "block");
      settings.Set("recompute_layers", layout.recompute_layers);
      return;
  }
}

void SetOffload(const Offload& offload, Settings& settings) {
  if (offload.activation_layers > 0) settings.Set("offload_layers", offload.activation_layers);
  settings.Set("offload_optimizer", offload.optimizer ? 1 : 0);
  settings.Set("offload_parameters", offload.parameters ? 1 : 0);
  if (offload.gradients) settings.Set("offload_all", 1);
}

void SetStates(const RunOptions& options, Settings& settings) {
  constexpr EnumNames<StateFormat, 6> kNames = {{{StateFormat::kNone, "none"},
                                                 {StateFormat::kFp32, "fp32"},
                                                 {StateFormat::kBf16, "bf16"},
                                                 {StateFormat::kFp16, "fp16"},
                                                 {StateFormat::kFp8, "fp8"},
                                                 {StateFormat::kInt8, "int8"}}};
  const auto set = [&](std::string_view name, StateFormat format) {
    if (format != StateFormat::kDefault) settings.Set(name, std::string(NameOf(kNames, format)));
  };
  set("state_master", options.states.master);
  set("state_grad", options.states.gradient);
  set("state_m", options.states.first_moment);
  set("state_v", options.states.second_moment);
  if (options.states.master != StateFormat::kDefault ||
      options.states.first_moment != StateFormat::kDefault ||
      options.states.second_moment != StateFormat::kDefault) {
    settings.Set("moment_formats", 1);
  }
}

}  // namespace

std::string_view KeyOfSetting(std::string_view name) {
  for (const FurtherSetting& further : kFurtherSettings) {
    if (further.name == name) return further.part_of;
  }
  return IsSetting(name) ? name : std::string_view();
}

bool IsSetting(std::string_view name) {
  const auto is_named = [name](const auto& row) { return row.name == name; };
  return std::any_of(kLayoutKeys.begin(), kLayoutKeys.end(), is_named) ||
         std::any_of(kRunOptions.begin(), kRunOptions.end(), is_named) ||
         std::any_of(kFurtherSettings.begin(), kFurtherSettings.end(), is_named);
}

const std::string* Settings::Find(std::string_view name) const {
  const auto found = texts_.find(std::string(name));
  return found == texts_.end() ? nullptr : &found->second;
}

std::string Settings::TextOf(std::string_view name, std::string_view otherwise) const {
  const std::string* text = Find(name);
  return text == nullptr ? std::string(otherwise) : *text;
}

std::optional<int64_t> Settings::CountOf(std::string_view name) const {
  const std::string* text = Find(name);
  int64_t count = 0;
  if (text == nullptr || !absl::SimpleAtoi(*text, &count)) return std::nullopt;
  return count < 1 || count > kMostCounted ? std::nullopt : std::optional<int64_t>(count);
}

Settings SettingsOf(const ExportJob& job) {
  const Layout& layout = job.layout;
  Settings settings;
  for (const LayoutKey& key : kLayoutKeys) settings.Set(key.name, ConditionText(key, layout));
  settings.Set("rc", FormatRecompute(layout));
  for (const RunOption& option : kRunOptions) {
    if (HasDefault(option, job.training.options)) continue;
    settings.Set(option.name, option.text(job.training.options));
  }
  settings.Set("seq_len", job.training.seq_len);
  settings.Set("global_batch", job.training.global_batch);
  settings.Set("dtype", std::string(PrecisionName(job.training.precision)));
  const Optimizer& optimizer = job.training.optimizer;
  if (optimizer != kAdamW) settings.Set("optimizer", std::string(optimizer.name));
  const NodePlacement placed = PlacementOf(job);
  settings.Set("gpus", layout.devices());
  settings.Set("nodes", placed.nodes);
  settings.Set("gpus_per_node", placed.per_node);
  settings.Set("accumulation", layout.MicroBatches(job.training.global_batch));
  settings.Set("rank_batch",
               layout.pp > 1 ? job.training.global_batch / layout.dp : int64_t{layout.micro_batch});
  const int64_t copies = layout.zero > 0 ? GroupSize(GroupRole::kCopies, layout) : layout.dp;
  settings.Set("copies", copies);
  settings.Set("shards", layout.dp / std::max<int64_t>(1, copies));
  if (layout.zero > 0 || GroupSize(GroupRole::kReplicas, layout) > 1) settings.Set("overlap", 1);
  if (layout.pp > 1) settings.Set("pipelined", 1);
  if (layout.zero >= 1) settings.Set("divided", 1);
  if (layout.zero >= 2) settings.Set("sharded", 1);
  if (layout.zero >= 2 && copies > 1) settings.Set("sharded_copies", 1);
  if (layout.offload.optimizer) settings.Set("offloads_optimizer", 1);
  if (job.model.has_experts()) settings.Set("num_experts", 1);
  SetRecompute(layout, settings);
  SetOffload(layout.offload, settings);
  SetStates(job.training.options, settings);
  if (job.training.options.loss_chunks == 0 && layout.norm == NormKernel::kFused) {
    settings.Set("liger", 1);
  }
  return settings;
}

}  // namespace meshwright::planner
