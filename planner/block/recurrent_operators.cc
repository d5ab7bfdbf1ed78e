#include "planner/block/recurrent_operators.h"

#include "planner/block/operator_builder.h"
#include "planner/block/recurrence_widths.h"

namespace meshwright::planner {
namespace {

// Figures of RecurrenceWidths are for elements of 2 bytes.
constexpr int64_t kWidthsElementBytes = 2;
// The backward reads the inputs and their gradients again, and writes equally many values.
constexpr double kBackwardTrafficRatio = 2.5;

class RecurrentBuilder : public OperatorBuilder {
 public:
  RecurrentBuilder(const BlockShape& shape, OperatorList& operators)
      : OperatorBuilder(shape, operators),
        r_(shape.recurrence),
        whole_(WidthsOf(r_, shape.hidden, 1)),
        rank_(WidthsOf(r_, shape.hidden, shape.tp)) {}

  void Mixer() {
    InputProjection();
    if (whole_.convolution > 0) Convolution();
    if (whole_.states > 0) StatesProjection();
    if (whole_.gates > 0) GateProjection();
    Core();
    if (whole_.norm_traffic_bytes > 0.0) OutputNorm();
    OutputProjection();
  }

 private:
  bool Is(RecurrenceKind kind) const { return r_.kind == kind; }
  int64_t TokenBytes(int64_t bytes) const {
    return s_.tokens * bytes * s_.element_bytes / kWidthsElementBytes;
  }
  // Kernels that take longer than their bytes do stand for more bytes.
  StreamShape Traffic(double bytes_a_token) const {
    const double forward_bytes = s_.recurrence_ratio * bytes_a_token;
    return {.elements = s_.tokens,
            .traffic_bytes = {forward_bytes, kBackwardTrafficRatio * forward_bytes, 0.0}};
  }

  void InputProjection() {
    Operator& op =
        Projection(OperatorName::kMixerProjection, rank_.input + rank_.whole_input, s_.hidden);
    op.parameters.push_back(Rows("mixer_in", whole_.input, rank_.input, s_.hidden));
    if (whole_.whole_input > 0) {
      op.parameters.push_back(Whole("mixer_gates_down", whole_.whole_input, s_.hidden));
    }
    if (r_.projection_bias || Is(RecurrenceKind::kRgLru)) {
      op.parameters.push_back(Bias("mixer_in_bias", whole_.input, rank_.input));
    }
    // Attention on the same input keeps it.
    if (s_.has_attention() && !s_.shared_block.runs) return;
    Save(op, KeptTensor::kAttentionNormOutput, KeptInputBytes(NormOutputRows(), s_.hidden), op.name,
         kWeightGradient);
  }

  bool HasConvolutionBias() const {
    return Is(RecurrenceKind::kMamba2) || Is(RecurrenceKind::kMamba1) || Is(RecurrenceKind::kRgLru);
  }

  void Convolution() {
    Operator& op = Add(OperatorName::kMixerConvolution, OperatorKind::kElementwise);
    op.stream = Traffic(rank_.convolution_traffic_bytes);
    op.parameters.push_back(Bias("mixer_convolution", r_.conv_width * whole_.convolution,
                                 r_.conv_width * rank_.convolution));
    if (HasConvolutionBias()) {
      op.parameters.push_back(
          Bias("mixer_convolution_bias", whole_.convolution, rank_.convolution));
    }
    op.pass(kForward).result_bytes = TokenBytes(2 * rank_.convolution);
    Save(op, KeptTensor::kMixerInput, TokenBytes(rank_.input_bytes), op.name, kInputGradient);
  }

  // The ranks' parts are added up.
  void StatesProjection() {
    Operator& op = Matmul(OperatorName::kMixerStatesProjection, whole_.states, rank_.inner);
    op.parameters.push_back(Columns("mixer_states", whole_.states, whole_.inner, rank_.inner));
    if (r_.inner_norms) op.parameters.push_back(Vector("mixer_states_norm", whole_.states));
    if (s_.tp == 1) return;
    const int64_t bytes = s_.tokens * whole_.states * s_.element_bytes;
    Collective(op, kForward, CollectiveKind::kAllReduce, bytes);
    Collective(op, kInputGradient, CollectiveKind::kAllReduce, bytes);
  }

