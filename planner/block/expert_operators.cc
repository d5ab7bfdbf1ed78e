#include "planner/block/expert_operators.h"

#include <algorithm>
#include <string_view>

#include "planner/block/operator_builder.h"

namespace meshwright::planner {
namespace {

// Traffic of reordering rows, in bytes per element of 2 bytes: read and write.
constexpr double kPermute = 4.0;
// Softmax or sigmoid, top-k and the balance loss read and write logits and scores a few times.
constexpr double kRouterForward = 12.0;
constexpr double kRouterBackward = 12.0;
// Un-fused backward passes read what forward recomputed.
constexpr double kUnfusedBackwardRatio = 1.5;

// Returns a parameter of all experts of a layer: a matrix [rows, columns] each, of which a rank
// holds [rank_rows, rank_columns] of `rank_experts`.
OperatorParameter OfExperts(const BlockShape& shape, const OperatorParameter& each) {
  OperatorParameter parameter = each;
  parameter.experts = shape.experts.count;
  parameter.rank_experts = shape.rank_experts();
  parameter.expert_division = each.division;
  parameter.rows *= shape.experts.count;
  parameter.rank_rows *= shape.rank_experts();
  parameter.division = Division::kRows;
  parameter.divided_over = GroupRole::kExperts;
  parameter.reduced_over = GroupRole::kExpertReplicas;
  return parameter;
}

class ExpertBuilder : public OperatorBuilder {
 public:
  using OperatorBuilder::OperatorBuilder;

  void Experts() {
    Router();
    if (s_.experts.latent > 0) ToLatent();
    Dispatch();
    GateUpProjection();
    Activation();
    DownProjection();
    Combine();
    if (s_.experts.latent > 0) FromLatent();
  }

 private:
  // Returns the width of the rows that experts take and give.
  int64_t width() const { return s_.expert_input_width(); }
  int64_t StreamBytes() const { return RowBytes(s_.stream_tokens(), width()); }
  bool gated() const { return IsGated(s_.ffn); }
  int64_t RowBytes(int64_t rows, int64_t width) const { return rows * width * s_.element_bytes; }

  // Returns the bytes of logits and scores, or for Meshwright's worker of the logits as the
  // router's product made them.
  int64_t ScoreBytes() const {
    const int64_t scores = s_.stream_tokens() * s_.experts.count;
    return s_.lists_routing() ? scores * s_.element_bytes : 2 * scores * s_.accumulator_bytes();
  }

  // Returns the bytes kept for each token that an expert takes. The worker lists, in 4 bytes each,
  // its expert, its row and the rows' tokens, and its position among the rank's rows if it comes
  // from another rank; and its weight, on both sides. A balance loss needs for each sequence how
  // often an expert was picked.
  int64_t RoutingBytes() const {
    if (!s_.lists_routing()) {
      return static_cast<int64_t>(s_.routing_bytes * static_cast<double>(s_.sent_rows()));
    }
    constexpr int64_t kIndex = 4;
    const int64_t order = s_.moves_rows() ? kIndex : 0;
    const int64_t sequences = s_.experts.balance_loss > 0.0 ? s_.tokens * s_.cp / s_.keys : 0;
    return sequences * s_.experts.count * s_.accumulator_bytes() +
           s_.slots() * (2 * kIndex + s_.accumulator_bytes()) + s_.sent_rows() * kIndex +
           s_.routed_rows() * (order + s_.accumulator_bytes());
  }

  int64_t Scores() const { return s_.experts.count + s_.experts.router_extra; }

  static OperatorParameter RouterMatrix(std::string_view name, int64_t rows, int64_t columns) {
    OperatorParameter matrix = Whole(name, rows, columns);
    matrix.whole_gradient = true;
    return matrix;
  }

  // Two products as wide as the router inside, and one to the scores, with biases and a norm.
  void RouterLayers() {
    const int64_t width = s_.experts.router_hidden;
    Operator& op = Matmul(OperatorName::kRouter, 2 * width + Scores(), width);
    op.matmul.rows = s_.stream_tokens();
    op.parameters.push_back(RouterMatrix("router_layers", 2 * width + Scores(), width));
    op.parameters.push_back(Vector("router_vectors", 5 * width));
    Save(op, KeptTensor::kRouterScores, 4 * s_.stream_tokens() * width * s_.element_bytes, op.name,
         kWeightGradient);
  }

