// Names the fields of an estimate and of a search's counts (planner/codec/fields.h). Commands, the
// store and messages use the same fields.
#pragma once

#include <string>
#include <type_traits>

#include "planner/codec/fields.h"
#include "planner/layout/keys.h"
#include "planner/report/explain.h"
#include "planner/search/search.h"

namespace meshwright::planner {

inline constexpr TextForm kLayoutText{&FormatLayout, &ParseLayout};

// A layout's keys one by one, in addition to its text form. The table of keys describes each of
// them (planner/layout/keys.h).
struct LayoutAxes {
  Layout layout;
};

// Returns the value of a key whose value is a text or a word. A word is returned even if it is a
// default that the layout's text form leaves out.
inline std::string AxisText(const LayoutKey& key, const Layout& layout) {
  const bool is_named = key.kind == KeyKind::kText || !HasDefault(key, layout);
  return is_named ? ValueText(key, layout) : ConditionText(key, layout);
}

template <typename Visitor>
void VisitFields(const LayoutAxes& axes, Visitor& visit) {
  for (const LayoutKey& key : kLayoutKeys) {
    const Field field(key.name, key.help);
    if (key.kind == KeyKind::kCount || key.kind == KeyKind::kSwitch) {
      visit(field, key.number(axes.layout));
    } else {
      visit(field, AxisText(key, axes.layout));
    }
  }
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
  visit(OnlyIf(memory.paged_bytes > 0, "paged_bytes"), memory.paged_bytes);
  visit("pipeline_rank", memory.pipeline_rank);
  visit(OnlyIf(memory.correction_bytes != 0, "correction_bytes"), memory.correction_bytes);
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
  visit(OnlyIf(!ranked.options.empty(), "options"), ranked.options);
  if constexpr (!std::is_const_v<Ranked>) SortOptions(ranked.options);
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
  visit("peak_low_bytes", estimate.peak_low_bytes);
  visit("peak_high_bytes", estimate.peak_high_bytes);
  visit("step_before_s", estimate.step_before_s);
  visit("peak_before_bytes", estimate.peak_before_bytes);
  visit("host_node_bytes", estimate.host_node_bytes);
  visit("tokens_per_joule", estimate.tokens_per_joule);
}

// Returns `invalid_by_rule` under the rules' names. Rules that dropped nothing are left out.
inline OrderedMap<int64_t> InvalidByName(const Funnel& funnel) {
  OrderedMap<int64_t> by_name;
  for (size_t i = 0; i < funnel.invalid_by_rule.size(); ++i) {
    if (funnel.invalid_by_rule[i] == 0) continue;
    by_name.emplace_back(RuleName(static_cast<Rule>(i)), funnel.invalid_by_rule[i]);
  }
  return by_name;
}

// Sets `invalid_by_rule` from counts under the rules' names. Ignores the names of rules that only
// other versions have.
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
