// Communication among the ranks of one group (a TP group, a pipeline direction, ...).
//
// Every call issues an operation; the returned Pending stands for its completion. A call does not
// wait for the other ranks, but for the first message between two ranks of a group, which may hold
// both until the other one issues its side: connections are made then.
//
// All ranks of a group issue the same collectives in the same order; sends and receives between two
// ranks match in the order in which they were issued. A rank's operations in one group, whoever
// they are with, may be carried out one after the other in the order of their issue, and a message
// may be done only when both of its sides are. So two ranks that both send first and receive then
// may wait for each other without end: they use Exchange(), or a group for each direction. Groups
// don't wait for each other.
//
// What an implementation allocates for itself does not count as the rank's memory. Failures, a peer
// that went away and an expired timeout among them, are thrown by Wait() or by the call itself as
// CommunicationError, unless the implementation says otherwise.
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
  // Seconds of the host's monotonic clock; nothing while it is not done. Requires that the device
  // was synchronized since the operation.
  virtual std::optional<double> seconds() const = 0;
};

// One operation under way. Keeps the tensors that it works on.
class PendingWork {
 public:
  virtual ~PendingWork() = default;
  virtual void Wait() = 0;
  // Asked for before Wait(), if at all. Null where only the return of Wait() tells.
  virtual std::shared_ptr<const DoneTime> WatchDone() { return nullptr; }
};

// Move-only handle; empty when there is nothing to wait for.
class Pending {
 public:
  Pending() = default;
  explicit Pending(std::unique_ptr<PendingWork> work) : work_(std::move(work)) {}

  // After it returns the results may be used: by this thread on a CPU, by work on the current
  // stream on a device. Inputs may be overwritten likewise. A second call does nothing.
  void Wait() {
    if (const auto work = std::exchange(work_, nullptr)) work->Wait();
  }

  // Asked for right after the call that made this.
  std::shared_ptr<const DoneTime> WatchDone() {
    return work_ != nullptr ? work_->WatchDone() : nullptr;
  }

 private:
  std::unique_ptr<PendingWork> work_;
};

// Of a message each way.
struct PendingExchange {
  Pending sent;
  Pending received;
};

enum class Reduction : uint8_t { kSum, kMax };

class Communicator {
 public:
  virtual ~Communicator() = default;

  // In the group.
  virtual int32_t rank() const = 0;
  virtual int32_t size() const = 0;

  // In place. Tensors are dense; fp32, fp64 and bf16 (summed in the tensor's type).
  virtual Pending AllReduce(const at::Tensor& tensor, Reduction reduction) = 0;
  // output holds size() times input's elements, in rank order. In place where input is this rank's
  // part of output.
  virtual Pending AllGather(const at::Tensor& output, const at::Tensor& input) = 0;
  // input holds size() times output's elements; rank i receives the sum of the i-th parts. In place
  // where output is this rank's part of input; the other parts then hold no defined values.
  virtual Pending ReduceScatter(const at::Tensor& output, const at::Tensor& input) = 0;
  // Part i of the input, sent_rows[i] rows, goes to rank i; the output takes received_rows[i] rows
  // from each rank i. Parts are in rank order, and may be empty. Of any type; the ranks' rows are
  // of one width, and what one sends is what the other expects. Not in place.
  virtual Pending AllToAll(const at::Tensor& output, const std::vector<int64_t>& received_rows,
                           const at::Tensor& input, const std::vector<int64_t>& sent_rows) = 0;
  virtual Pending Broadcast(const at::Tensor& tensor, int32_t root) = 0;
  virtual Pending Send(const at::Tensor& tensor, int32_t to) = 0;
  virtual Pending Receive(const at::Tensor& tensor, int32_t from) = 0;
  // Sends `outgoing` and receives `incoming` at once: neither waits for the other. Matches sends
  // and receives, and other exchanges. `to` and `from` may be the same.
  virtual PendingExchange Exchange(const at::Tensor& outgoing, int32_t to,
                                   const at::Tensor& incoming, int32_t from) {
    Pending sent = Send(outgoing, to);
    Pending received = Receive(incoming, from);
    return {.sent = std::move(sent), .received = std::move(received)};
  }

  // Ends the group in order, after the last operation. All ranks of the group call it; those that
  // end several groups do so in the same order everywhere, since one may wait in here for the
  // others. Nothing is issued afterwards. A group that goes without it is cut off.
  virtual void Close() {}
};

}  // namespace meshwright::worker