  void Router() {
    const int64_t inner = s_.experts.router_hidden;
    const int64_t outputs = inner > 0 ? inner : Scores();
    Operator& op = Matmul(OperatorName::kRouter, outputs, s_.hidden);
    const int64_t tokens = s_.stream_tokens();
    op.matmul.rows = tokens;
    op.parameters.push_back(RouterMatrix("router", outputs, s_.hidden));
    if (s_.experts.router_bias) op.parameters.push_back(Vector("router_bias", s_.experts.count));
    if (s_.experts.shared_gate) op.parameters.push_back(Vector("shared_gate", s_.hidden));
    // Per element of the router's matrix, which has `hidden` for each expert's score.
    const double scores = static_cast<double>(tokens) / static_cast<double>(s_.hidden);
    op.stream.traffic_bytes[static_cast<size_t>(kForward)] += kRouterForward * scores;
    op.stream.traffic_bytes[static_cast<size_t>(kInputGradient)] += kRouterBackward * scores;
    Save(op, KeptTensor::kFfnNormOutput, stream_bytes_, op.name, kWeightGradient);
    op.pass(kForward).result_bytes = ScoreBytes();
    op.pass(kInputGradient).result_bytes = stream_bytes_;
    Save(op, KeptTensor::kRouterScores, ScoreBytes(), op.name, kWeightGradient);
    Save(op, KeptTensor::kRouting, RoutingBytes(), op.name, kInputGradient);
    if (inner > 0) RouterLayers();
  }

  // Every token passes the projections to the latent and back.
  void ToLatent() {
    Operator& op = Matmul(OperatorName::kExpertLatentProjection, width(), s_.hidden);
    op.matmul.rows = s_.stream_tokens();
    op.parameters.push_back(Whole("expert_latent_down", width(), s_.hidden));
    if (s_.experts.latent_norms) op.parameters.push_back(Vector("expert_latent_norm", width()));
    op.pass(kForward).result_bytes = StreamBytes();
    op.pass(kInputGradient).result_bytes = stream_bytes_;
    Save(op, KeptTensor::kExpertLatent, StreamBytes(), OperatorName::kExpertDispatch,
         kInputGradient);
  }

  void FromLatent() {
    Operator& op = Matmul(OperatorName::kExpertLatentOutput, s_.hidden, width());
    op.matmul.rows = s_.stream_tokens();
    op.parameters.push_back(Whole("expert_latent_up", s_.hidden, width()));
    if (s_.experts.latent_norms) op.parameters.push_back(Vector("expert_sum_norm", width()));
    op.pass(kForward).result_bytes = stream_bytes_;
    op.pass(kInputGradient).result_bytes = StreamBytes();
    Save(op, KeptTensor::kExpertLatent, StreamBytes(), op.name, kWeightGradient);
  }

  // Rows are sorted by destination rank, and for each rank by expert.
  void AddPermutes(Operator& op) {
    op.stream = {.elements = s_.routed_rows() / s_.etp * width(),
                 .traffic_bytes = {kPermute, kPermute, 0.0}};
    if (s_.ep > 1) {
      op.stream.traffic_bytes = {2.0 * kPermute, 2.0 * kPermute, 0.0};
    }
  }

  void AddExchange(Operator& op, PassKind pass) {
    if (s_.ep == 1) return;
    const int64_t rows = std::max(s_.sent_rows(), s_.routed_rows() / s_.etp);
    op.pass(pass).collectives.push_back({.kind = CollectiveKind::kAllToAll,
                                         .group = GroupRole::kExperts,
                                         .bytes = RowBytes(rows, width())});
  }

  void AddExpertTensor(Operator& op, PassKind pass, CollectiveKind kind) {
    if (s_.etp == 1) return;
    op.pass(pass).collectives.push_back({.kind = kind,
                                         .group = GroupRole::kExpertTensor,
                                         .bytes = RowBytes(s_.routed_rows(), width())});
  }

  void Dispatch() {
    Operator& op = Add(OperatorName::kExpertDispatch, OperatorKind::kElementwise);
    AddPermutes(op);
    AddExchange(op, kForward);
    AddExpertTensor(op, kForward, CollectiveKind::kAllGather);
    AddExpertTensor(op, kInputGradient, CollectiveKind::kReduceScatter);
    AddExchange(op, kInputGradient);
    op.pass(kForward).result_bytes = RowBytes(s_.routed_rows(), width());
    op.pass(kInputGradient).result_bytes = StreamBytes();
    SaveNarrowed(op, KeptTensor::kExpertInput,
                 KeptInputBytes(s_.routed_rows(), width(), s_.rank_experts()),
                 OperatorName::kExpertGateUpProjection);
  }

