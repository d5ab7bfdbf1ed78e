// Communicator over one of Torch's process groups, gloo on CPUs and NCCL on devices.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "executor/worker/comm/communicator.h"
#include "executor/worker/comm/device.h"

namespace meshwright::worker {

// Watches for the end of an operation that was just issued; null where only waiting for it tells.
using WatchWork = std::function<std::shared_ptr<const DoneTime>(c10d::Work& work)>;

// How a group comes by the tensors of an operation. A group with threads of its own may let go of
// them some time after the operation's end; where they are lent, whoever waits for it does.
enum class TensorHold : uint8_t { kOwn, kLent };

// `group` belongs to this communicator alone.
std::unique_ptr<Communicator> MakeBackendCommunicator(c10::intrusive_ptr<c10d::Backend> group,
                                                      TensorHold hold, WatchWork watch);

// Where a rank stands in its group, and the part of the store that is the group's own.
struct GroupPlace {
  int32_t index = 0;
  int32_t size = 1;
  c10::intrusive_ptr<c10d::Store> store;
};
GroupPlace PlaceIn(const c10::intrusive_ptr<c10d::Store>& store, const GroupSpec& group,
                   int32_t rank);

// Runs `call` with Torch's and the transports' errors turned into CommunicationError.
template <typename Call>
auto WithCommunicationErrors(const char* operation, const Call& call) {
  try {
    return call();
  } catch (const c10::Error& error) {
    throw CommunicationError(std::string(operation) + ": " + error.what_without_backtrace());
  } catch (const std::exception& error) {
    throw CommunicationError(std::string(operation) + ": " + error.what());
  }
}

}  // namespace meshwright::worker
