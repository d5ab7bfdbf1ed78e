// Puts a server under load and prints the measurements as one JSON object, for tools/bench_server.
//
// usage: server_load ADDRESS PART AGENTS WATCHERS SWEEPS TRIALS TRIAL_S SECONDS
//
// PART is one of
// - results: AGENTS agents run SWEEPS sweeps of TRIALS trials each, as fast as the server assigns
//   them, for SECONDS at most;
// - crowd: the agents run for SECONDS, WATCHERS calls watch the first sweep, and reads are timed;
// - pending: only makes the sweeps;
// - filter: for SECONDS, queries the best ten of all trials in the store under conditions that
//   many, few and no trials match.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "meshwright/v1/sweeps.grpc.pb.h"
#include "nlohmann/json.hpp"
#include "tools/bench/load_agent.h"

namespace meshwright::bench {
namespace {

struct Load {
  std::string address;
  std::string part;
  int agents = 0;
  int watchers = 0;
  int sweeps = 0;
  int trials = 0;
  double trial_s = 0.0;
  double seconds = 0.0;
};

double Milliseconds(const std::vector<absl::Duration>& sorted, double share) {
  if (sorted.empty()) return 0.0;
  const auto index = static_cast<size_t>(share * static_cast<double>(sorted.size() - 1));
  return absl::ToDoubleMilliseconds(sorted[index]);
}

std::shared_ptr<grpc::Channel> Dial(const std::string& address) {
  return grpc::CreateChannel(address, grpc::InsecureChannelCredentials());
}

[[noreturn]] void Fail(const std::string& what) {
  std::cerr << "server_load: " << what << std::endl;
  std::exit(1);
}

struct MadeSweeps {
  std::string first;   // name of the first sweep
  int64_t trials = 0;  // of all of them
};

// The first sweep is made by a search; the others are reruns of its trials.
MadeSweeps MakeSweeps(const Load& load, v1::Sweeps::Stub& sweeps) {
  v1::CreateSweepRequest request;
  request.mutable_plan()->mutable_model()->set_preset("tinystories-15m");
  request.mutable_plan()->mutable_cluster()->set_preset("local-cpu");
  request.mutable_plan()->set_gpus(4);
  request.mutable_plan()->set_seq_len(64);
  request.mutable_plan()->set_global_batch(8);
  // All trials are to run, since the server is measured, not its choices.
  request.set_trials(load.trials);
  request.set_candidates(load.trials);
  request.set_min_gain(0.0);
  request.set_fresh(true);
  v1::Sweep first;
  {
    grpc::ClientContext context;
    const grpc::Status status = sweeps.CreateSweep(&context, request, &first);
    if (!status.ok()) Fail(status.error_message());
  }
  for (int i = 1; i < load.sweeps; ++i) {
    grpc::ClientContext context;
    v1::RerunSweepRequest again;
    again.set_name(first.name());
    v1::Sweep sweep;
    const grpc::Status status = sweeps.RerunSweep(&context, again, &sweep);
    if (!status.ok()) Fail(status.error_message());
  }
  return {first.name(), int64_t{load.sweeps} * first.trials()};
}

std::vector<std::unique_ptr<LoadAgent>> Connect(const Load& load, LoadRecord* record) {
  std::vector<std::unique_ptr<LoadAgent>> agents;
  agents.reserve(static_cast<size_t>(load.agents));
  for (int i = 0; i < load.agents; ++i) {
    agents.push_back(std::make_unique<LoadAgent>(load.address, absl::StrCat("load-", i),
                                                 absl::Seconds(load.trial_s), record));
  }
  return agents;
}

void Disconnect(std::vector<std::unique_ptr<LoadAgent>>& agents) {
  for (const auto& agent : agents) agent->Stop();
  for (const auto& agent : agents) agent->Await();
}

nlohmann::json Results(const Load& load) {
  const auto sweeps = v1::Sweeps::NewStub(Dial(load.address));
  const int64_t all = MakeSweeps(load, *sweeps).trials;
  LoadRecord record;
  std::vector<std::unique_ptr<LoadAgent>> agents = Connect(load, &record);
  const absl::Time deadline = absl::Now() + absl::Seconds(load.seconds);
  while (record.acknowledged() < all && absl::Now() < deadline) {
    absl::SleepFor(absl::Milliseconds(20));
    for (const auto& agent : agents) agent->DoDue(absl::Now());
  }
  Disconnect(agents);
  const std::vector<absl::Duration> latencies = record.Latencies();
  const double span_s = absl::ToDoubleSeconds(record.Span());
  return {
      {"results", record.acknowledged()},
      {"span_s", span_s},
      {"results_per_s", span_s > 0.0 ? static_cast<double>(record.acknowledged()) / span_s : 0.0},
      {"ack_p50_ms", Milliseconds(latencies, 0.5)},
      {"ack_p99_ms", Milliseconds(latencies, 0.99)},
      {"refused", record.refused()},
      {"cancelled", record.cancelled()},
      {"broken_streams", record.broken()}};
}

// Counts the events that one WatchSweep call gets.
class Watcher {
 public:
  Watcher(const std::string& address, const std::string& sweep)
      : stub_(v1::Sweeps::NewStub(Dial(address))) {
    v1::WatchSweepRequest request;
    request.set_name(sweep);
    stream_ = stub_->WatchSweep(&context_, request);
    thread_ = std::thread([this] {
      v1::SweepEvent event;
      while (stream_->Read(&event)) {
        ++events_;
        if (event.kind() == v1::SWEEP_EVENT_KIND_TRIAL_REQUEUED) ++requeued_;
      }
    });
  }
  void Stop() {
    context_.TryCancel();
    thread_.join();
    stream_->Finish();
  }
  int64_t events() const { return events_; }
  int64_t requeued() const { return requeued_; }

