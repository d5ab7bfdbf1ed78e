#include "executor/worker/model/attention_sinks.h"

namespace meshwright::worker {
namespace {

// Returns the sinks of a call's heads: `call` and every calls()-th after it.
const void* SinksOfCall(const at::Tensor& sinks, int64_t call) {
  return sinks.narrow(0, call, sinks.size(0) - call).const_data_ptr();
}

}  // namespace

void JoinSinks(const RankContext& context, const AttentionShape& shape, const at::Tensor& sinks,
               const AttentionResult& attention) {
  const at::Tensor output = HeadsOfOutput(shape, attention.output);
  for (int64_t call = 0; call < shape.calls(); ++call) {
    const at::Tensor heads = HeadsOfCall(shape, output, call);
    const at::Tensor& log_sum_exp = attention.statistics[static_cast<size_t>(call)].log_sum_exp;
    context.device->kernels().Run(
        kernels::AttentionSink{.type = context.element(),
                               .batch = heads.size(0),
                               .queries = heads.size(1),
                               .heads = heads.size(2),
                               .head_dim = heads.size(3),
                               .sinks = SinksOfCall(sinks, call),
                               .sink_stride = shape.calls(),
                               .output = heads.mutable_data_ptr(),
                               .output_strides = StridesOfHeads(heads),
                               .log_sum_exp = log_sum_exp.mutable_data_ptr(),
                               .log_sum_exp_strides = StridesOfStatistic(log_sum_exp)});
  }
}

void AddSinkGradient(const RankContext& context, const AttentionShape& shape,
                     const at::Tensor& sinks, const AttentionResult& attention,
                     const at::Tensor& doutput, const at::Tensor& gradient) {
  for (int64_t call = 0; call < shape.calls(); ++call) {
    const at::Tensor heads = HeadsOfCall(shape, HeadsOfOutput(shape, attention.output), call);
    const at::Tensor dheads = HeadsOfCall(shape, HeadsOfOutput(shape, doutput), call);
    const at::Tensor& log_sum_exp = attention.statistics[static_cast<size_t>(call)].log_sum_exp;
    context.device->kernels().Run(kernels::AttentionSinkGradient{
        .type = context.element(),
        .batch = heads.size(0),
        .queries = heads.size(1),
        .heads = heads.size(2),
        .head_dim = heads.size(3),
        .sinks = SinksOfCall(sinks, call),
        .sink_stride = shape.calls(),
        .output = heads.const_data_ptr(),
        .output_strides = StridesOfHeads(heads),
        .doutput = dheads.const_data_ptr(),
        .doutput_strides = StridesOfHeads(dheads),
        .log_sum_exp = log_sum_exp.const_data_ptr(),
        .log_sum_exp_strides = StridesOfStatistic(log_sum_exp),
        .sink_gradient = gradient.narrow(0, call, gradient.size(0) - call).mutable_data_ptr()});
  }
}

}  // namespace meshwright::worker
