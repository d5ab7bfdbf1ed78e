// Communicator exchanges tensors among the ranks of one group (a TP group, a pipeline direction,
// ...).
//
// Every call issues an operation and returns a Pending for its completion. Calls don't wait for
// other ranks, except the first message between two ranks of a group: it opens their connection and
// may block each until the other has issued its side.
//
// All ranks of a group must issue the same collectives in the same order; sends and receives
// between two ranks match in order of issue. A rank's operations in one group, whatever their
// peers, may be executed sequentially in order of issue, and a message may complete only once both
// sides are issued. So two ranks that both send first and then receive may deadlock: use
// Exchange(), or one group per direction. Groups don't wait for each other.
//
// Memory allocated by an implementation does not count as the rank's. Failures, including a lost
// peer and an expired timeout, are thrown as CommunicationError by Wait() or by the call itself,
// unless the implementation says otherwise.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace meshwright::worker {

class CommunicationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Tells when an operation was done.
class DoneTime {
 public:
  virtual ~DoneTime() = default;
  // Returns seconds of the host's monotonic clock; nothing while the operation is not done.
  // REQUIRES: the device was synchronized after the operation.
  virtual std::optional<double> seconds() const = 0;
};

// An operation under way. Keeps its tensors alive.
class PendingWork {
 public:
  virtual ~PendingWork() = default;
  virtual void Wait() = 0;
  // Must be called before Wait(), if at all. Returns null where only Wait() can tell.
  virtual std::shared_ptr<const DoneTime> WatchDone() { return nullptr; }
};

// Move-only handle of an operation; empty where there is nothing to wait for.
class Pending {
 public:
  Pending() = default;
  explicit Pending(std::unique_ptr<PendingWork> work) : work_(std::move(work)) {}

  // After it returns the results may be used, and the inputs overwritten: by this thread on a CPU,
  // by work on the current stream on a GPU. A second call does nothing.
  void Wait() {
    if (const auto work = std::exchange(work_, nullptr)) work->Wait();
  }

  // Must be called right after the call that returned this object.
  std::shared_ptr<const DoneTime> WatchDone() {
    return work_ != nullptr ? work_->WatchDone() : nullptr;
  }

 private:
  std::unique_ptr<PendingWork> work_;
};

// The two halves of an Exchange().
struct PendingExchange {
  Pending sent;
  Pending received;
};

enum class Reduction : uint8_t { kSum, kMax };

class Communicator {
 public:
  virtual ~Communicator() = default;

  // This rank's index in the group.
  virtual int32_t rank() const = 0;
  virtual int32_t size() const = 0;

  // In place. Tensors are dense fp32, fp64 or bf16, and are summed in their type.
  virtual Pending AllReduce(const at::Tensor& tensor, Reduction reduction) = 0;
  // `output` holds size() times input's elements, in rank order. In place where `input` is this
  // rank's part of `output`.
  virtual Pending AllGather(const at::Tensor& output, const at::Tensor& input) = 0;
  // `input` holds size() times output's elements; rank i receives the sum of the i-th parts. In
  // place where `output` is this rank's part of `input`; the other parts are undefined afterwards.
  virtual Pending ReduceScatter(const at::Tensor& output, const at::Tensor& input) = 0;
  // Sends part i of the input, sent_rows[i] rows, to rank i and receives received_rows[i] rows from
  // it. Parts are in rank order and may be empty. Any element type; all rows have one width, and
  // what one rank sends must be what the other expects. Not in place.
  virtual Pending AllToAll(const at::Tensor& output, const std::vector<int64_t>& received_rows,
                           const at::Tensor& input, const std::vector<int64_t>& sent_rows) = 0;
  virtual Pending Broadcast(const at::Tensor& tensor, int32_t root) = 0;
  virtual Pending Send(const at::Tensor& tensor, int32_t to) = 0;
  virtual Pending Receive(const at::Tensor& tensor, int32_t from) = 0;
  // Sends `outgoing` and receives `incoming` concurrently. Matches sends and receives, and other
  // exchanges. `to` and `from` may be equal.
  virtual PendingExchange Exchange(const at::Tensor& outgoing, int32_t to,
                                   const at::Tensor& incoming, int32_t from) {
    Pending sent = Send(outgoing, to);
    Pending received = Receive(incoming, from);
    return {.sent = std::move(sent), .received = std::move(received)};
  }

  // Ends the group in order after its last operation; nothing may be issued afterwards. All ranks
  // of the group must call it, and close several groups in the same order, since it may wait for
  // the others. Without it the group is torn down abruptly.
  virtual void Close() {}
};

}  // namespace meshwright::worker
