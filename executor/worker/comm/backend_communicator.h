// A Communicator over one of Torch's process groups: Gloo on CPUs, NCCL on GPUs.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "executor/worker/comm/communicator.h"
#include "executor/worker/comm/device.h"

namespace meshwright::worker {

// Observes the end of a just issued operation; returns null where only waiting for it can tell.
using WatchWork = std::function<std::shared_ptr<const DoneTime>(c10d::Work& work)>;

// Who keeps an operation's tensors alive. A group with threads of its own may release them some
// time after the operation's end (kOwn); lent ones (kLent) are released by whoever waits for the
// operation.
enum class TensorHold : uint8_t { kOwn, kLent };

// REQUIRES: nobody else uses `group`.
std::unique_ptr<Communicator> MakeBackendCommunicator(c10::intrusive_ptr<c10d::Backend> group,
                                                      TensorHold hold, WatchWork watch);

// A rank's index in its group, and the group's own part of the store.
struct GroupPlace {
  int32_t index = 0;
  int32_t size = 1;
  c10::intrusive_ptr<c10d::Store> store;
};
GroupPlace PlaceIn(const c10::intrusive_ptr<c10d::Store>& store, const GroupSpec& group,
                   int32_t rank);

// Calls `call` and rethrows errors of Torch and the transports as CommunicationError.
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
