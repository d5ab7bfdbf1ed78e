// StreamOrder orders how ranks that are threads of one process access the tensors that they pass to
// each other.
//
// A GPU works asynchronously to the host, on one stream per rank: a rank's call may return before
// its work is done, and the streams of different ranks are not ordered. A rank therefore marks when
// its tensors are ready. An operation on tensors of several ranks waits for all their marks, and a
// rank that uses the results waits for the end of the operation. Without these waits, results are
// wrong. On a CPU, a call returns when its work is done, and no function here waits.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace meshwright::worker {

// A point in a stream's sequence of work.
class StreamMark {
 public:
  virtual ~StreamMark() = default;
};

// The order of one rank's work. Only the rank's thread may call it, except for Seconds(). All ranks
// of a run use one implementation, and each may use the others' marks.
class StreamOrder {
 public:
  using Mark = std::shared_ptr<const StreamMark>;

  virtual ~StreamOrder() = default;

  // Marks the current end of the rank's stream.
  virtual Mark Now() = 0;
  // Makes the rank's later work wait for `mark`, without blocking its thread.
  virtual void ComeAfter(const StreamMark& mark) = 0;
  // Calls `operation` immediately. The work that `operation` issues waits for `marks` and runs
  // concurrently with the rank's own stream. Returns a mark at the end of that work. `operation`
  // may use only `tensors`, whose memory is not reused before this mark, even if they are released
  // earlier.
  virtual Mark Run(const std::vector<Mark>& marks, const std::vector<at::Tensor>& tensors,
                   const std::function<void()>& operation) = 0;
  // Returns the time of `end` in seconds of the host's monotonic clock, or nullopt if `end` has not
  // been reached. REQUIRES: Run() returned `end`, and the device was synchronized since.
  virtual std::optional<double> Seconds(const StreamMark& end) const = 0;
};

// Returns the order for ranks that compute on the host.
std::shared_ptr<StreamOrder> HostOrder();

}  // namespace meshwright::worker
