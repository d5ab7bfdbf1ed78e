#include "executor/trial/capabilities.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "executor/trial/trial_runner.h"
#include "planner/base/status_macros.h"
#include "planner/block/stage_partition.h"
#include "planner/schedule/schedule.h"

namespace meshwright::trial {
namespace {

template <typename T>
bool Contains(const std::vector<T>& values, T value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

template <typename T, typename Name>
std::vector<std::string> Names(const std::vector<T>& values, const Name& name) {
  std::vector<std::string> names;
  for (const T value : values) names.emplace_back(name(value));
  return names;
}

absl::Status Unsupported(absl::string_view what, absl::string_view supported) {
  return absl::UnimplementedError(
      absl::StrCat("the worker can't run ", what, "; it runs ", supported));
}

absl::Status CheckAxes(const planner::Layout& layout) {
  const Capabilities& can = WorkerCapabilities();
  if (layout.cp > can.max_cp) {
    return Unsupported(absl::StrCat("cp", layout.cp), absl::StrCat("cp up to ", can.max_cp));
  }
  if (layout.vpp > can.max_vpp) {
    return Unsupported(absl::StrCat("vpp", layout.vpp), absl::StrCat("vpp up to ", can.max_vpp));
  }
  if (layout.zero > can.max_zero) {
    return Unsupported(absl::StrCat("zero", layout.zero),
                       absl::StrCat("zero up to ", can.max_zero));
  }
  if (layout.sequence_parallel && !can.sequence_parallel) return Unsupported("sp1", "sp0");
  if (layout.sequence_parallel && layout.tp == 1) {
    return Unsupported("sp1 with tp1", "sp1 with tp of at least 2");
  }
  if (!Contains(can.recompute, layout.recompute)) {
    return Unsupported(absl::StrCat("rc=", std::string(planner::RecomputeName(layout.recompute))),
                       absl::StrJoin(Names(can.recompute, planner::RecomputeName), ", "));
  }
  if (!Contains(can.schedules, layout.schedule)) {
    return Unsupported(absl::StrCat("sched=", std::string(planner::ScheduleName(layout.schedule))),
                       absl::StrJoin(Names(can.schedules, planner::ScheduleName), ", "));
  }
  return absl::OkStatus();
}

absl::Status CheckKernels(const planner::Layout& layout, DeviceKind device) {
  const Capabilities& can = WorkerCapabilities();
  const planner::AttentionKernel attention = layout.attention;
  if (attention != planner::AttentionKernel::kDefault && !Contains(can.attention, attention)) {
    return Unsupported(absl::StrCat("attn=", std::string(planner::AttentionKernelName(attention))),
                       absl::StrJoin(Names(can.attention, planner::AttentionKernelName), ", "));
  }
  if (attention == planner::AttentionKernel::kCudnn && device == DeviceKind::kCpu) {
    return Unsupported("attn=cudnn on cpu", "attn=flash2 there, both on cuda");
  }
  if (layout.norm == planner::NormKernel::kEager) return Unsupported("norm=eager", "norm=fused");
  return absl::OkStatus();
}

// What the kernel takes that a layout's choice comes to in this precision.
const HeadSizes* HeadSizesOf(const planner::Layout& layout, planner::Precision precision) {
  const planner::AttentionKernel attention =
      layout.attention == planner::AttentionKernel::kDefault ? planner::AttentionKernel::kFlash2 : layout.attention;
  for (const HeadSizes& sizes : WorkerCapabilities().cuda_head_dims) {
    if (sizes.precision != precision) continue;
    if (sizes.attention.value_or(attention) == attention) return &sizes;
  }
  return nullptr;
}

absl::Status CheckHeadSize(const planner::ModelSpec& model, const planner::Layout& layout, planner::Precision precision) {
  const HeadSizes* sizes = HeadSizesOf(layout, precision);
  // CheckModel() has seen that all layers' heads are of one size.
  const int64_t head_dim = model.groups.front().attention.head_dim;
  if (sizes == nullptr || sizes->Take(head_dim)) return absl::OkStatus();
  const std::string kernel =
      sizes->attention.has_value()
          ? absl::StrCat(" with attn=", std::string(planner::AttentionKernelName(*sizes->attention)))
          : "";
  return Unsupported(
      absl::StrCat("head_dim = ", head_dim, " in ", std::string(planner::PrecisionName(precision)),
                   kernel, " on cuda"),
      absl::StrCat(
          "multiples of ", sizes->multiple_of,
          sizes->most.has_value() ? absl::StrCat(" up to ", *sizes->most) : std::string()));
}

nlohmann::json ToJson(const HeadSizes& sizes) {
  nlohmann::json json = {{"precision", std::string(planner::PrecisionName(sizes.precision))},
                         {"multiple_of", sizes.multiple_of}};
  if (sizes.attention.has_value()) {
    json["attention"] = std::string(planner::AttentionKernelName(*sizes.attention));
  }
  if (sizes.most.has_value()) json["most"] = *sizes.most;
  return json;
}

absl::Status CheckModel(const planner::ModelSpec& model) {
  for (const planner::LayerGroup& group : model.groups) {
    if (!group.ffn.gated()) return Unsupported("a gelu FFN", "swiglu");
    if (group.attention.qk_norm && !WorkerCapabilities().qk_norm) {
      return Unsupported("qk_norm = true", "qk_norm = false");
    }
    const int64_t head_dim = group.attention.head_dim;
    if (head_dim % 2 != 0) {
      return Unsupported(absl::StrCat("head_dim = ", head_dim), "even head_dim");
    }
    const int64_t first = model.groups.front().attention.head_dim;
    if (head_dim != first) {
      return Unsupported(absl::StrCat("head_dim = ", first, " and ", head_dim),
                         "one head_dim for all layers");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckDivides(absl::string_view field, int64_t value, absl::string_view by,
                          int64_t divisor) {
  if (value % divisor == 0) return absl::OkStatus();
  return Unsupported(absl::StrCat(field, " = ", value, " with ", by, divisor),
                     absl::StrCat(by, " that divides ", field));
}

absl::Status CheckDivisibility(const planner::ModelSpec& model, const planner::Layout& layout,
                               const planner::TrainingSpec& training) {
  for (const planner::LayerGroup& group : model.groups) {
    RETURN_IF_ERROR(CheckDivides("heads", group.attention.heads, "tp", layout.tp));
    RETURN_IF_ERROR(CheckDivides("kv_heads", group.attention.kv_heads, "tp", layout.tp));
  }
  RETURN_IF_ERROR(CheckDivides("vocab", model.vocab, "tp", layout.tp));
  for (const planner::LayerGroup& group : model.groups) {
    RETURN_IF_ERROR(CheckDivides("ffn_hidden", group.ffn.hidden, "tp", layout.tp));
  }
  if (layout.cp > 1) {
    RETURN_IF_ERROR(CheckDivides("seq_len", training.seq_len, "2 * cp = ", 2 * int64_t{layout.cp}));
  }
  if (layout.sequence_parallel) {
    RETURN_IF_ERROR(
        CheckDivides("seq_len", training.seq_len, "tp * cp = ", int64_t{layout.tp} * layout.cp));
  }
  if (!planner::CanPartition(model, layout, planner::StagePartition::kEqual)) {
    return Unsupported(
        absl::StrCat("layers = ", model.layers(), " with pp", layout.pp, ".vpp", layout.vpp),
        "pp * vpp that divides layers, or layers + 2");
  }
  RETURN_IF_ERROR(CheckDivides("global_batch", training.global_batch,
                               "dp * mb = ", int64_t{layout.dp} * layout.micro_batch));
  return planner::CheckScheduleExists(layout,
                             static_cast<int32_t>(layout.MicroBatches(training.global_batch)));
}

}  // namespace

const Capabilities& WorkerCapabilities() {
  static const auto& capabilities = *new Capabilities{
      .devices = {DeviceKind::kCpu, DeviceKind::kCuda},
      .precisions = {planner::Precision::kFp32, planner::Precision::kBf16, planner::Precision::kFp64},
      .schedules = {planner::ScheduleKind::kGpipe, planner::ScheduleKind::k1f1b, planner::ScheduleKind::kInterleaved,
                    planner::ScheduleKind::kBreadthFirst, planner::ScheduleKind::kZbH1, planner::ScheduleKind::kZbV},
      .recompute = {planner::Recompute::kNone, planner::Recompute::kSelective, planner::Recompute::kFull, planner::Recompute::kBlock},
      .attention = {planner::AttentionKernel::kFlash2, planner::AttentionKernel::kCudnn},
      .default_attention = planner::AttentionKernel::kFlash2,
      .max_zero = 3,
      .max_cp = 1024,
      .max_vpp = 1024,
      .sequence_parallel = true,
      .qk_norm = true,
      // ATen's checks in Torch 2.11: flash attention's backward (mha_bwd), cuDNN's
      // (check_cudnn_tensor_shapes), and the alignment of CUTLASS' products from sm_80 on.
      .cuda_head_dims = {
          {.precision = planner::Precision::kBf16,
           .attention = planner::AttentionKernel::kFlash2,
           .multiple_of = 8,
           .most = 256},
          {.precision = planner::Precision::kBf16,
           .attention = planner::AttentionKernel::kCudnn,
           .multiple_of = 8,
           .most = 128},
          {.precision = planner::Precision::kFp32, .attention = {}, .multiple_of = 4, .most = {}}}};
  return capabilities;
}

nlohmann::json ToJson(const Capabilities& capabilities) {
  nlohmann::json head_dims = nlohmann::json::array();
  for (const HeadSizes& sizes : capabilities.cuda_head_dims) head_dims.push_back(ToJson(sizes));
  return {{"devices", Names(capabilities.devices, DeviceKindName)},
          {"precisions", Names(capabilities.precisions, planner::PrecisionName)},
          {"schedules", Names(capabilities.schedules, planner::ScheduleName)},
          {"recompute", Names(capabilities.recompute, planner::RecomputeName)},
          {"attention", Names(capabilities.attention, planner::AttentionKernelName)},
          {"max_zero", capabilities.max_zero},
          {"max_cp", capabilities.max_cp},
          {"max_vpp", capabilities.max_vpp},
          {"sequence_parallel", capabilities.sequence_parallel},
          {"qk_norm", capabilities.qk_norm},
          {"cuda_head_dims", std::move(head_dims)}};
}

absl::Status CheckRunnable(const planner::ModelSpec& model, const planner::Layout& layout,
                           const planner::TrainingSpec& training, DeviceKind device) {
  const Capabilities& can = WorkerCapabilities();
  if (!Contains(can.devices, device)) {
    return Unsupported(std::string(DeviceKindName(device)),
                       absl::StrJoin(Names(can.devices, DeviceKindName), ", "));
  }
  if (!Contains(can.precisions, training.precision)) {
    return Unsupported(std::string(planner::PrecisionName(training.precision)),
                       absl::StrJoin(Names(can.precisions, planner::PrecisionName), ", "));
  }
  // ATen's attention kernels on devices know no fp64.
  if (training.precision == planner::Precision::kFp64 && device != DeviceKind::kCpu) {
    return Unsupported("fp64 on cuda", "fp64 on cpu");
  }
  RETURN_IF_ERROR(CheckModel(model));
  RETURN_IF_ERROR(CheckAxes(layout));
  RETURN_IF_ERROR(CheckKernels(layout, device));
  if (device == DeviceKind::kCuda) {
    RETURN_IF_ERROR(CheckHeadSize(model, layout, training.precision));
  }
  return CheckDivisibility(model, layout, training);
}

}  // namespace meshwright::trial