  // Each of the rank's experts multiplies its own rows.
  Operator& Product(OperatorName name, int64_t outputs, int64_t inputs) {
    Operator& op = Matmul(name, outputs, inputs);
    op.matmul.rows = s_.routed_rows();
    op.matmul.groups = s_.rank_experts();
    op.stream.elements = s_.rank_experts() * outputs * inputs;
    op.pass(kForward).result_bytes = RowBytes(s_.routed_rows(), outputs);
    op.pass(kInputGradient).result_bytes = RowBytes(s_.routed_rows(), inputs);
    Narrow(op, s_.routed_rows() / s_.rank_experts());
    return op;
  }

  void AddBias(Operator& op, const OperatorParameter& bias) {
    if (s_.ffn_bias) op.parameters.push_back(OfExperts(s_, bias));
  }

  void GateUpProjection() {
    Operator& op =
        Product(OperatorName::kExpertGateUpProjection, s_.expert_gate_up_width(), width());
    const int64_t inner = s_.expert_hidden;
    if (gated()) {
      op.parameters.push_back(
          OfExperts(s_, Rows("expert_gate", inner, s_.expert_width(), width())));
      AddBias(op, Bias("expert_gate_bias", inner, s_.expert_width()));
    }
    op.parameters.push_back(OfExperts(s_, Rows("expert_up", inner, s_.expert_width(), width())));
    AddBias(op, Bias("expert_up_bias", inner, s_.expert_width()));
    if (s_.worker_quantises) return;
    Save(op, KeptTensor::kExpertInput, KeptInputBytes(s_.routed_rows(), width()), op.name,
         kWeightGradient);
  }

  void Activation() {
    Operator& op = Add(OperatorName::kExpertActivation, OperatorKind::kElementwise);
    const int64_t elements = s_.routed_rows() * s_.expert_width();
    op.stream = ActivationStream(elements);
    if (s_.ffn_bias && s_.expert_bias_traffic_bytes > 0.0) {
      op.stream.traffic_bytes = {s_.expert_bias_traffic_bytes,
                                 kUnfusedBackwardRatio * s_.expert_bias_traffic_bytes, 0.0};
    }
    const int64_t bytes = elements * s_.element_bytes;
    constexpr OperatorName kGateUp = OperatorName::kExpertGateUpProjection;
    if (gated()) Save(op, KeptTensor::kExpertGate, bytes, kGateUp, kWeightGradient);
    if (s_.ffn != FfnKind::kRelu) Save(op, KeptTensor::kExpertUp, bytes, kGateUp, kWeightGradient);
    if (gated() && !s_.fused_swiglu) {
      Save(op, KeptTensor::kExpertSiluGate, bytes, op.name, kInputGradient);
    }
    SaveNarrowed(op, KeptTensor::kExpertProduct,
                 KeptInputBytes(s_.routed_rows(), s_.expert_width(), s_.rank_experts()),
                 OperatorName::kExpertDownProjection);
    op.pass(kForward).result_bytes = bytes;
  }

  void DownProjection() {
    Operator& op = Product(OperatorName::kExpertDownProjection, width(), s_.expert_width());
    op.parameters.push_back(
        OfExperts(s_, Columns("expert_down", width(), s_.expert_hidden, s_.expert_width())));
    AddBias(op, Vector("expert_down_bias", width()));
    if (s_.keeps_ffn_product && !s_.worker_quantises) {
      Save(op, KeptTensor::kExpertProduct, KeptInputBytes(s_.routed_rows(), s_.expert_width()),
           op.name, kWeightGradient);
    }
  }

  void Combine() {
    Operator& op = Add(OperatorName::kExpertCombine, OperatorKind::kElementwise);
    AddPermutes(op);
    AddExpertTensor(op, kForward, CollectiveKind::kReduceScatter);
    AddExchange(op, kForward);
    AddExchange(op, kInputGradient);
    AddExpertTensor(op, kInputGradient, CollectiveKind::kAllGather);
    op.pass(kForward).result_bytes = StreamBytes();
    op.pass(kInputGradient).result_bytes = RowBytes(s_.routed_rows(), width());
    if (s_.keeps_expert_output) {
      Save(op, KeptTensor::kExpertOutput, RowBytes(s_.sent_rows(), width()), op.name,
           kInputGradient);
    }
  }
};

}  // namespace

void AddExperts(const BlockShape& shape, OperatorList& operators) {
  ExpertBuilder(shape, operators).Experts();
}

}  // namespace meshwright::planner
