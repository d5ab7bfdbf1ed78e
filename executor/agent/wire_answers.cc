// The part of wire.h that is about the planner's answers.
#include <utility>

#include "executor/agent/wire.h"
#include "planner/base/status_macros.h"

namespace meshwright::agent {
namespace {

v1::Standing ToWire(const planner::StandingReport& report) {
  v1::Standing out;
  out.set_layout(report.layout);
  out.set_rule(report.rule);
  out.set_fits(report.fits);
  out.set_total_bytes(report.total_bytes);
  out.set_over_bytes(report.over_bytes);
  out.set_oom_probability(report.oom_probability);
  out.set_step_s(report.step_s);
  out.set_mfu(report.mfu);
  out.set_rank(report.rank);
  out.set_of(report.of);
  out.set_slower(report.slower);
  for (const planner::SlowerPart& slower : report.because) {
    v1::SlowerPart* to = out.add_because();
    to->set_part(slower.part);
    to->set_more_s(slower.more_s);
  }
  out.set_sentence(report.sentence);
  return out;
}

planner::StandingReport FromWire(const v1::Standing& in) {
  planner::StandingReport report{.layout = in.layout(),
                                 .rule = in.rule(),
                                 .fits = in.fits(),
                                 .total_bytes = in.total_bytes(),
                                 .over_bytes = in.over_bytes(),
                                 .oom_probability = in.oom_probability(),
                                 .step_s = in.step_s(),
                                 .mfu = in.mfu(),
                                 .rank = in.rank(),
                                 .of = in.of(),
                                 .slower = in.slower(),
                                 .because = {},
                                 .sentence = in.sentence()};
  for (const v1::SlowerPart& slower : in.because()) {
    report.because.push_back({slower.part(), slower.more_s()});
  }
  return report;
}

v1::PresetEvidence ToWire(const planner::PresetEvidence& preset) {
  v1::PresetEvidence out;
  out.set_name(preset.name);
  out.set_kind(preset.kind);
  out.set_rows(preset.rows);
  out.mutable_sources()->Add(preset.sources.begin(), preset.sources.end());
  return out;
}

planner::PresetEvidence FromWire(const v1::PresetEvidence& in) {
  return {in.name(), in.kind(), in.rows(), {in.sources().begin(), in.sources().end()}};
}

v1::RestsOn ToWire(const planner::RestsOn& rests_on) {
  v1::RestsOn out;
  *out.mutable_cluster() = ToWire(rests_on.cluster);
  *out.mutable_framework() = ToWire(rests_on.framework);
  out.set_step_time_sigma(rests_on.step_time_sigma);
  out.set_sentence(rests_on.sentence);
  return out;
}

planner::RestsOn FromWire(const v1::RestsOn& in) {
  return {FromWire(in.cluster()), FromWire(in.framework()), in.step_time_sigma(), in.sentence()};
}

}  // namespace

v1::RecommendResponse ToWire(const planner::RecommendAnswer& answer) {
  v1::RecommendResponse out;
  for (const planner::RankedLayout& ranked : answer.result.layouts)
    *out.add_layouts() = ToWire(ranked);
  for (const planner::RankedLayout& ranked : answer.result.worth_a_trial) {
    *out.add_worth_a_trial() = ToWire(ranked);
  }
  *out.mutable_funnel() = ToWire(answer.result.funnel);
  if (answer.result.nearest) {
    *out.mutable_nearest() = ToWire(*answer.result.nearest);
    out.set_nearest_over_bytes(answer.result.nearest_over_bytes);
  }
  out.set_allowed_bytes(answer.allowed_bytes);
  out.mutable_notes()->Add(answer.notes.begin(), answer.notes.end());
  out.set_parameters(answer.parameters);
  *out.mutable_rests_on() = ToWire(answer.rests_on);
  if (answer.mine) *out.mutable_mine() = ToWire(*answer.mine);
  return out;
}

absl::StatusOr<planner::RecommendAnswer> FromWire(const v1::RecommendResponse& in) {
  planner::RecommendAnswer answer;
  answer.result.funnel = FromWire(in.funnel());
  for (const v1::LayoutEstimate& estimate : in.layouts()) {
    ASSIGN_OR_RETURN(answer.result.layouts.emplace_back(), FromWire(estimate));
  }
  for (const v1::LayoutEstimate& estimate : in.worth_a_trial()) {
    ASSIGN_OR_RETURN(answer.result.worth_a_trial.emplace_back(), FromWire(estimate));
  }
  if (in.has_nearest()) {
    ASSIGN_OR_RETURN(answer.result.nearest, FromWire(in.nearest()));
    answer.result.nearest_over_bytes = in.nearest_over_bytes();
  }
  answer.allowed_bytes = in.allowed_bytes();
  answer.notes.assign(in.notes().begin(), in.notes().end());
  answer.parameters = in.parameters();
  answer.rests_on = FromWire(in.rests_on());
  if (in.has_mine()) answer.mine = FromWire(in.mine());
  return answer;
}

v1::EstimateResponse ToWire(const planner::EstimateAnswer& answer) {
  v1::EstimateResponse out;
  *out.mutable_estimate() = ToWire(answer.ranked());
  *out.mutable_explanation() = ToWire(answer.ranked(), answer.explanation);
  out.set_allowed_bytes(answer.allowed_bytes);
  out.mutable_notes()->Add(answer.notes.begin(), answer.notes.end());
  out.set_parameters(answer.parameters);
  out.set_parameters_per_gpu(answer.parameters_per_gpu);
  *out.mutable_rests_on() = ToWire(answer.rests_on);
  out.set_fits(answer.fits());
  return out;
}

absl::StatusOr<planner::EstimateAnswer> FromWire(const v1::EstimateResponse& in) {
  ASSIGN_OR_RETURN(const planner::RankedLayout ranked, FromWire(in.estimate()));
  ASSIGN_OR_RETURN(planner::Explanation explanation, FromWire(in.explanation()));
  return planner::EstimateAnswer{ranked.layout,           ranked.estimate,
                                 in.allowed_bytes(),      {in.notes().begin(), in.notes().end()},
                                 std::move(explanation),  in.parameters(),
                                 in.parameters_per_gpu(), FromWire(in.rests_on())};
}

}  // namespace meshwright::agent
