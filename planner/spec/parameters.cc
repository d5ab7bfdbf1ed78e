#include "planner/spec/parameters.h"

namespace meshwright::planner {

namespace {

int64_t BiasParameters(const Attention& attention) {
  return attention.qkv_bias ? attention.query_width() + 2 * attention.key_width() : 0;
}

// Widths of all layers' queries together.
int64_t QueryWidths(const ModelSpec& model) {
  int64_t width = 0;
  for (const LayerGroup& group : model.groups) width += group.count * group.attention.query_width();
  return width;
}

}  // namespace

int64_t AttentionParameters(const ModelSpec& model, const LayerGroup& group) {
  const int64_t query = group.attention.query_width();
  const int64_t key = group.attention.key_width();
  const int64_t matrices = model.hidden * query + 2 * model.hidden * key + query * model.hidden;
  return matrices + BiasParameters(group.attention);
}

int64_t FfnParameters(const ModelSpec& model, const LayerGroup& group) {
  const int64_t matrices = group.ffn.gated() ? 3 : 2;
  return matrices * model.hidden * group.ffn.hidden;
}

int64_t NormParameters(const ModelSpec& model, const LayerGroup& group) {
  return 2 * model.hidden + (group.attention.qk_norm ? 2 * group.attention.head_dim : 0);
}

int64_t EmbeddingParameters(const ModelSpec& model) { return model.vocab * model.hidden; }

int64_t Parameters(const ModelSpec& model) {
  int64_t count = model.hidden + EmbeddingParameters(model) * (model.tied_embeddings ? 1 : 2);
  for (const LayerGroup& group : model.groups) {
    count += group.count * (AttentionParameters(model, group) + FfnParameters(model, group) +
                            NormParameters(model, group));
  }
  return count;
}

double PalmStepFlops(const ModelSpec& model, const TrainingSpec& training) {
  const int64_t both = Parameters(model) + (model.tied_embeddings ? EmbeddingParameters(model) : 0);
  const double tokens =
      static_cast<double>(training.global_batch) * static_cast<double>(training.seq_len);
  const double attention =
      12.0 * static_cast<double>(QueryWidths(model)) * static_cast<double>(training.seq_len);
  return tokens * (6.0 * static_cast<double>(both) + attention);
}

double CausalStepFlops(const ModelSpec& model, const TrainingSpec& training) {
  const double tokens =
      static_cast<double>(training.global_batch) * static_cast<double>(training.seq_len);
  double matrices = static_cast<double>(EmbeddingParameters(model));
  for (const LayerGroup& group : model.groups) {
    matrices += static_cast<double>(group.count) *
                static_cast<double>(AttentionParameters(model, group) -
                                    BiasParameters(group.attention) + FfnParameters(model, group));
  }
  const double attention =
      6.0 * static_cast<double>(QueryWidths(model)) * static_cast<double>(training.seq_len);
  return tokens * (6.0 * matrices + attention);
}

}  // namespace meshwright::planner
