// What a backward computes while the TP group's communication is under way, on one rank of a group
// that is not there.
#include "executor/worker/model/tensor_parallel.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "executor/worker/comm/cpu_device.h"
#include "executor/worker/comm/fake_communicator.h"
#include "executor/worker/model/block.h"
#include "executor/worker/model/head_layer.h"
#include "tests/executor/test_models.h"
#include "tests/executor/worker/comm/forwarding_communicator.h"

namespace meshwright::worker {
namespace {

using Report = std::function<void(const char*)>;

class ReportedWork final : public PendingWork {
 public:
  ReportedWork(Pending work, const Report& report) : work_(std::move(work)), report_(report) {}
  void Wait() override {
    report_("wait");
    work_.Wait();
  }

 private:
  Pending work_;
  const Report& report_;
};

// Reports collectives when they are issued and when they are waited for.
class ReportedCommunicator final : public ForwardingCommunicator {
 public:
  explicit ReportedCommunicator(Report report)
      : ForwardingCommunicator(MakeFakeCommunicator(0, 2, nullptr)), report_(std::move(report)) {}

  Pending AllReduce(const at::Tensor& tensor, Reduction reduction) override {
    return Reported("reduce", ForwardingCommunicator::AllReduce(tensor, reduction));
  }
  Pending AllGather(const at::Tensor& output, const at::Tensor& input) override {
    return Reported("gather", ForwardingCommunicator::AllGather(output, input));
  }
  Pending ReduceScatter(const at::Tensor& output, const at::Tensor& input) override {
    return Reported("scatter", ForwardingCommunicator::ReduceScatter(output, input));
  }

 private:
  Pending Reported(const char* what, Pending work) const {
    report_(what);
    return Pending(std::make_unique<ReportedWork>(std::move(work), report_));
  }

  const Report report_;
};

class TensorParallelTest : public testing::Test {
 protected:
  void Make(bool sequence_parallel) {
    context_.model = trial::TinyModel();
    context_.training = trial::TinyTraining();
    context_.layout.tp = 2;
    context_.layout.sequence_parallel = sequence_parallel;
    context_.device = std::make_unique<CpuDevice>();
    context_.groups.tp =
        std::make_unique<ReportedCommunicator>([this](const char* what) { Note(what); });
  }

  at::Tensor Stream() const {
    return at::randn({context_.stream_tokens(), context_.model.hidden}, context_.options());
  }

  // From now on what is issued or waited for is noted together with the weight gradients that are
  // there by then.
  void Watch(std::vector<std::pair<std::string, at::Tensor>> gradients) {
    gradients_ = std::move(gradients);
    noted_.clear();
  }

  using Notes = std::vector<std::string>;

  const c10::InferenceMode no_tape_;
  RankContext context_;
  Notes noted_;

 private:
  void Note(const std::string& what) {
    std::string note = what;
    for (const auto& [name, gradient] : gradients_) {
      if (gradient.abs().max().item<float>() > 0.0f) note += " " + name;
    }
    noted_.push_back(std::move(note));
  }

  std::vector<std::pair<std::string, at::Tensor>> gradients_;
};

class BlockOverlapTest : public TensorParallelTest {
 protected:
  // A forward, and a backward to watch.
  void Run(bool sequence_parallel, const std::function<void(const Block&, BlockSaved&)>& backward) {
    Make(sequence_parallel);
    const RopeTable rope(context_);
    FlatUnit unit(context_, LayerUnit(context_.model, 0, 0, 2), Replicas());
    unit.ClearGradients();
    const Block block(context_, context_.model.groups.front(), {&unit}, rope, 0);
    BlockSaved saved;
    block.Forward(Stream(), saved);
    Watch({{"down", unit.gradient(kDownWeight)},
           {"gate_up", unit.gradient(kGateUpWeight)},
           {"output", unit.gradient(kOutputWeight)},
           {"qkv", unit.gradient(kQkvWeight)}});
    backward(block, saved);
    Watch({});
  }
};

TEST_F(BlockOverlapTest, WeightGradientsRunBesideGatherAndScatter) {
  Run(/*sequence_parallel=*/true, [this](const Block& block, BlockSaved& saved) {
    block.Backward(Stream(), saved);
    const Notes expected = {
        // The incoming gradient; the FFN's normed input, beside the last projection's weight; then
        // the gradient of that input, beside the first one's.
        "gather", "wait", "gather", "scatter down", "wait down", "wait down gate_up",
        // The same of attention.
        "gather down gate_up", "wait down gate_up", "gather down gate_up",
        "scatter down gate_up output", "wait down gate_up output", "wait down gate_up output qkv"};
    EXPECT_EQ(noted_, expected);
  });
}

TEST_F(BlockOverlapTest, WeightGradientsRunBesideTheSumOfInputGradients) {
  Run(/*sequence_parallel=*/false, [this](const Block& block, BlockSaved& saved) {
    block.Backward(Stream(), saved);
    const Notes expected = {"reduce down", "wait down gate_up", "reduce down gate_up output",
                            "wait down gate_up output qkv"};
    EXPECT_EQ(noted_, expected);
  });
}

TEST_F(BlockOverlapTest, TheWeightPartOfASplitBackwardGathersBesideItsFirstProduct) {
  Run(/*sequence_parallel=*/true, [this](const Block& block, BlockSaved& saved) {
    block.BackwardInput(Stream(), saved);
    noted_.clear();
    block.BackwardWeight(saved);
    const Notes expected = {"gather", "wait down", "gather down gate_up",
                            "wait down gate_up output"};
    EXPECT_EQ(noted_, expected);
  });
}

TEST_F(TensorParallelTest, TheHeadsWeightGradientRunsBesideTheScatter) {
  Make(/*sequence_parallel=*/true);
  FlatUnit projection(context_, HeadUnit(context_.model, 0, 2), Replicas());
  FlatUnit final_norm(context_, FinalNormUnit(context_.model), Replicas());
  projection.ClearGradients();
  final_norm.ClearGradients();
  const HeadLayer head(context_, projection, final_norm);
  const at::Tensor targets = at::ones({context_.tokens()}, context_.options_of(at::kInt));
  const at::Tensor loss_sum = at::zeros({1}, context_.options_of(at::kDouble));
  HeadSaved saved;
  head.Forward(Stream(), targets, loss_sum, saved);
  Watch({{"head", projection.gradient(kHeadWeight)}});
  head.Backward(saved);
  EXPECT_EQ(noted_, (Notes{"gather", "scatter", "wait", "wait head"}));
}

}  // namespace
}  // namespace meshwright::worker
