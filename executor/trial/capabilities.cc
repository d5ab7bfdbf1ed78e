#include "executor/trial/capabilities.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/text/status_macros.h"
#include "planner/catalog/catalog.h"
#include "planner/catalog/plan_query.h"
#include "planner/rules/framework_rules.h"
#include "planner/rules/refusal.h"
#include "planner/rules/rule_list.h"

namespace meshwright::trial {
namespace {

constexpr std::array kDevices = {planner::DeviceKind::kCpu, planner::DeviceKind::kCuda};
constexpr std::array kPrecisions = {planner::Precision::kFp32, planner::Precision::kBf16,
                                    planner::Precision::kFp64, planner::Precision::kFp8Blockwise};
constexpr std::array kSchedules = {
    planner::ScheduleKind::kGpipe,       planner::ScheduleKind::k1f1b,
    planner::ScheduleKind::kInterleaved, planner::ScheduleKind::kBreadthFirst,
    planner::ScheduleKind::kZbH1,        planner::ScheduleKind::kZbV};
constexpr std::array kRecompute = {planner::Recompute::kNone, planner::Recompute::kSelective,
                                   planner::Recompute::kFull, planner::Recompute::kBlock};

// Returns the names of the values for which has(value) is true.
template <typename Values, typename Has, typename Name>
std::vector<std::string> Names(const Values& values, const Has& has, const Name& name) {
  std::vector<std::string> names;
  for (const auto value : values) {
    if (has(value)) names.emplace_back(name(value));
  }
  return names;
}

nlohmann::json ToJson(const planner::HeadSizes& sizes) {
  nlohmann::json json = {{"precision", std::string(planner::PrecisionName(sizes.precision))},
                         {"multiple_of", sizes.multiple_of}};
  if (sizes.attention.has_value()) {
    json["attention"] = std::string(planner::AttentionKernelName(*sizes.attention));
  }
  if (sizes.most.has_value()) json["most"] = *sizes.most;
  return json;
}

}  // namespace

const planner::FrameworkProfile& WorkerProfile() {
  static const auto& profile =
      *new planner::FrameworkProfile(planner::FindProfile("meshwright").value());
  return profile;
}

absl::Status CheckRules(const planner::ModelSpec& model, const planner::Layout& layout,
                        const planner::TrainingSpec& training, planner::DeviceKind device) {
  RETURN_IF_ERROR(planner::CheckOptions(WorkerProfile(), training));
  const auto violation = planner::CheckLayout({.model = model,
                                               .training = training,
                                               .profile = WorkerProfile(),
                                               .devices = layout.devices(),
                                               .device = device},
                                              layout);
  if (!violation) return absl::OkStatus();
  if (!planner::IsAboutParts(*violation)) {
    return absl::UnimplementedError(planner::Describe(*violation));
  }
  return absl::UnimplementedError(
      planner::RefusalOf(model, WorkerProfile(), layout, *violation).message());
}

nlohmann::json WorkerCapabilities() {
  const planner::Supports& can = WorkerProfile().supports;
  const planner::KernelSupport& kernels = can.kernels;
  const auto any = [](auto) { return true; };
  const auto runs_in = [&](planner::Precision precision) {
    return kernels.cpu_precisions.Has(precision) || kernels.cuda_precisions.Has(precision);
  };
  const auto recomputes = [&](planner::Recompute recompute) {
    if (recompute == planner::Recompute::kNone) return true;
    return can.has_recompute &&
           (can.has_block_recompute || recompute != planner::Recompute::kBlock);
  };
  std::vector<std::string> modules;
  can.recompute_modules.ForEach([&](planner::RecomputeModule module) {
    modules.emplace_back(planner::RecomputeModuleName(module));
  });
  std::vector<std::string> attention;
  kernels.cuda_attention.ForEach([&](planner::AttentionKernel kernel) {
    attention.emplace_back(planner::AttentionKernelName(kernel));
  });
  nlohmann::json head_dims = nlohmann::json::array();
  for (const planner::HeadSizes& sizes : kernels.cuda_head_sizes) {
    head_dims.push_back(ToJson(sizes));
  }
  return {
      {"devices", Names(kDevices, any, planner::DeviceKindName)},
      {"precisions", Names(kPrecisions, runs_in, planner::PrecisionName)},
      {"schedules",
       Names(
           kSchedules, [&](planner::ScheduleKind kind) { return planner::HasSchedule(can, kind); },
           planner::ScheduleName)},
      {"recompute", Names(kRecompute, recomputes, planner::RecomputeName)},
      {"recompute_modules", std::move(modules)},
      {"attention", std::move(attention)},
      {"max_zero", can.max_zero},
      {"hsdp", can.has_hsdp},
      {"max_cp", kernels.max_cp},
      {"max_vpp", kernels.max_vpp},
      {"sequence_parallel", can.has_sequence_parallel},
      {"qk_norm", kernels.qk_norm},
      {"cuda_head_dims", std::move(head_dims)}};
}

}  // namespace meshwright::trial
