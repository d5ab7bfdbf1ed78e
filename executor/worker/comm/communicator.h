// Communicator exchanges tensors among the ranks of one group (a TP group, a pipeline direction,
// ...).
//
// Every call issues an operation and returns a Pending for its completion. Calls don't wait for
// other ranks, except for the first message between two ranks of a group. This message opens their
// connection, and may block each of the two ranks until the other one has issued its side.
//
// All ranks of a group must issue the same collectives in the same order; sends and receives
// between two ranks match in order of issue. A rank's operations in one group may be executed one
// after the other in order of issue, even if their peers differ. A message may complete only once
// both sides are issued. Two ranks that both send before they receive may therefore deadlock: use
// Exchange(), or one group per direction. Groups don't wait for each other.
//
// Memory that an implementation allocates does not count as the rank's memory. Failures, including
// a lost peer and an expired timeout, are thrown as CommunicationError by Wait() or by the call
// itself, unless the implementation says otherwise.
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
  // Returns when the operation was done, in seconds of the host's monotonic clock. Returns nullopt
  // if it isn't done yet: Gloo's threads may finish after the device was synchronized. REQUIRES:
  // the device was synchronized after the operation was issued.
  virtual std::optional<double> seconds() const = 0;
};

// An operation that was issued. This object keeps the operation's tensors alive.
class PendingWork {
 public:
  virtual ~PendingWork() = default;
  virtual void Wait() = 0;
  // Returns an object that tells when the operation was done, or null if only Wait() can tell. May
  // be called only before Wait().
  virtual std::shared_ptr<const DoneTime> WatchDone() { return nullptr; }
};

// Move-only handle of an operation; empty if there is nothing to wait for.
class Pending {
 public:
  Pending() = default;
  explicit Pending(std::unique_ptr<PendingWork> work) : work_(std::move(work)) {}

  // After Wait() returns, the results may be used and the inputs may be overwritten: on a CPU by
  // this thread, on a GPU by work on the current stream. A second call does nothing.
  void Wait() {
    if (const auto work = std::exchange(work_, nullptr)) work->Wait();
  }

  // Returns PendingWork::WatchDone(), or null if there is nothing to wait for. REQUIRES: this
  // function is called immediately after the communicator returned this object.
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

  // Returns this rank's index in the group.
  virtual int32_t rank() const = 0;
  virtual int32_t size() const = 0;

  // Reduces `tensor` in place. Tensors are dense, of fp32, fp64 or bf16, and are summed in their
  // type.
  virtual Pending AllReduce(const at::Tensor& tensor, Reduction reduction) = 0;
  // Gathers the inputs of all ranks, in rank order, into `output`, which has size() times the
  // elements of `input`. `input` may be this rank's part of `output`.
  virtual Pending AllGather(const at::Tensor& output, const at::Tensor& input) = 0;
  // Sums the inputs of all ranks and writes part i of the sum to rank i's `output`. `input` has
  // size() times the elements of `output`. `output` may be this rank's part of `input`; the other
  // parts of `input` are then undefined afterwards.
  virtual Pending ReduceScatter(const at::Tensor& output, const at::Tensor& input) = 0;
  // Sends part i of `input`, which has sent_rows[i] rows, to rank i, and receives received_rows[i]
  // rows from rank i. Parts are in rank order and may be empty. Elements may have any type. All
  // rows have the same width. Every rank must send as many rows as the receiver expects. `output`
  // and `input` must not overlap.
  virtual Pending AllToAll(const at::Tensor& output, const std::vector<int64_t>& received_rows,
                           const at::Tensor& input, const std::vector<int64_t>& sent_rows) = 0;
  virtual Pending Broadcast(const at::Tensor& tensor, int32_t root) = 0;
  virtual Pending Send(const at::Tensor& tensor, int32_t to) = 0;
  virtual Pending Receive(const at::Tensor& tensor, int32_t from) = 0;
  // Sends `outgoing` to rank `to` and concurrently receives `incoming` from rank `from`, which may
  // be the same rank. The peers may call Exchange(), or Send() and Receive().
  virtual PendingExchange Exchange(const at::Tensor& outgoing, int32_t to,
                                   const at::Tensor& incoming, int32_t from) {
    Pending sent = Send(outgoing, to);
    Pending received = Receive(incoming, from);
    return {.sent = std::move(sent), .received = std::move(received)};
  }

  // Ends the group in an orderly way after its last operation; nothing may be issued afterwards.
  // All ranks of the group must call Close(), and must close several groups in the same order,
  // since Close() may wait for the other ranks. A group that is destroyed without Close() is torn
  // down abruptly.
  virtual void Close() {}
};

}  // namespace meshwright::worker
