// Names the fields of the planner's answers (planner/codec/fields.h).
//
// Protobuf messages have these fields, and commands print them. Commands also print the query and
// the time that the answer took (tools/cli/plan/answer_text.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "planner/codec/fields.h"
#include "planner/report/answers.h"
#include "planner/report/estimate_fields.h"

namespace meshwright::planner {

template <ConstOr<SlowerPart> Slower, typename Visitor>
void VisitFields(Slower& slower, Visitor& visit) {
  visit(Among(kTimePartNames, "part"), slower.part);
  visit("more_s", slower.more_s);
}

template <ConstOr<UserLayoutReport> Report, typename Visitor>
void VisitFields(Report& report, Visitor& visit) {
  const bool can_run = report.rule.empty();
  visit("layout", report.layout);
  visit(NullUnless(!can_run, "rule"), report.rule);
  visit("fits", report.fits);
  visit("sentence", report.sentence);
  visit(OnlyIf(can_run, "total_bytes"), report.total_bytes);
  visit(OnlyIf(can_run, "over_bytes"), report.over_bytes);
  visit(OnlyIf(can_run, "oom_probability"), report.oom_probability);
  visit(OnlyIf(can_run, "step_s"), report.step_s);
  visit(OnlyIf(can_run, "mfu"), report.mfu);
  visit(OnlyIf(can_run, "rank"), report.rank);
  visit(OnlyIf(can_run, "of"), report.of);
  visit(OnlyIf(can_run, "slower"), report.slower);
  visit(OnlyIf(can_run, "because"), report.because);
}

template <ConstOr<MeasuredRunReport> Run, typename Visitor>
void VisitFields(Run& run, Visitor& visit) {
  visit("layout", run.layout);
  visit("out_of_memory", run.out_of_memory);
  visit("measured_step_s", run.measured_step_s);
  visit("step_before_s", run.step_before_s);
  visit("step_s", run.step_s);
  visit("measured_peak_bytes", run.measured_peak_bytes);
  visit("peak_before_bytes", run.peak_before_bytes);
  visit("peak_bytes", run.peak_bytes);
}

template <ConstOr<RestsOn> Rests, typename Visitor>
void VisitFields(Rests& rests_on, Visitor& visit) {
  visit("cluster", rests_on.cluster);
  visit("framework", rests_on.framework);
  visit("step_time_sigma", rests_on.step_time_sigma);
  visit("level", rests_on.level, kEvidenceLevelNames);
  visit("uncovered", rests_on.uncovered);
  visit("attention_kernel", rests_on.attention_kernel, kAttentionKernelNames);
  visit("sentence", rests_on.sentence);
}

// Visits the evidence of an answer, and the query's measured runs, which are a separate field.
template <ConstOr<RestsOn> Rests, typename Visitor>
void VisitRestsOn(Rests& rests_on, Visitor& visit) {
  visit("rests_on", rests_on);
  visit(OnlyIf(!rests_on.measured.empty(), "measured"), rests_on.measured);
}

// The limits of a layout: the largest part of its memory, and the largest part of its step time
// besides compute. Both follow from the estimate, so they are written for readers of an answer but
// never read back.
struct BindingReport {
  std::string memory_part;  // one of kMemoryPartNames
  int64_t memory_bytes = 0;
  std::string time_part;  // one of kTimePartNames
  double time_s = 0.0;
  std::string sentence;
};

inline BindingReport BindingReportOf(const RankedLayout& ranked) {
  const Binding binding = BindingOf(ranked.estimate);
  return {std::string(PartName(binding.memory_part)), binding.memory_bytes,
          std::string(PartName(binding.time_part)), binding.time_s, BindingSentence(ranked)};
}

template <ConstOr<BindingReport> Report, typename Visitor>
void VisitFields(Report& report, Visitor& visit) {
  visit(Among(kMemoryPartNames, "memory_part"), report.memory_part);
  visit("memory_bytes", report.memory_bytes);
  visit(Among(kTimePartNames, "time_part"), report.time_part);
  visit("time_s", report.time_s);
  visit("sentence", report.sentence);
}

template <ConstOr<ImbalanceEffect> Effect, typename Visitor>
void VisitFields(Effect& effect, Visitor& visit) {
  visit("imbalance", effect.imbalance);
  visit("total_bytes", effect.total_bytes);
  visit("oom_probability", effect.oom_probability);
  visit("step_s", effect.step_s);
  visit("sentence", effect.sentence);
}

template <ConstOr<ExpertShare> Share, typename Visitor>
void VisitFields(Share& share, Visitor& visit) {
  visit("activations_bytes", share.activations_bytes);
  visit("exposed_s", share.exposed_s);
  visit("sentence", share.sentence);
}

template <ConstOr<LatentShare> Share, typename Visitor>
void VisitFields(Share& share, Visitor& visit) {
  visit("projected_bytes", share.projected_bytes);
  visit("latent_bytes", share.latent_bytes);
  visit("sentence", share.sentence);
}

template <ConstOr<OffloadEffect> Effect, typename Visitor>
void VisitFields(Effect& effect, Visitor& visit) {
  visit("moved_bytes", effect.moved_bytes);
  visit("update_bytes", effect.update_bytes);
  visit("link_bytes_per_s", effect.link_bytes_per_s);
  visit("exposed_s", effect.exposed_s);
  visit("host_bytes", effect.host_bytes);
  visit("sentence", effect.sentence);
}

// The smallest change that makes a layout fit, in the JSON form: what changes, and the memory and
// the step time after it. A Protobuf message has the whole changed layout with its estimate
// instead.
struct SmallestChange {
  std::string layout;
  OptionValues options;
  std::vector<std::string> changes;
  int64_t total_bytes = 0;
  double step_s = 0.0;
};

template <typename Visitor>
void VisitFields(const SmallestChange& change, Visitor& visit) {
  visit({"layout", "Text form"}, change.layout);
  visit(OnlyIf(!change.options.empty(),
               {"options", "Values of the run's options that change, by name"}),
        change.options);
  visit({"changes", "Changed axes and options, such as \"mb 2 -> 1\""}, change.changes);
  visit({"total_bytes", "Memory of the fullest device after the change, bytes"},
        change.total_bytes);
  visit({"step_s", "Time of a step after the change, seconds"}, change.step_s);
}

// An explanation and the layout that it explains.
struct ExplainedLayout {
  RankedLayout ranked;
  Explanation explanation;
};

// Returns the change that makes `from` the layout `to`; nullopt if there is no `to`.
inline std::optional<SmallestChange> SmallestChangeOf(const Layout& from,
                                                      const std::optional<RankedLayout>& to) {
  if (!to) return std::nullopt;
  return SmallestChange{FormatLayout(to->layout), to->options, DescribeChanges(from, *to),
                        to->estimate.memory.total_bytes(), to->estimate.time.step_s()};
}

template <ConstOr<ExplainedLayout> Explained, typename Visitor>
void VisitFields(Explained& explained, Visitor& visit) {
  visit("stages", explained.explanation.stages);
  visit.Derived("binding", BindingReportOf(explained.ranked));
  auto& neighbours = explained.explanation.neighbours;
  const Layout& layout = explained.ranked.layout;
  visit(OnlyOnWire("smallest_change"), neighbours.smallest);
  visit.Derived(OrNull(OnlyInText("smallest_change")),
                SmallestChangeOf(layout, neighbours.smallest));
  visit(OnlyOnWire("same_mesh_change"), neighbours.same_mesh);
  visit.Derived(OrNull(OnlyInText("same_mesh_change")),
                SmallestChangeOf(layout, neighbours.same_mesh));
  visit("neighbours_tried", neighbours.tried);
  visit(OrNull("other_imbalance"), explained.explanation.other_imbalance);
  visit(OrNull("experts"), explained.explanation.experts);
  visit(OrNull("latent_attention"), explained.explanation.latent_attention);
  visit(OrNull("offload"), explained.explanation.offload);
}

template <ConstOr<Ties> Tied, typename Visitor>
void VisitFields(Tied& ties, Visitor& visit) {
  visit("count", ties.count);
  visit("within", ties.within);
  visit("simplest", ties.simplest);
}

template <ConstOr<SearchProgress> Progress, typename Visitor>
void VisitFields(Progress& progress, Visitor& visit) {
  visit("seen", progress.seen);
  visit("of", progress.of);
}

template <ConstOr<GroupBest> Group, typename Visitor>
void VisitFields(Group& group, Visitor& visit) {
  visit("group", group.group);
  visit("fit", group.fit);
  visit("estimate", group.best);
}

// The layout that exceeds the memory criterion by the least, in the JSON form. A Protobuf message
// has `over_bytes` outside the layout, because other fields use the layout's message type as well.
struct NearestLayout {
  RankedLayout ranked;
  int64_t over_bytes = 0;
};

template <typename Visitor>
void VisitFields(const NearestLayout& nearest, Visitor& visit) {
  visit(Inside("estimate"), nearest.ranked);
  visit({"over_bytes", "Bytes by which it exceeds the memory criterion"}, nearest.over_bytes);
}

inline std::optional<NearestLayout> NearestOf(const SearchResult& result) {
  if (!result.nearest) return std::nullopt;
  return NearestLayout{*result.nearest, result.nearest_over_bytes};
}

template <ConstOr<RecommendAnswer> Answer, typename Visitor>
void VisitFields(Answer& answer, Visitor& visit) {
  auto& result = answer.result;
  VisitFields(answer.counts, visit);
  VisitRestsOn(answer.rests_on, visit);
  visit("funnel", result.funnel);
  visit("allowed_bytes", answer.allowed_bytes);
  visit("notes", answer.notes);
  visit("layouts", result.layouts);
  visit("ties", result.ties);
  visit("worth_a_trial", result.worth_a_trial);
  visit(OnlyOnWire("nearest"), result.nearest);
  visit(OnlyOnWire("nearest_over_bytes"), result.nearest_over_bytes);
  visit.Derived(OnlyInText("nearest"), NearestOf(result));
  visit("partial", result.partial);
  visit("front", result.front);
  visit("groups", result.groups);
  visit("mine", answer.mine);
}

template <ConstOr<EstimateAnswer> Answer, typename Visitor>
void VisitFields(Answer& answer, Visitor& visit) {
  ExplainedLayout explained{answer.ranked(), answer.explanation};
  visit(Inside("estimate"), explained.ranked);
  VisitFields(answer.counts, visit);
  visit("parameters_per_gpu", answer.parameters_per_gpu);
  visit("micro_batches", answer.micro_batches);
  visit("tokens_per_step", answer.tokens_per_step);
  VisitRestsOn(answer.rests_on, visit);
  visit.Derived("fits", answer.fits());
  visit("allowed_bytes", answer.allowed_bytes);
  visit("notes", answer.notes);
  visit(Inside("explanation"), explained);
  if constexpr (!std::is_const_v<Answer>) {
    answer.layout = explained.ranked.layout;
    answer.estimate = explained.ranked.estimate;
    answer.explanation = std::move(explained.explanation);
  }
}

}  // namespace meshwright::planner