 private:
  std::unique_ptr<v1::Sweeps::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<v1::SweepEvent>> stream_;
  std::thread thread_;
  std::atomic<int64_t> events_{0};
  std::atomic<int64_t> requeued_{0};
};

// Times one read of a sweep or of a page of its trials.
absl::Duration TimeOneCall(v1::Sweeps::Stub& sweeps, const std::string& sweep, int number) {
  const absl::Time begin = absl::Now();
  grpc::ClientContext context;
  grpc::Status status;
  if (number % 2 == 0) {
    v1::GetSweepRequest request;
    request.set_name(sweep);
    v1::Sweep response;
    status = sweeps.GetSweep(&context, request, &response);
  } else {
    v1::ListTrialsRequest request;
    request.set_parent(sweep);
    request.set_page_size(10);
    request.set_order_by("step_s");
    v1::ListTrialsResponse response;
    status = sweeps.ListTrials(&context, request, &response);
  }
  if (!status.ok()) Fail(status.error_message());
  return absl::Now() - begin;
}

nlohmann::json Crowd(const Load& load) {
  const auto sweeps = v1::Sweeps::NewStub(Dial(load.address));
  const std::string first = MakeSweeps(load, *sweeps).first;
  LoadRecord record;
  std::vector<std::unique_ptr<Watcher>> watchers;
  watchers.reserve(static_cast<size_t>(load.watchers));
  for (int i = 0; i < load.watchers; ++i) {
    watchers.push_back(std::make_unique<Watcher>(load.address, first));
  }
  std::vector<std::unique_ptr<LoadAgent>> agents = Connect(load, &record);
  std::vector<absl::Duration> calls;
  const absl::Time end = absl::Now() + absl::Seconds(load.seconds);
  for (int number = 0; absl::Now() < end; ++number) {
    const absl::Time now = absl::Now();
    for (const auto& agent : agents) agent->DoDue(now);
    calls.push_back(TimeOneCall(*sweeps, first, number));
    absl::SleepFor(absl::Milliseconds(10));
  }
  int64_t requeued = 0;
  int64_t events = 0;
  Disconnect(agents);
  for (const auto& watcher : watchers) watcher->Stop();
  for (const auto& watcher : watchers) {
    requeued = std::max(requeued, watcher->requeued());
    events += watcher->events();
  }
  std::sort(calls.begin(), calls.end());
  return {{"calls", calls.size()},
          {"call_p50_ms", Milliseconds(calls, 0.5)},
          {"call_p99_ms", Milliseconds(calls, 0.99)},
          {"results", record.acknowledged()},
          {"events_watched", events},
          {"lost_leases", requeued + record.cancelled()},
          {"broken_streams", record.broken()}};
}

// Times one query with a condition over all sweeps.
absl::Duration TimeFilter(v1::Sweeps::Stub& sweeps, const std::string& filter,
                          const std::string& order_by, int trials) {
  v1::ListTrialsRequest request;
  request.set_parent("sweeps/-");
  request.set_page_size(10);
  request.set_filter(filter);
  request.set_order_by(order_by);
  const absl::Time begin = absl::Now();
  grpc::ClientContext context;
  v1::ListTrialsResponse response;
  const grpc::Status status = sweeps.ListTrials(&context, request, &response);
  if (!status.ok()) Fail(status.error_message());
  if (response.trials_size() != trials) {
    Fail(absl::StrCat("filter ", filter, ": ", response.trials_size(), " trials in place of ",
                      trials));
  }
  return absl::Now() - begin;
}

nlohmann::json Filters(const Load& load) {
  const auto sweeps = v1::Sweeps::NewStub(Dial(load.address));
  const std::vector<std::string> met = {
      "outcome = ok",
      "tp >= 2 and outcome = ok",
      "model = model-3 and cluster = cluster-4 and outcome = ok",
      "model = model-3 and cluster = cluster-4 and outcome = ok and tp = 8 and pp = 16",
      "tp = 8 and pp = 16 and dp = 32 and rc = full and zero = 3 and mb = 4",
      "mfu > 0.3 and not (tp = 1 or pp = 1)"};
  // No layout here has such axes, nobody trained such a model, and nothing was imported.
  const std::vector<std::string> empty = {"tp = 3", "outcome = ok and pp = 5 and zero = 1",
                                          "vpp = 7 or cp = 6", "model = model-99 and tp = 8",
                                          "tp = 8 and source = imported"};
  // Each part of the condition matches some row: only reading every row shows that none matches
  // both.
  const std::vector<std::string> scanned = {"tp = 8 and peak_bytes < 1000",
                                            "outcome = oom and mfu > 0.0"};
  std::vector<absl::Duration> top;
  std::vector<absl::Duration> none;
  std::vector<absl::Duration> scans;
  const absl::Time end = absl::Now() + absl::Seconds(load.seconds);
  while (absl::Now() < end) {
    for (const char* order : {"mfu desc", "step_s"}) {
      for (const std::string& filter : met) top.push_back(TimeFilter(*sweeps, filter, order, 10));
      for (const std::string& filter : empty) none.push_back(TimeFilter(*sweeps, filter, order, 0));
      for (const std::string& filter : scanned) {
        scans.push_back(TimeFilter(*sweeps, filter, order, 0));
      }
    }
  }
  std::sort(top.begin(), top.end());
  std::sort(none.begin(), none.end());
  std::sort(scans.begin(), scans.end());
  return {
      {"calls", top.size() + none.size() + scans.size()}, {"top10_p50_ms", Milliseconds(top, 0.5)},
      {"top10_p99_ms", Milliseconds(top, 0.99)},          {"empty_p50_ms", Milliseconds(none, 0.5)},
      {"empty_p99_ms", Milliseconds(none, 0.99)},         {"scan_p50_ms", Milliseconds(scans, 0.5)},
      {"scan_p99_ms", Milliseconds(scans, 0.99)}};
}

Load ReadLoad(int argc, char** argv) {
  Load load;
  const bool read =
      argc == 9 && absl::SimpleAtoi(argv[3], &load.agents) &&
      absl::SimpleAtoi(argv[4], &load.watchers) && absl::SimpleAtoi(argv[5], &load.sweeps) &&
      absl::SimpleAtoi(argv[6], &load.trials) && absl::SimpleAtod(argv[7], &load.trial_s) &&
      absl::SimpleAtod(argv[8], &load.seconds);
  if (!read) Fail("usage: ADDRESS PART AGENTS WATCHERS SWEEPS TRIALS TRIAL_S SECONDS");
  load.address = argv[1];
  load.part = argv[2];
  return load;
}

int Main(int argc, char** argv) {
  const Load load = ReadLoad(argc, argv);
  nlohmann::json measured;
  if (load.part == "results") {
    measured = Results(load);
  } else if (load.part == "crowd") {
    measured = Crowd(load);
  } else if (load.part == "filter") {
    measured = Filters(load);
  } else if (load.part == "pending") {
    const auto sweeps = v1::Sweeps::NewStub(Dial(load.address));
    measured = {{"trials", MakeSweeps(load, *sweeps).trials}};
  } else {
    Fail(absl::StrCat("PART = ", load.part, ": must be results, crowd, filter or pending"));
  }
  std::cout << measured.dump() << std::endl;
  return 0;
}

}  // namespace
}  // namespace meshwright::bench

int main(int argc, char** argv) {
  // As in the server: Debian's Abseil searches for deadlocks at every lock.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  try {
    return meshwright::bench::Main(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "server_load: " << error.what() << std::endl;
    return 1;
  }
}
