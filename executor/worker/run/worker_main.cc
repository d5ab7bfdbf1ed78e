#include "executor/worker/run/worker_main.h"

#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/text/amounts.h"
#include "base/text/json_text.h"
#include "base/text/status_macros.h"
#include "executor/trial/capabilities.h"
#include "executor/trial/device_benchmark.h"
#include "executor/trial/rank_events.h"
#include "executor/trial/trial_runner.h"
#include "executor/trial/worker_version.h"
#include "executor/worker/comm/open_device.h"
#include "executor/worker/run/device_benchmark.h"
#include "executor/worker/run/worker.h"

namespace meshwright::worker {
namespace {

constexpr char kUsage[] =
    "usage: meshwright-worker [--event-fd N] [--listen-fd N] [--memory-limit-gib X] < plan.json\n"
    "       meshwright-worker --capabilities | --devices | --version\n"
    "Runs the rank RANK of WORLD_SIZE, of which this host has LOCAL_WORLD_SIZE; MASTER_ADDR and\n"
    "MASTER_PORT say where rank 0 listens, MESHWRIGHT_ADDRESS where the others reach this host.\n";

struct Flags {
  bool capabilities = false;
  bool devices = false;
  bool version = false;
  bool help = false;
  int event_descriptor = -1;
  std::optional<int> listen_descriptor;
  std::optional<double> memory_limit_gib;
};

absl::Status ReadInt(absl::string_view name, absl::string_view text, int32_t low, int32_t& value) {
  if (absl::SimpleAtoi(text, &value) && value >= low) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " = ", text, ": expected a whole number from ", low));
}

absl::Status ReadValueFlag(absl::string_view name, absl::string_view text, Flags& flags) {
  if (name == "--event-fd") return ReadInt(name, text, 0, flags.event_descriptor);
  if (name == "--listen-fd") return ReadInt(name, text, 0, flags.listen_descriptor.emplace());
  if (name == "--memory-limit-gib") {
    double& limit = flags.memory_limit_gib.emplace();
    if (absl::SimpleAtod(text, &limit) && limit > 0.0 && limit < 1e9) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(name, " = ", text, ": expected GiB above 0"));
  }
  return absl::InvalidArgumentError(absl::StrCat("unknown flag ", name));
}

absl::StatusOr<Flags> ParseFlags(int argc, char** argv) {
  Flags flags;
  if (const char* text = std::getenv("MESHWRIGHT_EVENT_FD"); text != nullptr) {
    RETURN_IF_ERROR(ReadInt("MESHWRIGHT_EVENT_FD", text, 0, flags.event_descriptor));
  }
  for (int i = 1; i < argc; ++i) {
    const absl::string_view name = argv[i];
    if (name == "--capabilities") {
      flags.capabilities = true;
    } else if (name == "--devices") {
      flags.devices = true;
    } else if (name == "--version") {
      flags.version = true;
    } else if (name == "--help") {
      flags.help = true;
    } else if (i + 1 < argc) {
      RETURN_IF_ERROR(ReadValueFlag(name, argv[++i], flags));
    } else {
      return absl::InvalidArgumentError(absl::StrCat("flag ", name, " is unknown or has no value"));
    }
  }
  return flags;
}

absl::Status ReadVariable(const char* name, int32_t fallback, int32_t& value) {
  const char* text = std::getenv(name);
  value = fallback;
  return text == nullptr ? absl::OkStatus() : ReadInt(name, text, 0, value);
}

absl::StatusOr<WorkerEnvironment> ReadEnvironment() {
  WorkerEnvironment environment;
  int32_t port = 0;
  RETURN_IF_ERROR(ReadVariable("RANK", 0, environment.rank));
  RETURN_IF_ERROR(ReadVariable("LOCAL_RANK", environment.rank, environment.local_rank));
  RETURN_IF_ERROR(ReadVariable("WORLD_SIZE", 1, environment.world_size));
  RETURN_IF_ERROR(
      ReadVariable("LOCAL_WORLD_SIZE", environment.world_size, environment.local_world_size));
  if (environment.local_world_size < 1) {
    return absl::InvalidArgumentError("LOCAL_WORLD_SIZE: expected a whole number from 1");
  }
  RETURN_IF_ERROR(ReadVariable("MASTER_PORT", 29500, port));
  if (port > 65535) return absl::InvalidArgumentError("MASTER_PORT: expected a port up to 65535");
  environment.master_port = static_cast<uint16_t>(port);
  if (const char* address = std::getenv("MASTER_ADDR"); address != nullptr) {
    environment.master_address = address;
  }
  if (const char* address = std::getenv("MESHWRIGHT_ADDRESS"); address != nullptr) {
    environment.address = address;
  }
  return environment;
}

