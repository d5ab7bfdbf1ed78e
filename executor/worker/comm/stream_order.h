// StreamOrder orders the access of ranks, which are threads of one process, to tensors that they
// pass to each other.
//
// A GPU works behind the host, on one stream per rank: a rank's call may return before its work is
// done, and its stream is not ordered after others'. So a rank marks when its tensors are ready, an
// operation on tensors of several ranks waits for all their marks, and a rank that uses the results
// waits for the end of that operation. Skipping a wait yields wrong numbers. On a CPU a call
// returns when its work is done, and these functions do nothing.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace meshwright::worker {

// A moment in a stream's order.
class StreamMark {
 public:
  virtual ~StreamMark() = default;
};

// The order of one rank. Only its thread may call it, except Seconds(). All ranks of a run use one
// implementation, whose marks are interchangeable.
class StreamOrder {
 public:
  using Mark = std::shared_ptr<const StreamMark>;

  virtual ~StreamOrder() = default;

  // Marks when the rank's stream gets here.
  virtual Mark Now() = 0;
  // Makes the rank's later work wait for `mark`, without blocking its thread.
  virtual void ComeAfter(const StreamMark& mark) = 0;
  // Calls `operation` at once; the work it issues waits for `marks` and runs beside the rank's own
  // stream. Returns the end of that work. `operation` may only touch `tensors`, whose memory is not
  // reused before that end, whoever releases them.
  virtual Mark Run(const std::vector<Mark>& marks, const std::vector<at::Tensor>& tensors,
                   const std::function<void()>& operation) = 0;
  // Returns seconds of the host's monotonic clock; nothing while `end`, as returned by Run(), has
  // not been reached. REQUIRES: the device was synchronized since.
  virtual std::optional<double> Seconds(const StreamMark& end) const = 0;
};

// Returns the order for ranks that compute on the host.
std::shared_ptr<StreamOrder> HostOrder();

}  // namespace meshwright::worker
