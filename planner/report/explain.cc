#include "planner/report/explain.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/text/amounts.h"
#include "base/text/string_view.h"
#include "planner/layout/mesh.h"

namespace meshwright::planner {
namespace {

// A second part is named where it takes at least this share of the device's total.
constexpr double kWorthNaming = 0.15;

std::string_view Subject(MemoryPart part) {
  switch (part) {
    case MemoryPart::kWeights:
      return "weights take";
    case MemoryPart::kGradients:
      return "gradients take";
    case MemoryPart::kOptimizer:
      return "optimizer states take";
    case MemoryPart::kActivations:
      return "activations take";
    case MemoryPart::kLoss:
      return "logits and loss take";
    case MemoryPart::kWorkspace:
      return "working buffers take";
    case MemoryPart::kFragmentation:
      return "fragmentation takes";
    case MemoryPart::kOverhead:
      return "device context and communicators take";
    case MemoryPart::kCorrection:
      return "what your own runs needed beyond the formulas takes";
  }
  return "";
}

std::string PartAndShare(const MemoryEstimate& memory, MemoryPart part) {
  const int64_t bytes = PartBytes(memory, part);
  const auto total = static_cast<double>(std::max<int64_t>(1, memory.total_bytes()));
  std::string text(Subject(part));
  return absl::StrCat(text, " ", Gib(bytes), " (", Percent(static_cast<double>(bytes) / total),
                      ")");
}

// How to shrink the bubble depends on whether the schedule can be cut finer.
std::string BubbleRemedy(const Layout& layout) {
  std::string text = absl::StrFormat(
      "it shrinks with more micro-batches per pipeline (mb below %d, dp below %d, a larger global "
      "batch), with fewer pipeline ranks than %d",
      layout.micro_batch, layout.dp, layout.pp);
  if (layout.micro_batch == 1) {
    text = absl::StrFormat(
        "it shrinks with more micro-batches per pipeline (dp below %d, a larger global batch), "
        "with "
        "fewer pipeline ranks than %d",
        layout.dp, layout.pp);
  }
  absl::StrAppend(&text, layout.vpp == 1
                             ? " or with several chunks per rank (vpp 2 and more, interleaved)"
                             : absl::StrCat(" or with more chunks per rank than ", layout.vpp));
  return text;
}

std::string DataParallelRemedy(const Layout& layout) {
  std::string text = absl::StrFormat(
      "it shrinks with fewer data-parallel ranks than %d (more tp, cp or pp) or a larger global "
      "batch, whose compute hides more of it",
      GroupSize(GroupRole::kReplicas, layout));
  if (layout.zero >= 2) {
    absl::StrAppend(&text, "; ZeRO ", layout.zero, " communicates for every micro-batch, zero1 ",
                    "once per step");
  }
  return text;
}

// Returns that the communication of an axis shrinks with fewer ranks than `ranks`, or goes away
// without the axis.
std::string LessWith(std::string_view axis, int32_t ranks) {
  if (ranks == 2) return absl::StrCat("it goes away with ", AbslView(axis), "1");
  return absl::StrCat("it shrinks with a ", AbslView(axis), " below ", ranks);
}

std::string Remedy(const Layout& layout, TimePart part) {
  switch (part) {
    case TimePart::kRecompute:
      return layout.recompute == Recompute::kFull
                 ? "recomputing less (rc=block:N, selective or none) shortens it, and needs "
                   "more activations"
                 : "it goes away with rc=none, at the cost of more activations";
    case TimePart::kTp:
      return absl::StrCat(LessWith("tp", layout.tp), ", at the cost of more memory on each device",
                          layout.sequence_parallel ? "" : "; sp1 keeps it and saves memory");
    case TimePart::kCp:
      return absl::StrCat(LessWith("cp", layout.cp),
                          ", at the cost of more activations per device");
    case TimePart::kEp:
      return layout.etp > 1 ? absl::StrFormat(
                                  "it shrinks with an etp below %d, and with an ep that stays "
                                  "inside a node",
                                  layout.etp)
                            : absl::StrFormat(
                                  "it shrinks with an ep below %d that stays inside a node, for "
                                  "more weights per device",
                                  layout.ep);
    case TimePart::kPp:
      return absl::StrFormat("it shrinks with fewer pipeline ranks than %d%s", layout.pp,
                             layout.vpp > 1
                                 ? absl::StrCat(" or fewer chunks per rank than ", layout.vpp)
                                 : std::string());
    case TimePart::kDp:
      return DataParallelRemedy(layout);
    case TimePart::kOffload:
      return "it goes away with fewer layers in offload=act:N and without opt there, for more "
             "memory "
             "on the device";
    case TimePart::kBubble:
      return BubbleRemedy(layout);
    case TimePart::kStraggler:
      return absl::StrFormat(
          "it grows with the spread of speeds over the %d devices: slow ones have to be found and "
          "left out, no layout avoids it",
          layout.devices());
    case TimePart::kPressure:
      return "it goes away where the device is less full (a smaller mb, more recompute, a higher "
             "ZeRO stage)";
    case TimePart::kOptimizer:
      if (layout.offload.optimizer) {
        return "an update on the device (no opt in offload=) is as fast as the device's memory";
      }
      return layout.zero == 0 && GroupSize(GroupRole::kReplicas, layout) > 1
                 ? "zero1 spreads the update over the data-parallel ranks"
                 : "a larger global batch spreads it over more tokens";
    case TimePart::kCompute:
      break;
  }
  return "";
}

}  // namespace

std::string_view PartName(MemoryPart part) { return kMemoryPartNames[static_cast<size_t>(part)]; }

std::string_view PartMeaning(MemoryPart part) {
  switch (part) {
    case MemoryPart::kLoss:
      return "logits, and what the cross entropy keeps of them";
    case MemoryPart::kWorkspace:
      return "what one layer's backward holds for a while: what it recomputes, gathered weights, "
             "buffers";
    case MemoryPart::kFragmentation:
      return "what the allocator reserves and can't hand out, and pools of CUDA graphs";
    case MemoryPart::kOverhead:
      return "outside the allocator: the device's context, buffers of NCCL and of libraries";
    case MemoryPart::kCorrection:
      return "what your own runs needed beyond the other rows";
    case MemoryPart::kWeights:
    case MemoryPart::kGradients:
    case MemoryPart::kOptimizer:
    case MemoryPart::kActivations:
      return "";
  }
  return "";
}

std::string_view Subject(TimePart part) {
  switch (part) {
    case TimePart::kCompute:
      return "compute";
    case TimePart::kRecompute:
      return "running forwards again";
    case TimePart::kTp:
      return "tensor-parallel communication";
    case TimePart::kCp:
      return "context-parallel communication";
    case TimePart::kEp:
      return "tokens on their way to experts and back";
    case TimePart::kPp:
      return "sends between pipeline stages";
    case TimePart::kDp:
      return "data-parallel communication";
    case TimePart::kOffload:
      return "copies between devices and hosts";
    case TimePart::kBubble:
      return "the pipeline bubble";
    case TimePart::kStraggler:
      return "waiting for slower devices";
    case TimePart::kPressure:
      return "the allocator's work on a nearly full device";
    case TimePart::kOptimizer:
      return "the optimizer and other work once per step";
  }
  return "";
}

int64_t PartBytes(const MemoryEstimate& memory, MemoryPart part) {
  switch (part) {
    case MemoryPart::kWeights:
      return memory.weights_bytes;
    case MemoryPart::kGradients:
      return memory.gradients_bytes;
    case MemoryPart::kOptimizer:
      return memory.optimizer_bytes;
    case MemoryPart::kActivations:
      return memory.activations_bytes;
    case MemoryPart::kLoss:
      return memory.loss_bytes;
    case MemoryPart::kWorkspace:
      return memory.workspace_bytes;
    case MemoryPart::kFragmentation:
      return memory.fragmentation_bytes;
    case MemoryPart::kOverhead:
      return memory.overhead_bytes;
    case MemoryPart::kCorrection:
      return memory.correction_bytes;
  }
  return 0;
}

std::vector<MemoryPart> ShownParts(const Estimate& estimate) {
  std::vector<MemoryPart> parts(kMemoryParts.begin(), kMemoryParts.end());
  if (!estimate.peak_before_bytes) parts.pop_back();
  return parts;
}

Explanation Explain(const EstimateContext& context, const RankedLayout& ranked,
                    int64_t allowed_bytes, const Cancelled& cancelled,
                    const std::vector<OptionSaving>& savings) {
  Explanation explanation;
  const auto device_bytes = static_cast<double>(context.cluster.device.memory_bytes);
  for (int32_t rank = 0; rank < ranked.layout.pp; ++rank) {
    if (cancelled && cancelled()) return explanation;
    const MemoryEstimate memory = EstimateRankMemory(context, ranked.layout, rank);
    explanation.stages.push_back(
        {memory, static_cast<double>(memory.total_bytes()) / device_bytes});
  }
  explanation.other_imbalance = OtherImbalance(context, ranked);
  explanation.experts = ExpertShareOf(context, ranked);
  explanation.latent_attention = LatentShareOf(context, ranked);
  explanation.offload = OffloadEffectOf(context, ranked);
  if (ranked.estimate.memory.total_bytes() > allowed_bytes) {
    explanation.neighbours =
        FindSmallestChange(context, ranked.layout, allowed_bytes, cancelled, savings);
  }
  return explanation;
}

Binding BindingOf(const Estimate& estimate) {
  const auto bytes_less = [&](MemoryPart a, MemoryPart b) {
    return PartBytes(estimate.memory, a) < PartBytes(estimate.memory, b);
  };
  const auto seconds_less = [&](TimePart a, TimePart b) {
    return estimate.time[a] < estimate.time[b];
  };
  Binding binding;
  binding.memory_part = *std::max_element(kMemoryParts.begin(), kMemoryParts.end(), bytes_less);
  binding.memory_bytes = PartBytes(estimate.memory, binding.memory_part);
  // The first part is compute.
  binding.time_part = *std::max_element(kTimeParts.begin() + 1, kTimeParts.end(), seconds_less);
  binding.time_s = estimate.time[binding.time_part];
  return binding;
}

std::string MemorySentence(const Estimate& estimate) {
  const MemoryEstimate& memory = estimate.memory;
  const auto more_bytes = [&memory](MemoryPart a, MemoryPart b) {
    return PartBytes(memory, a) > PartBytes(memory, b);
  };
  std::array parts = kMemoryParts;
  std::stable_sort(parts.begin(), parts.end(), more_bytes);
  std::string text = absl::StrFormat("Pipeline rank %d binds with %s: %s", memory.pipeline_rank,
                                     Gib(memory.total_bytes()), PartAndShare(memory, parts[0]));
  if (static_cast<double>(PartBytes(memory, parts[1])) >=
      kWorthNaming * static_cast<double>(memory.total_bytes())) {
    absl::StrAppend(&text, " and ", PartAndShare(memory, parts[1]));
  }
  return text + ".";
}

std::string TimeSentence(const RankedLayout& ranked) {
  const Binding binding = BindingOf(ranked.estimate);
  const double step_s = ranked.estimate.time.step_s();
  if (binding.time_s <= 0.0) return "The step is all compute.";
  const std::string subject(Subject(binding.time_part));
  return absl::StrFormat("Beside compute, %s costs most: %s of %s (%s); %s.", subject,
                         Seconds(binding.time_s), Seconds(step_s), Percent(binding.time_s / step_s),
                         Remedy(ranked.layout, binding.time_part));
}

std::string BindingSentence(const RankedLayout& ranked) {
  return MemorySentence(ranked.estimate) + " " + TimeSentence(ranked);
}

namespace {

// Returns "mb 2 -> 1. Then dp8.zero3 needs … instead of …, and a step takes … instead of …."
std::string ChangeAndEffect(const RankedLayout& from, const RankedLayout& to, bool whole_layouts) {
  std::string layout = whole_layouts ? FormatLayout(to.layout) : ShortLayout(to.layout);
  if (!to.options.empty()) absl::StrAppend(&layout, " ", OptionWords(to.options));
  const std::string effect = EffectOf(to.options);
  return absl::StrFormat("%s. Then %s needs %s instead of %s, and a step takes %s instead of %s.%s",
                         absl::StrJoin(DescribeChanges(from.layout, to), ", "), layout,
                         Gib(to.estimate.memory.total_bytes()),
                         Gib(from.estimate.memory.total_bytes()),
                         Seconds(to.estimate.time.step_s()), Seconds(from.estimate.time.step_s()),
                         effect.empty() ? "" : " " + effect);
}

}  // namespace

std::string ChangeSentence(const RankedLayout& ranked, const Explanation& explanation,
                           bool whole_layouts) {
  const NeighbourSearch& found = explanation.neighbours;
  if (!found.smallest) {
    if (found.tried == 0) return "";
    return absl::StrFormat("None of the %d layouts that differ in one or two axes fits either.",
                           found.tried);
  }
  std::string text =
      "Smallest change that fits: " + ChangeAndEffect(ranked, *found.smallest, whole_layouts);
  if (found.same_mesh) {
    absl::StrAppend(&text, " On the same mesh of ranks: ",
                    ChangeAndEffect(ranked, *found.same_mesh, whole_layouts));
  }
  return text;
}

}  // namespace meshwright::planner
