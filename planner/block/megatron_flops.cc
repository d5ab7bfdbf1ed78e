#include "planner/block/megatron_flops.h"

#include "planner/block/block.h"
#include "planner/block/pass.h"
#include "planner/block/recurrence_widths.h"

namespace meshwright::planner {
namespace {

// A forward and a backward of twice its FLOPs.
constexpr double kPassesOfStep = 3.0;

double AllPasses(const Operator& op) {
  double flops = 0.0;
  for (const PassKind pass : kPasses) flops += WorkOf(op, pass).flops;
  return flops;
}

double ListFlops(const OperatorList& operators) {
  double flops = 0.0;
  for (const Operator& op : operators) {
    if (op.name != OperatorName::kRouter) flops += AllPasses(op);
  }
  return flops;
}

LayerGroup AsCounted(const LayerGroup& group, int64_t hidden) {
  LayerGroup counted = group;
  if (counted.recurrence.kind == RecurrenceKind::kMamba2) {
    counted.recurrence.heads = 2 * hidden / counted.recurrence.value_dim;
  }
  return counted;
}

double LayerFlops(const ModelSpec& model, const LayerGroup& group, int64_t seq_len) {
  const LayerGroup counted = AsCounted(group, model.hidden);
  const OperatorList operators = BlockOperators(WholeShape(model, counted, seq_len));
  const RecurrenceWidths widths = WidthsOf(counted.recurrence, model.hidden, 1);
  if (widths.counted_flops == 0.0) return ListFlops(operators);
  const Operator* core = Find(operators, OperatorName::kMixerCore);
  return ListFlops(operators) + kPassesOfStep * widths.counted_flops -
         (core == nullptr ? 0.0 : AllPasses(*core));
}

}  // namespace

double MegatronStepFlops(const ModelSpec& model, const TrainingSpec& training) {
  const LayerGroup& any = model.groups.front();
  const double head = ListFlops(HeadOperators(WholeShape(model, any, 1)));
  double token = head;
  for (const LayerGroup& group : model.groups) {
    token += static_cast<double>(group.count) * LayerFlops(model, group, training.seq_len);
  }
  const auto further = static_cast<double>(model.mtp_layers);
  if (further > 0.0) {
    const LayerGroup& layer = model.MtpLayer();
    token += further * (head + LayerFlops(model, layer, training.seq_len) +
                        ListFlops(MtpOperators(WholeShape(model, layer, 1))));
  }
  return token * static_cast<double>(training.global_batch) * static_cast<double>(training.seq_len);
}

}  // namespace meshwright::planner
