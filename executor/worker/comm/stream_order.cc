#include "executor/worker/comm/stream_order.h"

#include "executor/worker/comm/device_clock.h"

namespace meshwright::worker {
namespace {

class HostMark final : public StreamMark {
 public:
  double at_s() const { return at_s_; }

 private:
  const double at_s_ = MonotonicSeconds();
};

class HostStreamOrder final : public StreamOrder {
 public:
  Mark Now() override { return nullptr; }
  void ComeAfter(const StreamMark&) override {}
  Mark Run(const std::vector<Mark>&, const std::vector<at::Tensor>&,
           const std::function<void()>& operation) override {
    operation();
    return std::make_shared<HostMark>();
  }
  std::optional<double> Seconds(const StreamMark& end) const override {
    return static_cast<const HostMark&>(end).at_s();
  }
};

}  // namespace

std::shared_ptr<StreamOrder> HostOrder() { return std::make_shared<HostStreamOrder>(); }

}  // namespace meshwright::worker
