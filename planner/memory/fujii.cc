#include "planner/memory/fujii.h"

#include <algorithm>

namespace meshwright::planner {

double FujiiStateBytesPerParameter(bool distributed_optimizer, int64_t sharding_ranks) {
  if (!distributed_optimizer) return 18.0;
  return 6.0 + 12.0 / static_cast<double>(sharding_ranks);
}

double FujiiActivationBytesPerLayer(const ModelSpec& model, const LayerGroup& group,
                                    const Layout& layout, int64_t seq_len) {
  const auto hidden = static_cast<double>(model.hidden);
  const double key_share = !group.attention.exists()
                               ? 0.0
                               : static_cast<double>(group.attention.kv_heads) /
                                     static_cast<double>(group.attention.heads);
  const double ffn_share = static_cast<double>(group.ffn.hidden) / hidden;
  const double token_width =
      static_cast<double>(seq_len) * static_cast<double>(layout.micro_batch) * hidden;
  return token_width * (12.0 + 4.0 * key_share + 8.0 * ffn_share) /
         (static_cast<double>(layout.tp) * static_cast<double>(layout.cp));
}

double FujiiFirstStageActivationBytes(const ModelSpec& model, const Layout& layout,
                                      const TrainingSpec& training) {
  const int64_t in_flight =
      std::min<int64_t>(layout.MicroBatches(training.global_batch), layout.pp);
  double all_layers = 0.0;
  for (const LayerGroup& group : model.groups) {
    all_layers += static_cast<double>(group.count) *
                  FujiiActivationBytesPerLayer(model, group, layout, training.seq_len);
  }
  return all_layers / static_cast<double>(layout.pp) * static_cast<double>(in_flight);
}

}  // namespace meshwright::planner