  void GateProjection() {
    Operator& op = Matmul(OperatorName::kMixerGateProjection, rank_.gates, rank_.gate_inputs);
    op.parameters.push_back(Rows("mixer_gates", whole_.gates, rank_.gates, whole_.gate_inputs));
    if (!Is(RecurrenceKind::kKimiDelta)) {
      op.parameters.push_back(Bias("mixer_gates_bias", whole_.gates, rank_.gates));
    }
  }

  // Decays, step sizes and skips: vectors of the heads or of the channels.
  int64_t CoreVectors(int64_t ranks) const {
    const int64_t heads = r_.heads / ranks;
    const int64_t channels = r_.inner_width() / ranks;
    switch (r_.kind) {
      case RecurrenceKind::kGatedDelta:
        return 2 * heads;
      case RecurrenceKind::kKimiDelta:
        return channels + heads;
      case RecurrenceKind::kMamba2:
        return 3 * heads;
      case RecurrenceKind::kMamba1:
        return channels * r_.key_dim + channels;
      case RecurrenceKind::kRgLru:
        return channels;
      case RecurrenceKind::kLightning:
      case RecurrenceKind::kShortConvolution:
      case RecurrenceKind::kNone:
        break;
    }
    return 0;
  }

  void Core() {
    Operator& op = Add(OperatorName::kMixerCore, OperatorKind::kCore);
    const double flops = static_cast<double>(s_.tokens) * rank_.core_flops;
    op.core = {.forward_flops = flops,
               .backward_flops = 2.0 * flops,
               .workspace_bytes = TokenBytes(rank_.working_bytes)};
    op.stream = Traffic(rank_.core_traffic_bytes);
    if (const int64_t vectors = CoreVectors(1); vectors > 0) {
      op.parameters.push_back(Bias("mixer_decay", vectors, CoreVectors(s_.tp)));
    }
    op.pass(kForward).result_bytes = TokenBytes(2 * rank_.inner);
    if (whole_.convolution == 0) {
      Save(op, KeptTensor::kMixerInput, TokenBytes(rank_.input_bytes), op.name, kInputGradient);
    }
    Save(op, KeptTensor::kMixerStates, TokenBytes(rank_.states_bytes), op.name, kInputGradient);
    Save(op, KeptTensor::kMixerOutput, TokenBytes(rank_.output_bytes), op.name, kInputGradient);
    ExchangeHeads(op);
  }

  // Under context parallelism ranks exchange tokens for heads, so that each runs whole sequences on
  // its part of the heads (Megatron-LM, core/ssm). The part that stays counts as sent.
  void ExchangeHeads(Operator& op) {
    if (s_.cp == 1 || rank_.exchanged_in == 0) return;
    for (const PassKind pass : {kForward, kInputGradient}) {
      for (const int64_t width : {rank_.exchanged_in, rank_.exchanged_out}) {
        op.pass(pass).collectives.push_back({.kind = CollectiveKind::kAllToAll,
                                             .group = GroupRole::kContext,
                                             .bytes = s_.tokens * width * s_.element_bytes});
      }
    }
  }

  // A gated delta net normalises each head with the same weights.
  void OutputNorm() {
    Operator& op = Add(OperatorName::kMixerNorm, OperatorKind::kNorm);
    op.stream = Traffic(rank_.norm_traffic_bytes);
    const bool by_head = Is(RecurrenceKind::kGatedDelta) || Is(RecurrenceKind::kKimiDelta);
    op.parameters.push_back(by_head ? Vector("mixer_norm", r_.value_dim)
                                    : Bias("mixer_norm", whole_.inner, rank_.inner));
    op.pass(kForward).result_bytes = TokenBytes(2 * rank_.inner);
  }

  void OutputProjection() {
    Operator& op = Projection(OperatorName::kMixerOutputProjection, s_.hidden, rank_.inner);
    op.parameters.push_back(Columns("mixer_out", s_.hidden, whole_.inner, rank_.inner));
    if (r_.projection_bias || Is(RecurrenceKind::kRgLru)) {
      op.parameters.push_back(Vector("mixer_out_bias", s_.hidden));
    }
    Save(op, KeptTensor::kMixerProduct, TokenBytes(rank_.product_bytes), op.name, kWeightGradient);
  }

  const Recurrence& r_;
  const RecurrenceWidths whole_;
  const RecurrenceWidths rank_;
};

}  // namespace

void AddRecurrence(const BlockShape& shape, OperatorList& operators) {
  RecurrentBuilder(shape, operators).Mixer();
}

}  // namespace meshwright::planner
