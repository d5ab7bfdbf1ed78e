#include "executor/worker/comm/thread_group.h"

#include <ATen/ops/maximum.h>

#include <algorithm>
#include <numeric>

#include "executor/worker/comm/memory_account.h"

namespace meshwright::worker {
namespace {

// Sums into the first rank's output, then copies it to the others, in rank order.
void AllReduce(const std::vector<CollectiveCall>& calls) {
  const at::Tensor& result = calls.front().output;
  for (size_t rank = 1; rank < calls.size(); ++rank) {
    if (calls.front().reduction == Reduction::kSum) {
      result.add_(calls[rank].input);
    } else {
      at::Tensor target = result;
      at::maximum_out(target, result, calls[rank].input);
    }
  }
  for (size_t rank = 1; rank < calls.size(); ++rank) calls[rank].output.copy_(result);
}

at::Tensor Part(const at::Tensor& tensor, size_t index, size_t parts) {
  const int64_t length = tensor.numel() / static_cast<int64_t>(parts);
  return tensor.view({-1}).narrow(0, static_cast<int64_t>(index) * length, length);
}

void AllGather(const std::vector<CollectiveCall>& calls) {
  for (const CollectiveCall& to : calls) {
    for (size_t rank = 0; rank < calls.size(); ++rank) {
      Part(to.output, rank, calls.size()).copy_(calls[rank].input.view({-1}));
    }
  }
}

// A rank's output may be part of its input, so it is written only once the sum is complete.
void ReduceScatter(const std::vector<CollectiveCall>& calls) {
  const ScopedMemoryAccount nobody(nullptr);
  for (size_t rank = 0; rank < calls.size(); ++rank) {
    const at::Tensor sum = Part(calls.front().input, rank, calls.size()).clone();
    for (size_t from = 1; from < calls.size(); ++from) {
      sum.add_(Part(calls[from].input, rank, calls.size()));
    }
    calls[rank].output.view({-1}).copy_(sum);
  }
}

// Returns the first of the rows from or to `rank`.
int64_t FirstRow(const std::vector<int64_t>& rows, size_t rank) {
  return std::accumulate(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(rank),
                         int64_t{0});
}

void AllToAll(const std::vector<CollectiveCall>& calls) {
  for (size_t to = 0; to < calls.size(); ++to) {
    for (size_t from = 0; from < calls.size(); ++from) {
      const int64_t rows = calls[from].sent_rows[to];
      if (rows == 0) continue;
      calls[to]
          .output.narrow(0, FirstRow(calls[to].received_rows, from), rows)
          .copy_(calls[from].input.narrow(0, FirstRow(calls[from].sent_rows, to), rows));
    }
  }
}

// Returns whether what the two ranks send each other is what they expect.
bool RowsFit(const CollectiveCall& one, size_t one_rank, const CollectiveCall& other,
             size_t other_rank) {
  return one.sent_rows.at(other_rank) == other.received_rows.at(one_rank) &&
         other.sent_rows.at(one_rank) == one.received_rows.at(other_rank);
}

bool Fit(const CollectiveCall& one, size_t one_rank, const CollectiveCall& other,
         size_t other_rank) {
  if (one.kind != other.kind || one.reduction != other.reduction || one.root != other.root ||
      one.input.scalar_type() != other.input.scalar_type()) {
    return false;
  }
  return one.kind == planner::CollectiveKind::kAllToAll ? RowsFit(one, one_rank, other, other_rank)
                                                        : one.input.numel() == other.input.numel();
}

void Broadcast(const std::vector<CollectiveCall>& calls) {
  const auto root = static_cast<size_t>(calls.front().root);
  for (size_t rank = 0; rank < calls.size(); ++rank) {
    if (rank != root) calls[rank].output.copy_(calls[root].input);
  }
}

void Perform(const std::vector<CollectiveCall>& calls) {
  switch (calls.front().kind) {
    case planner::CollectiveKind::kAllReduce:
      return AllReduce(calls);
    case planner::CollectiveKind::kAllGather:
      return AllGather(calls);
    case planner::CollectiveKind::kReduceScatter:
      return ReduceScatter(calls);
    case planner::CollectiveKind::kBroadcast:
      return Broadcast(calls);
    case planner::CollectiveKind::kAllToAll:
      return AllToAll(calls);
    case planner::CollectiveKind::kSend:
    case planner::CollectiveKind::kReceive:
      break;  // messages are matched by Send() and Receive()
  }
}

}  // namespace

void Completion::Set(StreamOrder::Mark at) {
  end = std::move(at);
  issued = true;
}

ThreadGroup::ThreadGroup(std::string name, int32_t size, std::chrono::milliseconds timeout)
    : name_(std::move(name)),
      size_(size),
      timeout_(timeout),
      next_sequence_(static_cast<size_t>(size), 0),
      left_(static_cast<size_t>(size), false) {}

std::shared_ptr<Completion> ThreadGroup::Post(int32_t rank, CollectiveCall call,
                                              StreamOrder& order) {
  call.ready = order.Now();
  const std::lock_guard lock(mutex_);
  ThrowIfFailed("collective");
  const int64_t sequence = next_sequence_[static_cast<size_t>(rank)]++;
  Collective& collective = CollectiveOf(sequence);
  CheckFits(collective, rank, call);
  collective.calls[static_cast<size_t>(rank)] = std::move(call);
  collective.came[static_cast<size_t>(rank)] = true;
  std::shared_ptr<Completion> completion = collective.completion;
  if (--collective.missing == 0) {
    CarryOut(collective, order);
    collectives_.erase(sequence);
  } else if (NeedsOneWhoLeft()) {
    Fail("a rank of the group is gone");
  }
  changed_.notify_all();
  return completion;
}

std::shared_ptr<Completion> ThreadGroup::Send(int32_t from, int32_t to, const at::Tensor& tensor,
                                              StreamOrder& order) {
  Message send = {.tensor = tensor, .ready = order.Now()};
  std::shared_ptr<Completion> completion = send.completion;
  const std::lock_guard lock(mutex_);
  ThrowIfFailed("send");
  Channel& channel = channels_[{from, to}];
  channel.sends.push_back(std::move(send));
  Match(channel, order);
  return completion;
}

std::shared_ptr<Completion> ThreadGroup::Receive(int32_t from, int32_t to, const at::Tensor& tensor,
                                                 StreamOrder& order) {
  Message receive = {.tensor = tensor, .ready = order.Now()};
  std::shared_ptr<Completion> completion = receive.completion;
  const std::lock_guard lock(mutex_);
  ThrowIfFailed("receive");
  Channel& channel = channels_[{from, to}];
  channel.receives.push_back(std::move(receive));
  Match(channel, order);
  return completion;
}

void ThreadGroup::Wait(const Completion& completion, const char* operation) {
  std::unique_lock lock(mutex_);
  const bool in_time =
      changed_.wait_for(lock, timeout_, [&] { return completion.issued || !failure_.empty(); });
  if (completion.issued) return;
  if (!in_time) Fail("no answer within " + std::to_string(timeout_.count()) + " ms");
  ThrowIfFailed(operation);
}

void ThreadGroup::Leave(int32_t rank) {
  const std::lock_guard lock(mutex_);
  left_[static_cast<size_t>(rank)] = true;
  if (NeedsOneWhoLeft()) Fail("rank " + std::to_string(rank) + " is gone");
}

ThreadGroup::Collective& ThreadGroup::CollectiveOf(int64_t sequence) {
  const auto [entry, is_new] = collectives_.try_emplace(sequence);
  Collective& collective = entry->second;
  if (is_new) {
    collective.calls.resize(static_cast<size_t>(size_));
    collective.came.assign(static_cast<size_t>(size_), false);
    collective.missing = size_;
    collective.completion = std::make_shared<Completion>();
  }
  return collective;
}

void ThreadGroup::CheckFits(const Collective& collective, int32_t rank,
                            const CollectiveCall& call) {
  for (size_t other = 0; other < collective.calls.size(); ++other) {
    if (!collective.came[other]) continue;
    if (Fit(collective.calls[other], other, call, static_cast<size_t>(rank))) continue;
    Fail("ranks " + std::to_string(other) + " and " + std::to_string(rank) +
         " disagree about the collective, its size or its type");
    ThrowIfFailed("collective");
  }
}

void ThreadGroup::CarryOut(Collective& collective, StreamOrder& order) {
  std::vector<StreamOrder::Mark> ready;
  std::vector<at::Tensor> tensors;
  for (const CollectiveCall& call : collective.calls) {
    ready.push_back(call.ready);
    tensors.insert(tensors.end(), {call.output, call.input});
  }
  collective.completion->Set(
      Issue(order, ready, tensors, [calls = collective.calls] { Perform(calls); }));
}

void ThreadGroup::Match(Channel& channel, StreamOrder& order) {
  while (!channel.sends.empty() && !channel.receives.empty()) {
    Message& send = channel.sends.front();
    Message& receive = channel.receives.front();
    if (send.tensor.numel() != receive.tensor.numel() ||
        send.tensor.scalar_type() != receive.tensor.scalar_type()) {
      Fail("a message of " + std::to_string(send.tensor.numel()) + " elements met a receive of " +
           std::to_string(receive.tensor.numel()) + ", or their types differ");
      ThrowIfFailed("message");
    }
    const StreamOrder::Mark end =
        Issue(order, {send.ready, receive.ready}, {send.tensor, receive.tensor},
              [from = send.tensor, to = receive.tensor] { to.copy_(from); });
    send.completion->Set(end);
    receive.completion->Set(end);
    channel.sends.pop_front();
    channel.receives.pop_front();
  }
  if (NeedsOneWhoLeft()) Fail("a rank of the group is gone");
  changed_.notify_all();
}

StreamOrder::Mark ThreadGroup::Issue(StreamOrder& order,
                                     const std::vector<StreamOrder::Mark>& ready,
                                     const std::vector<at::Tensor>& tensors,
                                     const std::function<void()>& operation) {
  try {
    return order.Run(ready, tensors, operation);
  } catch (const std::exception& error) {
    Fail(std::string("the rank that came last could not issue it: ") + error.what());
    throw;
  }
}

void ThreadGroup::Fail(const std::string& reason) {
  if (failure_.empty()) failure_ = reason;
  // The pending operations will not be executed any more. Ranks whose tensors they hold, and the
  // memory accounts of these ranks, may end before the group does.
  collectives_.clear();
  channels_.clear();
  changed_.notify_all();
}

void ThreadGroup::ThrowIfFailed(const char* operation) const {
  if (failure_.empty()) return;
  throw CommunicationError(std::string(operation) + " in group " + name_ + ": " + failure_);
}

bool ThreadGroup::NeedsOneWhoLeft() const {
  for (const auto& [sequence, collective] : collectives_) {
    for (size_t rank = 0; rank < left_.size(); ++rank) {
      if (left_[rank] && !collective.came[rank]) return true;
    }
  }
  for (const auto& [ends, channel] : channels_) {
    const auto& [from, to] = ends;
    if (!channel.receives.empty() && left_[static_cast<size_t>(from)]) return true;
    if (!channel.sends.empty() && left_[static_cast<size_t>(to)]) return true;
  }
  return false;
}

}  // namespace meshwright::worker
