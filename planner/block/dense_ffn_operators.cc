#include "planner/block/dense_ffn_operators.h"

#include "planner/block/operator_builder.h"
#include "planner/block/shared_block_operators.h"

namespace meshwright::planner {
namespace {

class DenseFfnBuilder : public OperatorBuilder {
 public:
  using OperatorBuilder::OperatorBuilder;

  void Ffn(bool has_entered) {
    const size_t first = operators().size();
    if (!has_entered) EnterProjection(OperatorName::kFfnEnter);
    GateUpProjection();
    if (s_.shared_block.adapter_rank > 0) AddFfnAdapter(s_, operators());
    operators()[first].starts_branch = s_.has_experts();
    Activation();
    DownProjection();
    Leave(OperatorName::kFfnLeave);
  }

 private:
  void GateUpProjection() {
    Operator& op = Projection(OperatorName::kGateUpProjection, s_.gate_up_width(), s_.hidden);
    if (IsGated(s_.ffn)) {
      op.parameters.push_back(Rows("gate", s_.ffn_hidden, s_.inner_width(), s_.hidden));
    }
    op.parameters.push_back(Rows("up", s_.ffn_hidden, s_.inner_width(), s_.hidden));
    if (s_.ffn_bias && IsGated(s_.ffn)) {
      op.parameters.push_back(Bias("gate_bias", s_.ffn_hidden, s_.inner_width()));
    }
    if (s_.ffn_bias) op.parameters.push_back(Bias("up_bias", s_.ffn_hidden, s_.inner_width()));
    // With one norm this is the input of the QKV projection; experts keep it for their router.
    if (s_.arrangement == Arrangement::kParallelOneNorm || s_.has_experts()) return;
    if (s_.worker_quantises) return;
    const bool norms_behind = s_.arrangement == Arrangement::kNormBehind;
    Save(op, norms_behind ? KeptTensor::kFfnResidual : KeptTensor::kFfnNormOutput,
         KeptInputBytes(NormOutputRows(), s_.hidden), op.name, kWeightGradient);
  }

  // The gradients of gate and up overwrite them.
  void Activation() {
    Operator& op = Add(OperatorName::kFfnActivation, OperatorKind::kElementwise);
    const int64_t elements = s_.tokens * s_.inner_width();
    op.stream = ActivationStream(elements);
    const int64_t bytes = elements * s_.element_bytes;
    const bool gated = IsGated(s_.ffn);
    constexpr OperatorName kGateUp = OperatorName::kGateUpProjection;
    if (gated) Save(op, KeptTensor::kGate, bytes, kGateUp, kWeightGradient);
    // ReLU's product holds the same information, unless it is narrowed.
    if (s_.ffn != FfnKind::kRelu || s_.worker_quantises) {
      Save(op, KeptTensor::kUp, bytes, kGateUp, kWeightGradient);
    }
    if (gated && !s_.fused_swiglu) {
      Save(op, KeptTensor::kSiluGate, bytes, op.name, kInputGradient);
    }
    SaveNarrowed(op, KeptTensor::kFfnProduct, KeptInputBytes(s_.tokens, s_.inner_width()),
                 OperatorName::kDownProjection);
    op.pass(kForward).result_bytes = bytes;
  }

  void DownProjection() {
    Operator& op = Projection(OperatorName::kDownProjection, s_.hidden, s_.inner_width());
    op.parameters.push_back(Columns("down", s_.hidden, s_.ffn_hidden, s_.inner_width()));
    if (s_.ffn_bias) op.parameters.push_back(Vector("down_bias", s_.hidden));
    if (!s_.keeps_ffn_product || s_.worker_quantises) return;
    Save(op, KeptTensor::kFfnProduct, KeptInputBytes(s_.tokens, s_.inner_width()), op.name,
         kWeightGradient);
  }
};

}  // namespace

void AddDenseFfn(const BlockShape& shape, bool has_entered, OperatorList& operators) {
  DenseFfnBuilder(shape, operators).Ffn(has_entered);
}

}  // namespace meshwright::planner
