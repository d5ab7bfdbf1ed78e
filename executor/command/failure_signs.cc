#include "executor/command/failure_signs.h"

#include <re2/re2.h>

#include "absl/strings/numbers.h"

namespace meshwright::command {
namespace {

constexpr size_t kMostSignBytes = 400;
constexpr double kMostRequestedBytes = 1e15;

struct Signs {
  // torch: "CUDA out of memory. Tried to allocate 2.00 GiB", "DefaultCPUAllocator: can't allocate
  // memory: you tried to allocate 64 bytes"; Python: MemoryError; the C++ runtime: std::bad_alloc;
  // the guard, of a cgroup's limit: "out of memory: the kernel killed 2 of the command's
  // processes".
  RE2 out_of_memory{
      R"((?i)out of memory|OutOfMemoryError|can't allocate memory|cannot allocate memory|\bMemoryError\b|std::bad_alloc)"};
  RE2 requested{R"((?i)tried to allocate ([\d.]+)\s*(bytes|[KMGT]iB))"};
  RE2 rank{R"(\[rank(\d{1,6})\])"};
  RE2 port{R"((?i)address already in use|EADDRINUSE)"};
  RE2 killed{R"(exitcode\s*:\s*-9\b)"};  // torchrun's
  // Gloo's, NCCL's and the TCPStore's.
  RE2 connection{
      R"((?i)connection (?:reset|closed|refused|timed out)|broken pipe|remote peer|nccl(?:Remote|System)Error|unhandled system error|DistNetworkError)"};
  RE2 error{R"(^(?:\[[^\]]*\]:?\s*)?[\w.]*(?:Error|Exception)\b)"};
};

const Signs& AllSigns() {
  static const Signs* const signs = new Signs();
  return *signs;
}

double UnitBytes(std::string_view unit) {
  switch (unit[0]) {
    case 'K':
      return 1024.0;
    case 'M':
      return 1024.0 * 1024.0;
    case 'G':
      return 1024.0 * 1024.0 * 1024.0;
    case 'T':
      return 1024.0 * 1024.0 * 1024.0 * 1024.0;
    default:
      return 1.0;
  }
}

}  // namespace

void FailureSigns::Add(std::string_view line) {
  const Signs& signs = AllSigns();
  const re2::StringPiece text(line.data(), line.size());
  const std::string kept(line.substr(0, kMostSignBytes));
  if (RE2::PartialMatch(text, signs.error)) {
    last_error_ = kept;
    is_lost_connection_ = RE2::PartialMatch(text, signs.connection);
  }
  if (port_in_use_.empty() && RE2::PartialMatch(text, signs.port)) port_in_use_ = kept;
  if (killed_.empty() && RE2::PartialMatch(text, signs.killed)) killed_ = kept;
  if (!out_of_memory_.empty() || !RE2::PartialMatch(text, signs.out_of_memory)) return;
  out_of_memory_ = kept;
  std::string number;
  std::string unit;
  double value = 0.0;
  if (RE2::PartialMatch(text, signs.requested, &number, &unit) &&
      absl::SimpleAtod(number, &value) && value * UnitBytes(unit) < kMostRequestedBytes) {
    requested_bytes_ = static_cast<int64_t>(value * UnitBytes(unit));
  }
  int32_t rank = 0;
  if (RE2::PartialMatch(text, signs.rank, &rank)) rank_ = rank;
}

}  // namespace meshwright::command
