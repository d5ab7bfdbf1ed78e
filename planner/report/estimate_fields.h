// The fields of an estimate and of a search's counts (planner/codec/fields.h), as commands print
// them, the store keeps them and messages have them.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "planner/codec/fields.h"
#include "planner/report/explain.h"
#include "planner/search/search.h"

namespace meshwright::planner {

inline constexpr TextForm kLayoutText{&FormatLayout, &ParseLayout};

// A layout's axes one by one, beside the text that says them all.
struct LayoutAxes {
  Layout layout;
};

// What an axis says, by its key in a layout's text.
constexpr std::string_view AxisSentence(std::string_view key) {
  using Sentence = std::pair<std::string_view, std::string_view>;
  constexpr std::array kSentences = {
      Sentence{"tp", "Tensor parallel ranks"},
      Sentence{"cp", "Context parallel ranks"},
      Sentence{"pp", "Pipeline ranks"},
      Sentence{"dp", "Data parallel ranks"},
      Sentence{"ep", "Ranks that hold different experts"},
      Sentence{"etp", "Ranks that hold a part of the same experts each"},
      Sentence{"mb", "Sequences per micro-batch and data-parallel rank"},
      Sentence{"vpp", "Chunks per pipeline rank"},
      Sentence{"zero", "ZeRO stage, 0 to 3"},
      Sentence{"sp", "1 with sequence parallel, else 0"},
      Sentence{"rc", "Recompute: none, selective, full, block or modules"},
      Sentence{"sched", "Schedule, such as 1f1b or interleaved"},
      Sentence{"hs", "HSDP: ranks among which ZeRO divides states; 0 where these are all dp * cp"},
      Sentence{"stages",
               "Layers of each virtual stage, such as 7+14x8+7; empty where the framework "
               "spreads them"},
      Sentence{"offload",
               "What is moved to the hosts' memory: act:N, opt or act:N+opt; empty where "
               "nothing is"},
  };
  for (const auto& [axis, sentence] : kSentences) {
    if (axis == key) return sentence;
  }
  return "";
}

template <typename Visitor>
void VisitFields(const LayoutAxes& axes, Visitor& visit) {
  const Layout& layout = axes.layout;
  const auto axis = [&](std::string_view key, const auto& value) {
    visit(Field(key, AxisSentence(key)), value);
  };
  for (const AxisField& size : kAxes) axis(size.name, layout.*size.size);
  axis("ep", layout.ep);
  axis("etp", layout.etp);
  axis("mb", layout.micro_batch);
  axis("vpp", layout.vpp);
  axis("zero", layout.zero);
  axis("sp", int32_t{layout.sequence_parallel});
  axis("rc", FormatRecompute(layout));
  axis("sched", std::string(ScheduleName(layout.schedule)));
  axis("hs", layout.shard_ranks);
  axis("stages", FormatStageSplit(layout.stages));
  axis("offload", FormatOffload(layout.offload));
}

template <ConstOr<StageMemory> Stage, typename Visitor>
void VisitFields(Stage& stage, Visitor& visit) {
  auto& memory = stage.memory;
  visit("weights_bytes", memory.weights_bytes);
  visit("gradients_bytes", memory.gradients_bytes);
  visit("optimizer_bytes", memory.optimizer_bytes);
  visit("activations_bytes", memory.activations_bytes);
  visit("loss_bytes", memory.loss_bytes);
  visit("workspace_bytes", memory.workspace_bytes);
  visit("fragmentation_bytes", memory.fragmentation_bytes);
  visit("overhead_bytes", memory.overhead_bytes);
  visit.Derived("total_bytes", memory.total_bytes());
  visit("fraction_of_device", stage.fraction_of_device);
  visit("host_bytes", memory.host_bytes);
  visit("pipeline_rank", memory.pipeline_rank);
}

template <ConstOr<TimeEstimate> Time, typename Visitor>
void VisitFields(Time& time, Visitor& visit) {
  using Parts = std::conditional_t<std::is_const_v<Time>, const TimeParts, TimeParts>;
  VisitFields(static_cast<Parts&>(time), visit);
  visit.Derived("step_s", time.step_s());
}

template <ConstOr<RankedLayout> Ranked, typename Visitor>
void VisitFields(Ranked& ranked, Visitor& visit) {
  auto& estimate = ranked.estimate;
  visit("layout", ranked.layout, kLayoutText);
  visit.Derived(OnlyInText({"axes", "The axes of the layout, one by one"}),
                LayoutAxes{ranked.layout});
  StageMemory memory{estimate.memory, estimate.fraction_of_device};
  visit("memory", memory);
  if constexpr (!std::is_const_v<Ranked>) {
    estimate.memory = memory.memory;
    estimate.fraction_of_device = memory.fraction_of_device;
  }
  visit("time", estimate.time);
  visit("mfu", estimate.mfu);
  visit("mfu_causal", estimate.mfu_causal);
  visit("tokens_per_s", estimate.tokens_per_s);
  visit("tflops_per_gpu", estimate.tflops_per_gpu);
  visit("tflops_per_gpu_causal", estimate.tflops_per_gpu_causal);
  visit("tokens_per_s_per_gpu", estimate.tokens_per_s_per_gpu);
  visit("oom_probability", estimate.oom_probability);
  visit("step_low_s", estimate.step_low_s);
  visit("step_high_s", estimate.step_high_s);
  visit("host_node_bytes", estimate.host_node_bytes);
  visit("tokens_per_joule", estimate.tokens_per_joule);
}

// `invalid_by_rule` by the rules' names; those that dropped nothing are left out.
inline OrderedMap<int64_t> InvalidByName(const Funnel& funnel) {
  OrderedMap<int64_t> by_name;
  for (size_t i = 0; i < funnel.invalid_by_rule.size(); ++i) {
    if (funnel.invalid_by_rule[i] == 0) continue;
    by_name.emplace_back(RuleName(static_cast<Rule>(i)), funnel.invalid_by_rule[i]);
  }
  return by_name;
}

// Passes over names of other versions.
inline void SetInvalidByName(const OrderedMap<int64_t>& by_name, Funnel& funnel) {
  for (const auto& [name, count] : by_name) {
    for (size_t i = 0; i < funnel.invalid_by_rule.size(); ++i) {
      if (RuleName(static_cast<Rule>(i)) == name) funnel.invalid_by_rule[i] = count;
    }
  }
}

template <ConstOr<Funnel> Counts, typename Visitor>
void VisitFields(Counts& funnel, Visitor& visit) {
  visit("enumerated", funnel.enumerated);
  visit("invalid", funnel.invalid);
  visit("left_out", funnel.left_out);
  visit("memory", funnel.memory);
  visit("evaluated", funnel.evaluated);
  OrderedMap<int64_t> by_name = InvalidByName(funnel);
  visit("invalid_by_rule", by_name);
  if constexpr (!std::is_const_v<Counts>) SetInvalidByName(by_name, funnel);
}

}  // namespace meshwright::planner
