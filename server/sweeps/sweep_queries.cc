#include "server/sweeps/sweep_queries.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/text/field_error.h"
#include "base/text/nearest.h"
#include "base/text/status_macros.h"
#include "planner/policy/related_sweeps.h"
#include "planner/policy/trial_policy.h"
#include "proto/meshwright/v1/resource_names.h"
#include "server/calls/paging.h"
#include "server/engine/choosing.h"
#include "server/sweeps/related_sweeps.h"
#include "server/sweeps/sweep_messages.h"

namespace meshwright::server {
namespace {

constexpr char kAllSweeps[] = "sweeps/-";

// Returns nullopt if the request names no order.
absl::StatusOr<std::optional<db::MeasurementOrder>> ReadOrder(const std::string& order_by) {
  if (order_by.empty()) return std::nullopt;
  if (order_by == "step_s" || order_by == "step_time") return db::MeasurementOrder::kStepTime;
  if (order_by == "mfu desc") return db::MeasurementOrder::kMfu;
  return FieldError("order_by", order_by, "must be empty, \"step_s\" or \"mfu desc\"");
}

absl::Status CheckView(v1::TrialView view) {
  if (v1::TrialView_IsValid(view)) return absl::OkStatus();
  return FieldError("view", static_cast<int64_t>(view), "must be BASIC or FULL");
}

// Returns everything that the trials of an answer and their order depend on.
std::string WordsOf(const v1::ListTrialsRequest& request) {
  return absl::StrCat(request.parent(), "\n", request.order_by(), "\n", request.filter());
}

std::string FormatPlace(const db::MeasurementPlace& place) {
  if (!place.figure) return absl::StrCat(place.id);
  return absl::StrFormat("%d_%016x", place.id, std::bit_cast<uint64_t>(*place.figure));
}

absl::StatusOr<std::optional<db::MeasurementPlace>> ReadPlace(
    const v1::ListTrialsRequest& request) {
  ASSIGN_OR_RETURN(const std::string text,
                   ReadBoundPageToken(request.page_token(), WordsOf(request)));
  if (text.empty()) return std::nullopt;
  const std::pair<std::string, std::string> parts = absl::StrSplit(text, absl::MaxSplits('_', 1));
  db::MeasurementPlace place;
  uint64_t bits = 0;
  if (!absl::SimpleAtoi(parts.first, &place.id)) return NotAPageToken(request.page_token());
  if (parts.second.empty()) return place;
  if (!absl::SimpleHexAtoi(parts.second, &bits)) return NotAPageToken(request.page_token());
  place.figure = std::bit_cast<double>(bits);
  return place;
}

// Collects the trials of an answer until it is full.
class TrialPage {
 public:
  explicit TrialPage(int32_t size) : size_(size) {}

  bool is_full() const { return response_.trials_size() == size_ || bytes_ > kMostPageBytes; }
  int32_t count() const { return response_.trials_size(); }
  void Add(v1::Trial trial) {
    bytes_ += trial.ByteSizeLong();
    *response_.add_trials() = std::move(trial);
  }
  void EndAt(const std::string& token) { response_.set_next_page_token(token); }
  v1::ListTrialsResponse Take() { return std::move(response_); }

