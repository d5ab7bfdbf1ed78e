// Fills a store with measured trials, like a server's after years, for the queries of
// tools/bench_server.
//
// usage: store_fill DATABASE TRIALS
//
// Makes sweeps of 1,000 trials over 20 models and 10 clusters, each with a plan, a prediction and a
// result of the size of a four-device trial's. Prints one JSON object: trials and seconds.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/text/status_macros.h"
#include "db/sqlite_store.h"
#include "nlohmann/json.hpp"
#include "planner/layout/layout.h"

namespace meshwright::bench {
namespace {

constexpr int kTrialsPerSweep = 1000;
constexpr int kModels = 20;
constexpr int kClusters = 10;
// Sizes of a four-rank trial of a small model.
constexpr size_t kOwnPlanBytes = 320;
constexpr size_t kPredictedBytes = 1100;
constexpr size_t kResultBytes = 2100;

class Filler {
 public:
  explicit Filler(db::SweepStore* store) : store_(store) {}

  absl::Status AddSweep(int number, int trials) {
    ASSIGN_OR_RETURN(const db::SweepRecord sweep,
                     store_->CreateSweep(SweepOf(number), TrialsOf(trials)));
    return store_
        ->Atomically([&](db::SweepAccess& access) -> absl::Status {
          for (int32_t trial = 1; trial <= trials; ++trial) {
            RETURN_IF_ERROR(access.UpdateTrial(Assign(sweep, trial)));
            RETURN_IF_ERROR(access.UpdateTrial(Finish(sweep, trial)));
          }
          return access.UpdateSweep({.sweep_id = sweep.id,
                                     .from_state = db::SweepState::kPending,
                                     .to_state = db::SweepState::kFinished,
                                     .reason = "all trials ended",
                                     .event_kind = "sweep_finished",
                                     .time = absl::Now()});
        })
        .status();
  }

 private:
  int Below(int end) { return std::uniform_int_distribution<int>(0, end - 1)(random_); }
  template <typename T>
  T OneOf(const std::vector<T>& values) {
    return values[static_cast<size_t>(Below(static_cast<int>(values.size())))];
  }
  static std::string Padded(nlohmann::json json, size_t bytes) {
    json["padding"] = std::string(bytes, 'x');
    return json.dump();
  }

  db::SweepRecord SweepOf(int number) {
    db::SweepRecord sweep;
    sweep.name = absl::StrCat("filled-", number);
    sweep.reason = "was just created";
    sweep.create_time = absl::Now();
    sweep.model = absl::StrCat("model-", number % kModels);
    sweep.cluster = absl::StrCat("cluster-", number / kModels % kClusters);
    sweep.cluster_json = nlohmann::json({{"name", sweep.cluster}, {"nodes", sweep.cluster}}).dump();
    sweep.profile = "meshwright";
    sweep.profile_json = R"({"name":"meshwright"})";
    sweep.devices = OneOf<int64_t>({64, 256, 1024});
    sweep.device_kind = "cuda";
    sweep.seq_len = 4096;
    sweep.global_batch = 1024;
    sweep.precision = "bf16";
    sweep.steps = 5;
    sweep.funnel_json = "{}";
    sweep.planner_version = "0";
    return sweep;
  }

  std::string SomeLayout() {
    planner::Layout layout;
    layout.tp = OneOf<int32_t>({1, 2, 4, 8});
    layout.pp = OneOf<int32_t>({1, 2, 4, 8, 16});
    layout.dp = OneOf<int32_t>({1, 2, 4, 8, 16, 32});
    layout.micro_batch = OneOf<int32_t>({1, 2, 4});
    layout.zero = OneOf<int32_t>({0, 1, 3});
    layout.recompute = OneOf<planner::Recompute>(
        {planner::Recompute::kNone, planner::Recompute::kFull, planner::Recompute::kSelective});
    return planner::FormatLayout(layout);
  }

  std::vector<db::TrialRecord> TrialsOf(int count) {
    const std::string predicted = Padded({{"mfu", 0.4}}, kPredictedBytes);
    std::vector<db::TrialRecord> trials;
    for (int32_t number = 1; number <= count; ++number) {
      db::TrialRecord& trial = trials.emplace_back();
      trial.number = number;
      trial.layout = SomeLayout();
      trial.reason = "waits for its turn";
      trial.plan_json =
          Padded({{"model", {{"name", "m"}}}, {"training", {{"seq_len", 4096}}}}, kOwnPlanBytes);
      trial.predicted_json = predicted;
    }
    return trials;
  }

  static db::TrialTransition Assign(const db::SweepRecord& sweep, int32_t number) {
    return {.sweep_id = sweep.id,
            .number = number,
            .from_state = db::TrialState::kPending,
            .from_attempt = 1,
            .to_state = db::TrialState::kAssigned,
            .to_attempt = 1,
            .reason = "agent node-1 has the 8 cuda ranks free",
            .agent = "node-1",
            .host = "node-1.example",
            .members = {{.agent = "node-1",
                         .host = "node-1.example",
                         .first_rank = 0,
                         .ranks = static_cast<int32_t>(sweep.devices)}},
            .event_kind = "trial_assigned",
            .event_message = "agent node-1 has the 8 cuda ranks free",
            .time = absl::Now()};
  }

  // One in four ran out of memory.
  db::TrialTransition Finish(const db::SweepRecord& sweep, int32_t number) {
    static const auto* const kResult = new std::string(Padded({}, kResultBytes));
    db::TrialTransition end = Assign(sweep, number);
    const bool fits = Below(4) != 0;
    end.from_state = db::TrialState::kAssigned;
    end.to_state = fits ? db::TrialState::kOk : db::TrialState::kOom;
    end.reason = fits ? "measured" : "a rank ran out of memory";
    end.agent.clear();
    end.host.clear();
    end.event_kind = "trial_ended";
    db::MeasuredTrial& measured = end.measured.emplace();
    measured.result_json = *kResult;
    measured.worker_version = "0";
    if (fits) {
      measured.mfu = std::uniform_real_distribution<double>(0.05, 0.6)(random_);
      measured.step_s = 1.0 / *measured.mfu;
    }
    measured.peak_bytes = int64_t{1} << 36;
    return end;
  }

  db::SweepStore* const store_;
  std::mt19937_64 random_{0};  // fixed seed: the same rows every time
};

absl::Status Fill(const std::string& path, int64_t trials) {
  ASSIGN_OR_RETURN(const std::unique_ptr<db::SqliteSweepStore> store,
                   db::SqliteSweepStore::Open(path));
  Filler filler(store.get());
  const absl::Time begin = absl::Now();
  int number = 0;
  for (int64_t left = trials; left > 0; left -= kTrialsPerSweep) {
    RETURN_IF_ERROR(
        filler.AddSweep(++number, static_cast<int>(std::min<int64_t>(left, kTrialsPerSweep))));
  }
  std::cout << nlohmann::json(
                   {{"trials", trials}, {"fill_s", absl::ToDoubleSeconds(absl::Now() - begin)}})
                   .dump()
            << std::endl;
  return absl::OkStatus();
}

}  // namespace
}  // namespace meshwright::bench

int main(int argc, char** argv) {
  int64_t trials = 0;
  if (argc != 3 || !absl::SimpleAtoi(argv[2], &trials) || trials < 1) {
    std::cerr << "usage: store_fill DATABASE TRIALS" << std::endl;
    return 1;
  }
  const absl::Status status = meshwright::bench::Fill(argv[1], trials);
  if (!status.ok()) std::cerr << "store_fill: " << status << std::endl;
  return status.ok() ? 0 : 1;
}
