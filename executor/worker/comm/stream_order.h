// In which order ranks that are threads of one process touch the tensors that they hand to each
// other.
//
// A device works behind the host, on a stream per rank: that a rank's call returned says nothing
// about its work, and its stream knows nothing of the others'. So a rank marks the moment at which
// its tensors are ready, whoever works on tensors of several ranks comes after all their marks, and
// a rank that uses the results comes after the end of that. Work whose mark is not waited for finds
// or leaves wrong numbers. On a CPU a call returns when its work is done, and all of this is empty.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace meshwright::worker {

// A moment in the order of a stream.
class StreamMark {
 public:
  virtual ~StreamMark() = default;
};

// One rank's; its thread makes all calls but Seconds(). The ranks of a run have orders of one kind,
// which understand each other's marks.
class StreamOrder {
 public:
  using Mark = std::shared_ptr<const StreamMark>;

  virtual ~StreamOrder() = default;

  // When the rank's stream gets here.
  virtual Mark Now() = 0;
  // What the rank issues from now on comes after `mark`. Its thread goes on at once.
  virtual void ComeAfter(const StreamMark& mark) = 0;
  // Lets `operation`, which is called at once, issue work that comes after `marks`, beside the
  // rank's own stream. Returns its end. It touches `tensors` alone: until that end their memory
  // serves nothing else, whoever lets go of them.
  virtual Mark Run(const std::vector<Mark>& marks, const std::vector<at::Tensor>& tensors,
                   const std::function<void()>& operation) = 0;
  // Of the host's monotonic clock; nothing while `end`, which Run() returned, is not reached.
  // Requires that the device was synchronized since.
  virtual std::optional<double> Seconds(const StreamMark& end) const = 0;
};

// Of ranks that compute on the host.
std::shared_ptr<StreamOrder> HostOrder();

}  // namespace meshwright::worker