absl::StatusOr<nlohmann::json> ReadInput() {
  const std::string text((std::istreambuf_iterator<char>(std::cin)), {});
  return ParseJson("standard input", text);
}

absl::Status CheckRanks(const char* what, int64_t ranks, const WorkerEnvironment& environment) {
  if (ranks == environment.world_size && environment.rank < environment.world_size) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("the ", what, " has ", ranks,
                                                 " ranks, but RANK = ", environment.rank,
                                                 " and WORLD_SIZE = ", environment.world_size));
}

absl::StatusOr<trial::TrialPlan> ReadTrial(const nlohmann::json& json, const Flags& flags,
                                           const WorkerEnvironment& environment) {
  ASSIGN_OR_RETURN(trial::TrialPlan plan, trial::TrialPlanFromJson(json));
  if (flags.memory_limit_gib.has_value()) {
    plan.memory_limit_bytes = static_cast<int64_t>(*flags.memory_limit_gib * kBytesPerGib);
  }
  RETURN_IF_ERROR(CheckRanks("layout", plan.layout.devices(), environment));
  RETURN_IF_ERROR(trial::CheckRules(plan.model, plan.layout, plan.training, plan.device));
  return plan;
}

absl::StatusOr<trial::BenchmarkPlan> ReadBenchmark(const nlohmann::json& json,
                                                   const WorkerEnvironment& environment) {
  ASSIGN_OR_RETURN(const trial::BenchmarkPlan plan, trial::BenchmarkPlanFromJson(json));
  RETURN_IF_ERROR(CheckRanks("benchmark", plan.ranks, environment));
  return plan;
}

// Ties the worker to its parent process. The signal covers a parent that dies from now on;
// comparing the parent's pid covers one that died before.
void DieWithParent() {
  const pid_t parent = ::getppid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const char* expected = std::getenv("MESHWRIGHT_PARENT_PID");
  const std::string actual = std::to_string(::getppid());
  if (::getppid() != parent || (expected != nullptr && actual != expected)) std::_Exit(1);
}

// Activations are reallocated in every micro-batch: keep their pages instead of returning them to
// the kernel each time.
void KeepFreedPages() {
  ::mallopt(M_MMAP_THRESHOLD, 1 << 30);
  ::mallopt(M_TRIM_THRESHOLD, 2147483647);
  ::mallopt(M_TOP_PAD, 64 << 20);
}

int Fail(const EventWriter& events, const absl::Status& status) {
  const std::string message(status.message());
  std::fprintf(stderr, "meshwright-worker: %s\n", message.c_str());
  events.Write(
      trial::ToJson(trial::ErrorEvent{.kind = trial::ErrorKind::kPlan, .message = message}));
  return 2;
}

}  // namespace

int WorkerMain(int argc, char** argv, const WorkerHooks& hooks) {
  const auto flags = ParseFlags(argc, argv);
  if (!flags.ok()) {
    std::fputs(kUsage, stderr);
    return Fail(EventWriter(-1, 0), flags.status());
  }
  if (flags->help) return std::fputs(kUsage, stdout) < 0;
  if (flags->version) return std::puts(std::string(trial::WorkerVersion()).c_str()) < 0;
  if (flags->capabilities) return std::puts(trial::WorkerCapabilities().dump(2).c_str()) < 0;
  if (flags->devices) return std::puts(ToJson(ListCudaDevices()).dump(2).c_str()) < 0;
  DieWithParent();
  KeepFreedPages();
  // A broken pipe should be an error of write(), not end the process.
  ::signal(SIGPIPE, SIG_IGN);
  const auto environment = ReadEnvironment();
  if (!environment.ok()) return Fail(EventWriter(flags->event_descriptor, 0), environment.status());
  const EventWriter events(flags->event_descriptor, environment->rank);
  WorkerEnvironment with_listener = *environment;
  with_listener.listen_descriptor = flags->listen_descriptor;
  const auto json = ReadInput();
  if (!json.ok()) return Fail(events, json.status());
  if (trial::IsBenchmarkPlan(*json)) {
    const auto plan = ReadBenchmark(*json, with_listener);
    if (!plan.ok()) return Fail(events, plan.status());
    return RunBenchmarkRank(*plan, with_listener, events);
  }
  const auto plan = ReadTrial(*json, *flags, with_listener);
  if (!plan.ok()) return Fail(events, plan.status());
  return RunWorker(*plan, with_listener, events, hooks);
}

}  // namespace meshwright::worker
