#include "planner/block/stream_operators.h"

#include "planner/block/operator_builder.h"

namespace meshwright::planner {
namespace {

class StreamBuilder : public OperatorBuilder {
 public:
  using OperatorBuilder::OperatorBuilder;

  // Each stream, the half's input and the half's result are read and written.
  void Mix(OperatorName name) {
    const int64_t n = s_.residual_streams;
    const int64_t weights = (2 + n) * n;
    Operator& op = Matmul(name, weights, n * s_.hidden);
    op.matmul.rows = s_.stream_tokens();
    op.stream = {
        .elements = stream_elements_,
        .traffic_bytes = {4.0 * static_cast<double>(n + 1), 6.0 * static_cast<double>(n + 1), 0.0}};
    op.parameters.push_back(Whole("stream_weights", weights, n * s_.hidden));
    op.parameters.push_back(Vector("stream_bias", weights + 3));
    op.pass(kForward).result_bytes = stream_bytes_;
    op.pass(kInputGradient).result_bytes = n * stream_bytes_;
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
};

}  // namespace

void AddStreamMix(const BlockShape& shape, OperatorName name, OperatorList& operators) {
  StreamBuilder(shape, operators).Mix(name);
}

void AddLayerInput(const BlockShape& shape, OperatorList& operators) {
  StreamBuilder(shape, operators).LayerInput();
}

}  // namespace meshwright::planner
