#include "planner/spec/parameters.h"

namespace meshwright::planner {

int64_t AttentionParameters(const ModelSpec& model) {
  const int64_t query = model.heads * model.head_dim;
  const int64_t key = model.kv_heads * model.head_dim;
  const int64_t matrices = model.hidden * query + 2 * model.hidden * key + query * model.hidden;
  return matrices + (model.qkv_bias ? query + 2 * key : 0);
}

int64_t FfnParameters(const ModelSpec& model, const LayerGroup& group) {
  const int64_t matrices = group.ffn == FfnKind::kSwiGlu ? 3 : 2;
  return matrices * model.hidden * group.ffn_hidden;
}

int64_t NormParameters(const ModelSpec& model) {
  return 2 * model.hidden + (model.qk_norm ? 2 * model.head_dim : 0);
}

int64_t EmbeddingParameters(const ModelSpec& model) { return model.vocab * model.hidden; }

int64_t Parameters(const ModelSpec& model) {
  int64_t count = model.hidden + EmbeddingParameters(model) * (model.tied_embeddings ? 1 : 2);
  for (const LayerGroup& group : model.groups) {
    count += group.count *
             (AttentionParameters(model) + FfnParameters(model, group) + NormParameters(model));
  }
  return count;
}

double PalmStepFlops(const ModelSpec& model, const TrainingSpec& training) {
  const int64_t both = Parameters(model) + (model.tied_embeddings ? EmbeddingParameters(model) : 0);
  const double tokens =
      static_cast<double>(training.global_batch) * static_cast<double>(training.seq_len);
  const double attention = 12.0 * static_cast<double>(model.layers()) *
                           static_cast<double>(model.heads * model.head_dim) *
                           static_cast<double>(training.seq_len);
  return tokens * (6.0 * static_cast<double>(both) + attention);
}

double CausalStepFlops(const ModelSpec& model, const TrainingSpec& training) {
  const double tokens =
      static_cast<double>(training.global_batch) * static_cast<double>(training.seq_len);
  const int64_t biases = model.qkv_bias ? (model.heads + 2 * model.kv_heads) * model.head_dim : 0;
  double matrices = static_cast<double>(EmbeddingParameters(model));
  for (const LayerGroup& group : model.groups) {
    matrices +=
        static_cast<double>(group.count) *
        static_cast<double>(AttentionParameters(model) - biases + FfnParameters(model, group));
  }
  const double attention = 6.0 * static_cast<double>(model.layers()) *
                           static_cast<double>(model.heads * model.head_dim) *
                           static_cast<double>(training.seq_len);
  return tokens * (6.0 * matrices + attention);
}

}  // namespace meshwright::planner
