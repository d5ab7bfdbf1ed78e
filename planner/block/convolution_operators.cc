#include "planner/block/convolution_operators.h"

#include "planner/block/operator_builder.h"

namespace meshwright::planner {
namespace {

// Traffic in bytes per element of 2 bytes: forward reads and writes each channel once; backward
// also reads the inputs.
constexpr double kForwardTraffic = 4.0;
constexpr double kBackwardTraffic = 8.0;

class ConvolutionBuilder : public OperatorBuilder {
 public:
  using OperatorBuilder::OperatorBuilder;

  // Each channel sees its own last values. A second convolution mixes the channels of a head.
  void Convolutions() {
    const bool of_queries = s_.query_key_conv > 0;
    const int64_t keys = s_.kv_heads * s_.head_dim;
    const int64_t all =
        keys + (of_queries ? s_.heads * s_.head_dim : s_.kv_heads * s_.value_head_dim());
    const int64_t own = s_.key_width() + (of_queries ? s_.query_width() : s_.value_width());
    Operator& op = Add(OperatorName::kMixerConvolution, OperatorKind::kElementwise);
    op.stream = {.elements = s_.tokens * own,
                 .traffic_bytes = {kForwardTraffic, kBackwardTraffic, 0.0}};
    // The convolution of queries and keys has a bias.
    const int64_t of_channel = of_queries ? s_.query_key_conv + 1 : s_.key_value_conv;
    op.parameters.push_back(Bias("convolution", of_channel * all, of_channel * own));
    if (s_.head_conv > 0) {
      const int64_t of_head_channel = s_.head_conv * s_.head_dim + 1;
      op.parameters.push_back(
          Bias("head_convolution", of_head_channel * all, of_head_channel * own));
    }
    const int64_t bytes = s_.tokens * own * s_.element_bytes;
    op.pass(kForward).result_bytes = bytes;
    const int64_t convolutions = s_.head_conv > 0 ? 2 : 1;
    Save(op, KeptTensor::kMixerInput, convolutions * bytes, op.name, kInputGradient);
  }
};

}  // namespace

void AddConvolutions(const BlockShape& shape, OperatorList& operators) {
  if (shape.query_key_conv == 0 && shape.key_value_conv == 0) return;
  ConvolutionBuilder(shape, operators).Convolutions();
}

}  // namespace meshwright::planner
