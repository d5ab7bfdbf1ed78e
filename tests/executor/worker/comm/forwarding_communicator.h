// ForwardingCommunicator forwards every call to another communicator. Tests derive from it to
// observe or change some calls.
#pragma once

#include <memory>
#include <utility>

#include "executor/worker/comm/communicator.h"

namespace meshwright::worker {

class ForwardingCommunicator : public Communicator {
 public:
  explicit ForwardingCommunicator(std::unique_ptr<Communicator> communicator)
      : communicator_(std::move(communicator)) {}

  int32_t rank() const override { return communicator_->rank(); }
  int32_t size() const override { return communicator_->size(); }
  Pending AllReduce(const at::Tensor& tensor, Reduction reduction) override {
    return communicator_->AllReduce(tensor, reduction);
  }
  Pending AllGather(const at::Tensor& output, const at::Tensor& input) override {
    return communicator_->AllGather(output, input);
  }
  Pending ReduceScatter(const at::Tensor& output, const at::Tensor& input) override {
    return communicator_->ReduceScatter(output, input);
  }
  Pending AllToAll(const at::Tensor& output, const std::vector<int64_t>& received_rows,
                   const at::Tensor& input, const std::vector<int64_t>& sent_rows) override {
    return communicator_->AllToAll(output, received_rows, input, sent_rows);
  }
  Pending Broadcast(const at::Tensor& tensor, int32_t root) override {
    return communicator_->Broadcast(tensor, root);
  }
  Pending Send(const at::Tensor& tensor, int32_t to) override {
    return communicator_->Send(tensor, to);
  }
  Pending Receive(const at::Tensor& tensor, int32_t from) override {
    return communicator_->Receive(tensor, from);
  }
  void Close() override { communicator_->Close(); }

 private:
  const std::unique_ptr<Communicator> communicator_;
};

}  // namespace meshwright::worker
