#include "planner/block/stream_operators.h"

#include "planner/block/operator_builder.h"

namespace meshwright::planner {
namespace {

// Traffic in bytes per element of 2 bytes: of a gate, of a convolution over tokens, and of a norm
// with an addition.
constexpr double kGateForward = 6.0;
constexpr double kGateBackward = 10.0;
constexpr double kConvolutionForward = 4.0;
constexpr double kConvolutionBackward = 8.0;
constexpr double kAddNorm = 10.0;
constexpr double kAddNormBackward = 12.0;

class StreamBuilder : public OperatorBuilder {
 public:
  using OperatorBuilder::OperatorBuilder;

  // Each stream, the half's input and the half's result are read and written.
  void Mix(OperatorName name) {
    const int64_t n = s_.residual_streams;
    const bool is_mixed = s_.stream_kind == StreamKind::kHyperConnections;
    const int64_t weights = (is_mixed ? 2 + n : 2) * n;
    Operator& op = Matmul(name, weights, n * s_.hidden);
    op.matmul.rows = s_.stream_tokens();
    op.stream = {
        .elements = stream_elements_,
        .traffic_bytes = {4.0 * static_cast<double>(n + 1), 6.0 * static_cast<double>(n + 1), 0.0}};
    op.parameters.push_back(Whole("stream_weights", weights, n * s_.hidden));
    op.parameters.push_back(Vector("stream_bias", weights + (is_mixed ? 3 : 2)));
    op.pass(kForward).result_bytes = stream_bytes_;
    op.pass(kInputGradient).result_bytes = n * stream_bytes_;
  }

  // The weights come from the layer's own stream; each stream is read and written.
  void Predict() {
    const int64_t n = s_.residual_streams;
    Operator& op = Router(OperatorName::kAttentionStreams);
    op.stream = Streams(4.0, 6.0);
    op.parameters.push_back(Vector("stream_router_norm", s_.hidden));
    op.parameters.push_back(Whole("stream_router", n, s_.hidden));
    op.parameters.push_back(Whole("stream_prediction", n * n, n));
    op.pass(kForward).result_bytes = n * stream_bytes_;
    op.pass(kInputGradient).result_bytes = n * stream_bytes_;
    Save(op, KeptTensor::kAttentionResidual, n * stream_bytes_, op.name, kWeightGradient);
  }

  // The router runs again, on what the layer made of its stream.
  void Correct() {
    const int64_t n = s_.residual_streams;
    Operator& op = Router(OperatorName::kFfnStreams);
    op.stream = Streams(4.0, 6.0);
    op.parameters.push_back(Whole("stream_correction", n, n));
    op.parameters.push_back(Vector("stream_scale", s_.hidden));
    op.pass(kForward).result_bytes = n * stream_bytes_;
    op.pass(kInputGradient).result_bytes = n * stream_bytes_;
    // What the layer changed, and what the router read.
    Save(op, KeptTensor::kStreams, 2 * stream_bytes_, op.name, kInputGradient);
  }

  void Laurel() {
    const int64_t rank = s_.laurel_rank;
    Operator& op = Matmul(OperatorName::kLaurel, 2 * rank, s_.hidden);
    op.matmul.rows = s_.stream_tokens();
    op.stream.elements = stream_elements_;
    op.stream.traffic_bytes = {kAddNorm, kAddNormBackward, 0.0};
    op.parameters.push_back(Whole("laurel_left", rank, s_.hidden));
    op.parameters.push_back(Whole("laurel_right", s_.hidden, rank));
    op.parameters.push_back(Vector("laurel_norm", s_.hidden));
    op.pass(kForward).result_bytes = stream_bytes_;
    op.pass(kInputGradient).result_bytes = stream_bytes_;
    Save(op, KeptTensor::kLaurel, s_.stream_tokens() * rank * s_.element_bytes + stream_bytes_,
         op.name, kWeightGradient);
  }

