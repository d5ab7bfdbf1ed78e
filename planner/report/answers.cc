#include "planner/report/answers.h"

#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/amounts.h"
#include "base/text/status_macros.h"
#include "planner/catalog/catalog.h"
#include "planner/catalog/typed_layout.h"
#include "planner/cost/offload_time.h"
#include "planner/interchange/export_note.h"
#include "planner/profile/planned_layout.h"
#include "planner/report/calibrated_note.h"
#include "planner/report/measured_runs.h"
#include "planner/report/media.h"
#include "planner/search/asked_for.h"
#include "planner/spec/node_placement.h"

namespace meshwright::planner {

// A file fitted from a preset still holds the preset's name; the source's name replaces it.
RestsOn RestsOnOf(const PlanQuery& query, const SearchRequest& request) {
  const auto rename = [](const SpecSource& source, std::string& name) {
    if (!source.json.empty() && !source.name.empty()) name = source.name;
  };
  ClusterSpec cluster = request.cluster;
  FrameworkProfile profile = request.profile;
  rename(query.cluster, cluster.name);
  rename(query.framework, profile.name);
  std::optional<double> spread;
  if (request.correction != nullptr && request.correction->corrects_steps()) {
    const double sigma = request.correction->StepSigma(request.own_runs.front().layout);
    spread = std::exp(kEightyPercentSigmas * sigma);
  }
  return RestsOnOf(cluster, profile, request.model, request.training, MeasuredRunsOf(request),
                   spread);
}

namespace {

// A utilisation above the peak is no fault of the layout.
void AddNoteAboveThePeak(const ClusterSpec& cluster, const Estimate& estimate,
                         std::vector<std::string>& notes) {
  if (estimate.mfu <= 1.0) return;
  notes.push_back(absl::StrFormat(
      "the MFU is %s because it counts against the cluster's peak of %g FLOP/s, which its device "
      "exceeds: is the peak that of its data sheet?",
      Percent(estimate.mfu), cluster.device.PeakHalfFlops()));
}

void AddCalibratedNote(const SearchRequest& request, const Layout& layout, const Estimate& estimate,
                       std::vector<std::string>& notes) {
  if (std::optional<std::string> note = CalibratedNote(request, layout, estimate)) {
    notes.push_back(*std::move(note));
  }
}

void AddPagingNote(const SearchRequest& request, const Layout& layout, const Estimate& estimate,
                   std::vector<std::string>& notes) {
  const int64_t paged_bytes = estimate.memory.paged_bytes;
  if (paged_bytes == 0) return;
  const EstimateContext context = ContextOf(request);
  notes.push_back(absl::StrFormat(
      "of %s's moments, %s are on the host, because the device would be fuller than %s; an update "
      "waits %s for them",
      std::string(request.training.optimizer.name), Gib(paged_bytes), Percent(kPagingShare),
      Seconds(PagingTime(PlannedLayout(context, layout), paged_bytes))));
}

// A profile of the user's own is of no framework that is known.
void AddExportNote(const PlanQuery& query, const SearchRequest& request,
                   const std::vector<RankedLayout>& layouts, std::vector<std::string>& notes) {
  if (!query.framework.json.empty()) return;
  std::optional<std::string> note = NoteOnExports(query.framework.name, request.model,
                                                  request.cluster, request.training, layouts);
  if (note) notes.push_back(*std::move(note));
}

}  // namespace

absl::StatusOr<RecommendAnswer> AnswerRecommend(const PlanQuery& query, int32_t host_cores,
                                                SearchRun run) {
  ASSIGN_OR_RETURN(SearchRequest request, Resolve(query, host_cores));
  RETURN_IF_ERROR(CheckAskedFor(request));
  request.run = std::move(run);
  ASSIGN_OR_RETURN(SearchResult result, Search(request));
  RecommendAnswer answer;
  if (request.mine) {
    answer.mine = Report(*request.mine, result, MemoryCriterion(query));
    if (request.mine_options) {
      absl::StrAppend(&answer.mine->layout, " ", OptionWords(request.mine_options->values));
    }
  }
  answer.result = std::move(result);
  answer.allowed_bytes = AllowedBytes(request);
  answer.notes = NotesOn(query, request);
  for (std::string& note : NotesOnSearch(query)) answer.notes.push_back(std::move(note));
  for (std::string& note : NotesOnMine(query, request)) answer.notes.push_back(std::move(note));
  if (!answer.result.layouts.empty()) {
    const RankedLayout& first = answer.result.layouts.front();
    AddCalibratedNote(request, first.layout, first.estimate, answer.notes);
    AddNoteAboveThePeak(request.cluster, first.estimate, answer.notes);
    AddPagingNote(request, first.layout, first.estimate, answer.notes);
  }
  AddExportNote(query, request, answer.result.layouts, answer.notes);
  answer.counts = ParameterCountsOf(request.model, request.training.options.train);
  answer.rests_on = RestsOnOf(query, request);
  return answer;
}

namespace {

// The options that save memory and that the framework has.
std::vector<OptionSaving> SavingsOf(const SearchRequest& request) {
  std::vector<OptionSaving> savings = OptionSavings(request.training);
  std::erase_if(savings, [&](const OptionSaving& saving) {
    return !CheckOptions(request.profile, WithChoice(request.training, saving.choice)).ok();
  });
  return savings;
}

}  // namespace

absl::StatusOr<EstimateAnswer> AnswerEstimate(const PlanQuery& query, std::string_view text,
                                              int32_t host_cores, const Cancelled& cancelled) {
  ASSIGN_OR_RETURN(const SearchRequest request, Resolve(query, host_cores));
  ASSIGN_OR_RETURN(const TypedLayout typed,
                   ReadTypedLayout(text, request.model, request.profile, request.devices));
  const Layout& layout = typed.layout;
  ASSIGN_OR_RETURN(const Estimate estimate, CheckAndEstimate(request, layout));
  const int64_t allowed_bytes = AllowedBytes(request.cluster);
  const EstimateContext context = ContextOf(request);
  Explanation explanation =
      Explain(context, {layout, estimate}, allowed_bytes, cancelled, SavingsOf(request));
  if (cancelled && cancelled()) return absl::CancelledError("the estimate was cancelled");
  std::vector<std::string> notes = NotesOn(query, request);
  notes.insert(notes.end(), typed.notes.begin(), typed.notes.end());
  AddCalibratedNote(request, layout, estimate, notes);
  AddNoteAboveThePeak(request.cluster, estimate, notes);
  AddPagingNote(request, layout, estimate, notes);
  AddExportNote(query, request, {{layout, estimate}}, notes);
  RestsOn rests_on = RestsOnOf(query, request);
  rests_on.attention_kernel = request.profile.AttentionOf(layout);
  return EstimateAnswer{layout,
                        estimate,
                        allowed_bytes,
                        std::move(notes),
                        std::move(explanation),
                        ParameterCountsOf(request.model, request.training.options.train),
                        PlannedLayout(context, layout).MostParameters().all,
                        std::move(rests_on),
                        layout.MicroBatches(request.training.global_batch),
                        request.training.global_batch * request.training.seq_len};
}

namespace {

std::optional<std::string> PaddingNote(const TrainingSpec& training) {
  if (!training.options.pads_documents) return std::nullopt;
  const auto length = static_cast<double>(training.seq_len);
  const int64_t tokens = std::min(training.options.document_tokens, training.seq_len);
  if (tokens == 0) {
    return "padding costs as much time and memory as other tokens; --documents padded:N, with the "
           "documents' mean length, says which share of the tokens counts for training";
  }
  return absl::StrFormat(
      "%s of the tokens count for training: on average, a sequence of %d tokens holds one document "
      "of %d tokens; the rest is padding, which costs as much time and memory as other tokens",
      Percent(static_cast<double>(tokens) / length), training.seq_len, tokens);
}

}  // namespace

std::vector<std::string> NotesOn(const PlanQuery& query, const SearchRequest& request) {
  std::vector<std::string> notes = NotesOnModel(query.model, query.training.seq_len);
  if (request.model.has_experts()) notes.push_back(ImbalanceNote(request.training.expert_load));
  if (std::optional<std::string> note = PaddingNote(request.training)) {
    notes.push_back(*std::move(note));
  }
  for (std::string& note : MediaNotes(request.model, request.training)) {
    notes.push_back(std::move(note));
  }
  for (std::string& note : NotesOn(request.cluster, request.devices)) {
    notes.push_back(std::move(note));
  }
  for (std::string& note : NotesOnMeasured(MeasuredRunsOf(request))) {
    notes.push_back(std::move(note));
  }
  return notes;
}

AllPresets AnswerPresets(int32_t host_cores) {
  return {ModelPresets(), ClusterPresets(host_cores), ProfilePresets()};
}

std::string MemoryCriterion(const PlanQuery& query) {
  if (!query.max_oom_probability) return "the 80 % memory rule";
  return "an OOM probability of " + Percent(*query.max_oom_probability);
}

namespace {

// Figures of no device that trains: most likely in another unit than bytes, seconds and FLOP/s.
void AddUnitNotes(const ClusterSpec& cluster, std::vector<std::string>& notes) {
  const auto check = [&notes](const char* key, double value, double least, double most,
                              const char* unit) {
    if (value >= least && value <= most) return;
    notes.push_back(
        absl::StrFormat("the cluster's %s is %g %s, which no device for training has: "
                        "is it in another unit?",
                        key, value, unit));
  };
  const HardwareProfile& device = cluster.device;
  check("device.peak_bf16_flops", device.PeakHalfFlops(), 1e8, 1e18, "FLOP/s");
  check("device.memory_bytes", static_cast<double>(device.memory_bytes), 1e6, 1e14, "bytes");
  check("device.memory_bytes_per_s", device.memory_bytes_per_s, 1e8, 1e15, "bytes per second");
  check("scale_up.bytes_per_s", cluster.scale_up.bytes_per_s, 1e6, 1e14, "bytes per second");
  check("scale_out.bytes_per_s", cluster.scale_out.bytes_per_s, 1e6, 1e13, "bytes per second");
}

}  // namespace

std::vector<std::string> NotesOn(const ClusterSpec& cluster, int64_t devices) {
  std::vector<std::string> notes;
  AddUnitNotes(cluster, notes);
  const NodePlacement placed = FillNodes(devices, cluster.devices_per_node);
  if (SharesCores(cluster.device_kind()) && placed.per_node > cluster.physical_cores) {
    notes.push_back(absl::StrFormat(
        "%d ranks share %d physical cores: each has %.2f of a core's throughput", placed.per_node,
        cluster.physical_cores, ThroughputShare(cluster, placed.per_node)));
  }
  if (!placed.fills_last()) {
    notes.push_back(absl::StrFormat(
        "%d devices fill nodes of %d only partly: the last of %d nodes has %d in use, and ranks "
        "are taken to stand on the nodes in order",
        devices, placed.per_node, placed.nodes, placed.on_last));
  }
  return notes;
}

}  // namespace meshwright::planner
