#include "planner/report/fastest_report.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/amounts.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/block/parameters.h"
#include "planner/report/answers.h"
#include "planner/search/asked_for.h"

namespace meshwright::planner {
namespace {

const ShortestRun& Of(const FastestAnswer& answer, Strategy strategy) {
  return answer.strategies[static_cast<size_t>(strategy)];
}

double SecondsOf(const ShortestRun& run) { return run.Shortest()->seconds; }

std::string PerSecond(double bytes_per_s) {
  return absl::StrFormat("%.3g GB/s", bytes_per_s / 1e9);
}

void Decide(bool holds, const std::string& sentence, Claim& claim) {
  claim.verdict = holds ? Verdict::kHolds : Verdict::kDoesNotHold;
  claim.sentence = absl::StrCat(holds ? "Holds: " : "Does not hold: ", sentence);
}

Claim HalfTheTime(const FastestAnswer& answer) {
  Claim claim = {.name = "half_the_time",
                 .text =
                     "Layered accumulation with modular pipelines takes about half the "
                     "shortest time"};
  const ShortestRun& contiguous = Of(answer, Strategy::kContiguous);
  const ShortestRun& standard = Of(answer, Strategy::kStandard);
  const ShortestRun& layered = Of(answer, Strategy::kLayered);
  if (!contiguous.shortest || !standard.shortest || !layered.shortest) return claim;
  const double share = SecondsOf(layered) / SecondsOf(contiguous);
  Decide(share <= kAboutHalf,
         absl::StrCat("it takes ", Percent(share), " of the shortest time with contiguous stages, ",
                      "and ", Percent(SecondsOf(layered) / SecondsOf(standard)),
                      " of that with every schedule of the framework."),
         claim);
  return claim;
}

Claim SlowNetwork(const FastestAnswer& answer) {
  Claim claim = {.name = "slow_network", .text = "It needs no fast network between nodes"};
  const ShortestRun& layered = Of(answer, Strategy::kLayered);
  if (!layered.shortest) return claim;
  const SizedRun& shortest = *layered.Shortest();
  const double need = shortest.network_bytes_per_s;
  Decide(need <= kSlowBytesPerS,
         absl::StrCat(
             "it stays within ", Percent(kNearShortest), " of its time with ",
             need > 0.0 ? absl::StrCat(PerSecond(need), " of ") : std::string("a small part of "),
             PerSecond(answer.network_bytes_per_s), " a device, and takes ",
             absl::StrFormat("%.2f", shortest.slow_network_factor),
             " times as long with a quarter of it."),
         claim);
  return claim;
}

Claim LittleMemory(const FastestAnswer& answer) {
  Claim claim = {.name = "little_memory", .text = "It fills a small share of a device's memory"};
  const ShortestRun& layered = Of(answer, Strategy::kLayered);
  if (!layered.shortest) return claim;
  const int64_t bytes = layered.Shortest()->best->estimate.memory.total_bytes();
  const double share = static_cast<double>(bytes) / static_cast<double>(answer.device_bytes);
  Decide(share <= kSmallShareOfMemory,
         absl::StrCat("it fills ", Gib(bytes), ", ", Percent(share), " of a device."), claim);
  return claim;
}

void CloseOpen(std::vector<Claim>& claims) {
  for (Claim& claim : claims) {
    if (claim.verdict == Verdict::kOpen) claim.sentence = "Nothing to compare: nothing fits.";
  }
}

}  // namespace

bool FastestAnswer::any_fits() const { return Shortest() != nullptr; }

const ShortestRun* FastestAnswer::Shortest() const {
  const ShortestRun* shortest = nullptr;
  for (const ShortestRun& run : strategies) {
    if (!run.shortest) continue;
    if (shortest == nullptr || SecondsOf(run) < SecondsOf(*shortest)) shortest = &run;
  }
  return shortest;
}

absl::StatusOr<FastestAnswer> AnswerFastest(const FastestQuery& query, int32_t host_cores,
                                            SearchRun run, const ShortestProgress& progress) {
  RETURN_IF_ERROR(CheckRange("gpus", query.devices.low, 1, kMostDevicesOfARange));
  RETURN_IF_ERROR(CheckRange("gpus", query.devices.high, query.devices.low, kMostDevicesOfARange));
  PlanQuery plan = query.plan;
  plan.devices = query.devices.low;
  plan.training.global_batch = 1;
  ASSIGN_OR_RETURN(SearchRequest search, Resolve(plan, host_cores));
  RETURN_IF_ERROR(CheckDevices(search.cluster, query.devices.high));
  RETURN_IF_ERROR(CheckAskedFor(search));
  search.run = std::move(run);
  FastestAnswer answer;
  answer.notes = NotesOn(plan, search);
  answer.parameters = Parameters(search.model);
  answer.rests_on = RestsOnOf(plan, search);
  answer.device_bytes = search.cluster.device.memory_bytes;
  answer.network_bytes_per_s = search.cluster.scale_out.bytes_per_s;
  ASSIGN_OR_RETURN(answer.strategies, ShortestRuns({.search = std::move(search),
                                                    .sizes = query.devices.Sizes(),
                                                    .critical = query.critical,
                                                    .overlap = query.overlap},
                                                   progress));
  answer.claims = {HalfTheTime(answer), SlowNetwork(answer), LittleMemory(answer)};
  CloseOpen(answer.claims);
  return answer;
}

}  // namespace meshwright::planner
