// MakeBackendCommunicator() makes a Communicator over a Torch process group: Gloo on CPUs, NCCL on
// GPUs.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "executor/worker/comm/communicator.h"
#include "executor/worker/comm/device.h"

namespace meshwright::worker {

// Returns an object that tells when `work`, which was just issued, is done. Returns null if only a
// wait for the work can tell.
using WatchWork = std::function<std::shared_ptr<const DoneTime>(c10d::Work& work)>;

// Says who keeps an operation's tensors alive. With kOwn, the group has references of its own, and
// may release them some time after the operation's end. With kLent, the group only gets aliases,
// and the thread that waits for the operation releases the tensors.
enum class TensorHold : uint8_t { kOwn, kLent };

// Returns a Communicator over `group`. REQUIRES: nobody else uses `group`.
std::unique_ptr<Communicator> MakeBackendCommunicator(c10::intrusive_ptr<c10d::Backend> group,
                                                      TensorHold hold, WatchWork watch);

// A rank's index in its group, the group's size, and a view of the store that only this group uses.
struct GroupPlace {
  int32_t index = 0;
  int32_t size = 1;
  c10::intrusive_ptr<c10d::Store> store;
};
// Returns the place of global rank `rank` in `group`. REQUIRES: `rank` is a member.
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
