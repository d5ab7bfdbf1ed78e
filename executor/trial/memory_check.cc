#include "executor/trial/memory_check.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/amounts.h"
#include "base/text/status_macros.h"

namespace meshwright::trial {
namespace {

// Plans come from other machines: this bound keeps the sum over a layout's ranks from overflowing.
constexpr int64_t kMostRankBytes = int64_t{1} << 50;

bool HasEstimate(const TrialPlan& plan) {
  return plan.layout.pp > 0 && plan.estimated_bytes.size() == static_cast<size_t>(plan.layout.pp);
}

// Returns the bytes beside the allocator's. REQUIRES: an estimate.
int64_t FixedBytesOf(const TrialPlan& plan, size_t pipeline_rank) {
  const std::vector<int64_t>& communicators = plan.estimated_communicator_bytes;
  const int64_t communicator_bytes =
      pipeline_rank < communicators.size()
          ? std::clamp<int64_t>(communicators[pipeline_rank], 0, kMostRankBytes)
          : 0;
  return communicator_bytes + (plan.device == planner::DeviceKind::kCpu ? kWorkerOverheadBytes : 0);
}

size_t PipelineRankOf(const TrialPlan& plan, int32_t rank) {
  // Pipeline ranks are the outermost axis.
  return static_cast<size_t>(rank / (plan.layout.devices() / plan.layout.pp));
}

// REQUIRES: an estimate.
int64_t BytesOf(const TrialPlan& plan, int32_t rank) {
  const size_t pipeline_rank = PipelineRankOf(plan, rank);
  const int64_t allocator_bytes =
      std::clamp<int64_t>(plan.estimated_bytes[pipeline_rank], 0, kMostRankBytes);
  return std::min(allocator_bytes, plan.memory_limit_bytes.value_or(allocator_bytes)) +
         FixedBytesOf(plan, pipeline_rank);
}

std::string Bytes(int64_t bytes) {
  return absl::StrFormat("%d bytes (%.2f GiB)", bytes, static_cast<double>(bytes) / kBytesPerGib);
}

// `fixed_bytes` is what all the ranks need beside their allocators.
std::string Accepted(int64_t room_bytes, int64_t fixed_bytes, size_t ranks) {
  const double limit_gib =
      static_cast<double>(room_bytes - fixed_bytes) / static_cast<double>(ranks) / kBytesPerGib;
  const double rounded_gib = std::floor(limit_gib * 100.0) / 100.0;
  std::string text = ranks > 1 ? "fewer ranks, a smaller mb" : "a smaller mb, more ranks";
  if (rounded_gib > 0.0) {
    absl::StrAppendFormat(&text, ", or --memory-limit-gib %.2f and less", rounded_gib);
  }
  return text;
}

}  // namespace

std::optional<int64_t> BytesOfRanks(const TrialPlan& plan, const std::vector<int32_t>& ranks) {
  if (!HasEstimate(plan)) return std::nullopt;
  int64_t bytes = 0;
  for (const int32_t rank : ranks) bytes += BytesOf(plan, rank);
  return bytes;
}

absl::Status CheckHostMemory(const TrialPlan& plan, const std::vector<int32_t>& ranks,
                             const host::MemoryRoom& room) {
  const std::optional<int64_t> bytes = BytesOfRanks(plan, ranks);
  if (!bytes.has_value() || *bytes <= room.bytes) return absl::OkStatus();
  int64_t fixed_bytes = 0;
  for (const int32_t rank : ranks) fixed_bytes += FixedBytesOf(plan, PipelineRankOf(plan, rank));
  return absl::ResourceExhaustedError(absl::StrCat(
      ranks.size(), ranks.size() == 1 ? " rank" : " ranks at once", " would take ", Bytes(*bytes),
      " of this host's memory, and ", Bytes(room.bytes), " are available (", room.limit,
      "); what would be accepted: ", Accepted(room.bytes, fixed_bytes, ranks.size())));
}

absl::Status CheckDeviceMemory(const TrialPlan& plan, const std::vector<int32_t>& ranks,
                               const std::vector<int64_t>& device_memory_bytes,
                               int32_t first_device) {
  if (!HasEstimate(plan)) return absl::OkStatus();
  for (size_t i = 0; i < ranks.size(); ++i) {
    const size_t device = static_cast<size_t>(first_device) + i;
    if (device >= device_memory_bytes.size()) break;
    const int64_t bytes = BytesOf(plan, ranks[i]);
    const int64_t has_bytes = device_memory_bytes[device];
    if (has_bytes <= 0 || bytes <= has_bytes) continue;
    const int64_t fixed_bytes = FixedBytesOf(plan, PipelineRankOf(plan, ranks[i]));
    return absl::ResourceExhaustedError(
        absl::StrCat("rank ", ranks[i], " would take ", Bytes(bytes), " of CUDA device ", device,
                     ", which has ", Bytes(has_bytes),
                     " in total; what would be accepted: ", Accepted(has_bytes, fixed_bytes, 1)));
  }
  return absl::OkStatus();
}

}  // namespace meshwright::trial