 private:
  const int32_t size_;
  size_t bytes_ = 0;
  v1::ListTrialsResponse response_;
};

v1::Candidate CandidateOf(const db::TrialSummary& summary, const planner::TrialCandidate& predicted,
                          const planner::TrialBelief& belief) {
  v1::Candidate candidate;
  candidate.set_number(summary.number);
  candidate.set_layout(summary.layout);
  // Both enumerations list the same states in the same order; the wire's starts with "unspecified".
  if (summary.has_begun) {
    candidate.set_state(static_cast<v1::TrialState>(static_cast<int>(summary.state) + 1));
  }
  candidate.set_predicted_step_s(predicted.step_s);
  candidate.set_predicted_oom_probability(predicted.oom_probability);
  candidate.set_step_s(belief.step_s);
  candidate.set_spread(belief.spread);
  candidate.set_oom_probability(belief.oom_probability);
  candidate.set_expected_gain(belief.gain);
  return candidate;
}

// Computes, from the stored state of a sweep, which trials it would run next and the beliefs about
// its layouts. `summaries`: all of the sweep's candidates by number. `most`: the number of idle
// agents, at least 1. A sweep that has ended runs nothing more.
v1::SweepPlan SweepPlanOf(const db::SweepRecord& sweep,
                          const std::vector<db::TrialSummary>& summaries,
                          planner::RelatedSweeps related_sweeps, int32_t most) {
  v1::SweepPlan plan;
  const ChoiceSet set = ChoiceSetOf(summaries, std::move(related_sweeps));
  for (const planner::RelatedSweep& related : set.related_sweeps.sweeps) {
    plan.add_related_sweeps(FormatSweepName(related.name));
  }
  plan.set_related_results(set.related_sweeps.results());
  const std::vector<planner::TrialFinding> findings = FindingsOf(set, summaries);
  const planner::TrialPolicyOptions options = PolicyOf(sweep);
  const std::vector<planner::TrialChoice> choices =
      planner::ChooseTrials(set.candidates, findings, options, most, set.related_sweeps);
  const bool has_ended = db::HasEnded(sweep.state);
  if (has_ended) plan.set_stop_reason(sweep.reason);
  for (const planner::TrialChoice& choice : choices) {
    if (has_ended) break;
    if (!choice.next) {
      plan.set_stop_reason(planner::ReasonOf(choice, options));
      break;
    }
    v1::NextTrial& next = *plan.add_trials();
    next.set_number(set.numbers[*choice.next]);
    next.set_layout(summaries[static_cast<size_t>(next.number() - 1)].layout);
    next.set_reason(ReasonOf(choice, options, set.related_sweeps));
    if (choice.gain) next.set_expected_gain(*choice.gain);
  }
  // The beliefs before any of the next trials runs.
  for (size_t i = 0; i < set.candidates.size(); ++i) {
    const db::TrialSummary& summary = summaries[static_cast<size_t>(set.numbers[i] - 1)];
    *plan.add_candidates() = CandidateOf(summary, set.candidates[i], choices.front().beliefs[i]);
  }
  for (const planner::TrialFinding& finding : findings) {
    if (finding.end != planner::TrialEnd::kMeasured) continue;
    const bool is_best = !plan.has_best_step_s() || finding.step_s < plan.best_step_s();
    if (is_best) plan.set_best_step_s(finding.step_s);
  }
  return plan;
}

}  // namespace

absl::StatusOr<db::SweepRecord> SweepQueries::Find(const std::string& name) const {
  ASSIGN_OR_RETURN(const std::string id, ParseSweepName(name));
  absl::StatusOr<db::SweepRecord> sweep = store_->GetSweep(id);
  if (!absl::IsNotFound(sweep.status())) return sweep;
  ASSIGN_OR_RETURN(const std::vector<std::string> known, store_->ListSweepNames());
  if (known.empty()) return absl::NotFoundError("sweep '" + id + "' is not known: there are none");
  return UnknownName("sweep", id, known);
}

absl::StatusOr<v1::Sweep> SweepQueries::GetSweep(const v1::GetSweepRequest& request) const {
  ASSIGN_OR_RETURN(const db::SweepRecord sweep, Find(request.name()));
  v1::Sweep response = ToWire(sweep);
  response.set_cluster_json(sweep.cluster_json);
  response.set_request_json(sweep.request_json);
  return response;
}

absl::StatusOr<v1::ListSweepsResponse> SweepQueries::ListSweeps(
    const v1::ListSweepsRequest& request) const {
  ASSIGN_OR_RETURN(const Page page, ReadPage(request.page_size(), request.page_token()));
  // One row more than the page holds shows whether there is a next page.
  ASSIGN_OR_RETURN(const std::vector<db::SweepRecord> sweeps,
                   store_->ListSweeps(page.position, page.size + 1));
  v1::ListSweepsResponse response;
  size_t bytes = 0;
  int64_t last_id = 0;
  for (const db::SweepRecord& sweep : sweeps) {
    if (response.sweeps_size() == page.size || bytes > kMostPageBytes) {
      response.set_next_page_token(PageToken(last_id));
      break;
    }
    *response.add_sweeps() = ToWire(sweep);
    bytes += response.sweeps().rbegin()->ByteSizeLong();
    last_id = sweep.id;
  }
  return response;
}

absl::StatusOr<v1::ListTrialsResponse> SweepQueries::ListTrials(
    const v1::ListTrialsRequest& request) const {
  RETURN_IF_ERROR(CheckView(request.view()));
  const bool all = request.parent() != kAllSweeps && request.filter().empty();
  return all ? ListAll(request) : ListMeasured(request);
}

absl::StatusOr<v1::ListTrialsResponse> SweepQueries::ListAll(
    const v1::ListTrialsRequest& request) const {
  ASSIGN_OR_RETURN(const std::optional<db::MeasurementOrder> measured_order,
                   ReadOrder(request.order_by()));
  db::TrialOrder order = db::TrialOrder::kNumber;
  if (measured_order == db::MeasurementOrder::kMfu) order = db::TrialOrder::kMeasuredMfu;
  if (measured_order == db::MeasurementOrder::kStepTime) order = db::TrialOrder::kStepTime;
  ASSIGN_OR_RETURN(const std::string place,
                   ReadBoundPageToken(request.page_token(), WordsOf(request)));
  ASSIGN_OR_RETURN(const Page page, ReadPage(request.page_size(), place));
  ASSIGN_OR_RETURN(const db::SweepRecord sweep, Find(request.parent()));
  const auto offset = static_cast<int32_t>(page.position);
  ASSIGN_OR_RETURN(const std::vector<db::TrialRecord> trials,
                   request.view() == v1::TRIAL_VIEW_BASIC
                       ? store_->ListTrialsBriefly(sweep.id, order, offset, page.size + 1)
                       : store_->ListTrials(sweep.id, order, offset, page.size + 1));
  TrialPage answer(page.size);
  for (const db::TrialRecord& trial : trials) {
    if (answer.is_full()) {
      answer.EndAt(BoundPageToken(PageToken(page.position + answer.count()), WordsOf(request)));
      break;
    }
    answer.Add(ToWire(trial, OfSweep(sweep), request.view()));
  }
  return answer.Take();
}

absl::StatusOr<v1::ListTrialsResponse> SweepQueries::ListMeasured(
    const v1::ListTrialsRequest& request) const {
  db::MeasurementQuery query;
  ASSIGN_OR_RETURN(query.where, db::ParseMeasurementCondition("filter", request.filter()));
  ASSIGN_OR_RETURN(const std::optional<db::MeasurementOrder> order, ReadOrder(request.order_by()));
  query.order = order.value_or(db::MeasurementOrder::kMfu);
  ASSIGN_OR_RETURN(query.after, ReadPlace(request));
  ASSIGN_OR_RETURN(const int32_t size, ReadPageSize(request.page_size()));
  query.limit = size + 1;
  query.with_texts = request.view() != v1::TRIAL_VIEW_BASIC;
  if (request.parent() != kAllSweeps) {
    ASSIGN_OR_RETURN(const db::SweepRecord sweep, Find(request.parent()));
    query.sweep_id = sweep.id;
  }
  ASSIGN_OR_RETURN(const std::vector<db::MeasuredRow> rows, store_->ListMeasured(query));
  TrialPage answer(size);
  db::MeasurementPlace last;
  for (const db::MeasuredRow& row : rows) {
    if (answer.is_full()) {
      answer.EndAt(BoundPageToken(FormatPlace(last), WordsOf(request)));
      break;
    }
    answer.Add(ToWire(row, request.view()));
    last = row.place;
  }
  return answer.Take();
}

absl::StatusOr<v1::SweepPlan> SweepQueries::GetSweepPlan(
    const v1::GetSweepPlanRequest& request) const {
  constexpr int32_t kMostAhead = 16;
  RETURN_IF_ERROR(CheckRange("trials", request.trials(), 0, kMostAhead));
  ASSIGN_OR_RETURN(const db::SweepRecord sweep, Find(request.name()));
  ASSIGN_OR_RETURN(const std::vector<db::TrialSummary> summaries,
                   store_->ListTrialSummaries(sweep.id));
  ASSIGN_OR_RETURN(planner::RelatedSweeps related_sweeps, FindRelatedSweeps(sweep, *store_));
  return SweepPlanOf(sweep, summaries, std::move(related_sweeps), std::max(1, request.trials()));
}

absl::StatusOr<v1::Trial> SweepQueries::GetTrial(const v1::GetTrialRequest& request) const {
  RETURN_IF_ERROR(CheckView(request.view()));
  ASSIGN_OR_RETURN(const TrialName name, ParseTrialName(request.name()));
  ASSIGN_OR_RETURN(const db::SweepRecord sweep, Find(FormatSweepName(name.sweep)));
  ASSIGN_OR_RETURN(const db::TrialRecord trial, store_->GetTrial(sweep.id, name.number));
  v1::Trial response = ToWire(trial, OfSweep(sweep), request.view());
  if (request.view() == v1::TRIAL_VIEW_BASIC) return response;
  response.set_plan_json(trial.plan_json);
  ASSIGN_OR_RETURN(const std::vector<db::AttemptRecord> attempts,
                   store_->ListAttempts(sweep.id, name.number));
  for (const db::AttemptRecord& attempt : attempts) *response.add_attempts() = ToWire(attempt);
  return response;
}

}  // namespace meshwright::server