  void NormGate(OperatorName norm) {
    Operator& op = Add(norm, OperatorKind::kNorm);
    op.stream = {.elements = stream_elements_, .traffic_bytes = {kGateForward, kGateBackward, 0.0}};
    op.parameters.push_back(Whole("norm_gate_down", s_.norm_gate_rank, s_.hidden));
    op.parameters.push_back(Whole("norm_gate_up", s_.hidden, s_.norm_gate_rank));
    op.pass(kForward).result_bytes = stream_bytes_;
    // The norm's result, and the gate.
    Save(op, KeptTensor::kNormIntermediates, 2 * stream_bytes_, norm, kInputGradient);
  }

  void ResidualParts(Operator& op) {
    if (s_.branch_conv > 0) {
      op.parameters.push_back(Vector("branch_convolution", s_.branch_conv * s_.hidden));
      op.stream.traffic_bytes[static_cast<size_t>(kForward)] += kConvolutionForward;
      op.stream.traffic_bytes[static_cast<size_t>(kInputGradient)] += kConvolutionBackward;
      Save(op, KeptTensor::kExtras, stream_bytes_, op.name, kInputGradient);
    }
    if (!s_.residual_scales) return;
    op.parameters.push_back(Vector("residual_scales", 4 * s_.hidden));
    Save(op, KeptTensor::kExtras, 2 * stream_bytes_, op.name, kInputGradient);
  }

  void LayerInput() {
    const int64_t width = s_.layer_input;
    Operator& op = Matmul(OperatorName::kLayerInput, 2 * width, s_.hidden);
    op.matmul.rows = s_.stream_tokens();
    op.parameters.push_back(Whole("layer_input_gate", width, s_.hidden));
    op.parameters.push_back(Whole("layer_input_projection", s_.hidden, width));
    op.parameters.push_back(Vector("layer_input_norm", s_.hidden));
    op.pass(kForward).result_bytes = stream_bytes_;
    op.pass(kInputGradient).result_bytes = stream_bytes_;
    // The gate, the embedding and their product, and the input of the norm.
    Save(op, KeptTensor::kLayerInput,
         s_.stream_tokens() * (3 * width + 2 * s_.hidden) * s_.element_bytes, op.name,
         kWeightGradient);
  }

 private:
  // The product that gives the weights of AltUp's streams.
  Operator& Router(OperatorName name) {
    Operator& op = Matmul(name, s_.residual_streams, s_.hidden);
    op.matmul.rows = s_.stream_tokens();
    return op;
  }
  StreamShape Streams(double forward_bytes, double backward_bytes) const {
    const auto n = static_cast<double>(s_.residual_streams);
    return {.elements = stream_elements_,
            .traffic_bytes = {forward_bytes * n, backward_bytes * n, 0.0}};
  }
};

}  // namespace

void AddStreamMix(const BlockShape& shape, OperatorName name, OperatorList& operators) {
  StreamBuilder(shape, operators).Mix(name);
}

void AddStreamPrediction(const BlockShape& shape, OperatorList& operators) {
  StreamBuilder(shape, operators).Predict();
}

void AddStreamCorrection(const BlockShape& shape, OperatorList& operators) {
  StreamBuilder(shape, operators).Correct();
}

void AddNormGate(const BlockShape& shape, OperatorName norm, OperatorList& operators) {
  StreamBuilder(shape, operators).NormGate(norm);
}

void AddResidualParts(const BlockShape& shape, OperatorList& operators) {
  StreamBuilder(shape, operators).ResidualParts(operators[operators.size() - 1]);
}

void AddLaurel(const BlockShape& shape, OperatorList& operators) {
  StreamBuilder(shape, operators).Laurel();
}

void AddLayerInput(const BlockShape& shape, OperatorList& operators) {
  StreamBuilder(shape, operators).LayerInput();
}

}  // namespace meshwright::planner
