// RunRecorder records the operations that layers run on one rank: products, fused kernels,
// attention and collectives, in the units of planner/block/operator.h.
#pragma once

#include <ATen/core/ivalue.h>

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "executor/worker/comm/communicator.h"
#include "executor/worker/comm/cpu_device.h"
#include "executor/worker/state/flat_unit.h"
#include "planner/block/operator.h"
#include "planner/layout/mesh.h"
#include "planner/spec/collective_kind.h"

namespace meshwright::worker {

struct RanOperator {
  std::string what;
  std::string parameters;     // parameters that it reads or whose gradient it adds to: "gate+up"
  std::vector<int64_t> size;  // rows, outputs, inputs of a product; elements of other operators

  // clang-tidy 14 mistakes the 0 with which callers compare the result for a pointer.
  friend auto operator<=>(const RanOperator&, const RanOperator&) = default;  // NOLINT
};

struct RanCollective {
  planner::CollectiveKind kind = planner::CollectiveKind::kAllReduce;
  planner::GroupRole group = planner::GroupRole::kTensor;
  int64_t bytes = 0;

  // clang-tidy 14 mistakes the 0 with which callers compare the result for a pointer.
  friend auto operator<=>(const RanCollective&, const RanCollective&) = default;  // NOLINT
};

struct RankRun {
  std::vector<RanOperator> computed;
  std::vector<RanCollective> communicated;

  friend bool operator==(const RankRun&, const RankRun&) = default;
};

void PrintTo(const RanOperator& op, std::ostream* out);
void PrintTo(const RanCollective& collective, std::ostream* out);

// Names of the kinds of operators, for RanOperator::what.
namespace ran {
inline constexpr std::string_view kProduct = "product";
inline constexpr std::string_view kBias = "bias";
inline constexpr std::string_view kNorm = "norm";
inline constexpr std::string_view kRope = "rope";
// The size of attention is the number of pairs of a query and a key that the query sees, over all
// query heads. For a whole causal sequence, that is half of all pairs.
inline constexpr std::string_view kAttention = "attention";
inline constexpr std::string_view kActivation = "activation";
inline constexpr std::string_view kResidual = "residual";
inline constexpr std::string_view kLookup = "lookup";
inline constexpr std::string_view kCrossEntropy = "cross entropy";

// Returns the name of an operator's backward: "norm gradient" for "norm". Products and biases have
// the same name in forward and backward.
std::string Gradient(std::string_view what);
}  // namespace ran

// Records the operations of this thread. Consecutive calls that make up one operator, such as the
// norms of queries and keys, or attention over groups of queries, become one record.
class RunRecorder {
 public:
  RunRecorder();
  ~RunRecorder();
  RunRecorder(const RunRecorder&) = delete;
  RunRecorder& operator=(const RunRecorder&) = delete;

  // Names the unit's parameters in later records. REQUIRES: `unit` outlives the records.
  void Name(const FlatUnit& unit) { units_.push_back(&unit); }

  // Returns the communicator of rank 0 in a group of `size` ranks. The other ranks do not exist.
  std::unique_ptr<Communicator> Join(planner::GroupRole group, int32_t size);

  // Returns the records since the last call of Take().
  RankRun Take();

  void Add(std::string_view what, const void* parameter, std::vector<int64_t> size);
  // Extends the previous operator if it is of the same kind.
  void Continue(std::string_view what, const void* parameter, int64_t elements);
  // Makes the next call a new operator.
  void Close() { closed_ = true; }
  void AddAten(std::string_view name, c10::ArrayRef<const c10::IValue> inputs);

 private:
  std::string ParameterAt(const void* address) const;

  std::vector<const FlatUnit*> units_;
  RankRun run_;
  bool closed_ = false;
  const uint64_t callback_;  // Torch's handle
};

// A CPU device whose fused kernels are recorded.
class RecordingDevice final : public Device {
 public:
  // REQUIRES: `recorder` outlives this object.
  explicit RecordingDevice(RunRecorder& recorder);

  int64_t HeldBytes() const { return device_.HeldBytes(); }

  at::Device torch_device() const override { return device_.torch_device(); }
  DeviceDescription Describe() const override { return device_.Describe(); }
  const kernels::Kernels& kernels() const override { return *kernels_; }
  void Synchronize() override { device_.Synchronize(); }
  std::unique_ptr<DeviceClock> MakeClock() override { return device_.MakeClock(); }
  void SetMemoryLimit(int64_t bytes) override { device_.SetMemoryLimit(bytes); }
  void ResetPeakMemory() override { device_.ResetPeakMemory(); }
  trial::MemoryPeaks PeakMemory() const override { return device_.PeakMemory(); }
  std::unique_ptr<Communicator> Connect(const c10::intrusive_ptr<c10d::Store>& store,
                                        const GroupSpec& group, int32_t rank) override {
    return device_.Connect(store, group, rank);
  }
  std::optional<MemoryShortage> AsMemoryShortage(const std::exception& error) const override {
    return device_.AsMemoryShortage(error);
  }

 private:
  CpuDevice device_;
  std::unique_ptr<kernels::Kernels> kernels_;
};

}  // namespace meshwright::worker
