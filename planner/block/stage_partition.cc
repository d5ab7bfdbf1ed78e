#include "planner/block/stage_partition.h"

#include <cmath>
#include <limits>

#include "planner/block/parameters.h"
#include "planner/containers/memo.h"
#include "planner/schedule/placement.h"

namespace meshwright::planner {
namespace {

// A search visits all modes of a pipeline before the next one.
constexpr size_t kTablesOfASearch = 4;

int64_t StagesOf(const Layout& layout) { return int64_t{layout.pp} * layout.vpp; }

// Costs of a layer and of the head, in one unit.
struct ModelCost {
  double layer = 0.0;
  double head = 0.0;

  friend bool operator==(const ModelCost&, const ModelCost&) = default;
};

// The division of a model's layers into stages, independent of the kinds of the layers.
struct Cut {
  StagePartition partition = StagePartition::kEqual;
  int64_t stages = 1;
  int64_t layers = 0;
  ModelCost cost = {};    // under kByCost
  StageSplit split = {};  // overrides the partition where it is not empty
  // Stages at either end that hold a part of the embedding or of the head: one for each rank if the
  // schedule divides the vocabulary.
  int64_t ends = 1;

  friend bool operator==(const Cut&, const Cut&) = default;
};

Cut CutOf(const ModelSpec& model, int64_t layers, const Layout& layout, StagePartition partition) {
  Cut cut = {
      .partition = partition, .stages = StagesOf(layout), .layers = layers, .split = layout.stages};
  if (DividesVocabulary(layout.schedule)) cut.ends = layout.pp;
  if (partition == StagePartition::kByCost) {
    cut.cost = {.layer = static_cast<double>(ProjectionParameters(model, model.groups.front())),
                .head = static_cast<double>(EmbeddingParameters(model))};
  }
  return cut;
}

// Returns the layers that the first `stages_done` stages hold: as many as reach their share.
int64_t LayersByCost(const Cut& cut, int64_t stages_done) {
  if (stages_done >= cut.stages) return cut.layers;
  const double total = static_cast<double>(cut.layers) * cut.cost.layer + cut.cost.head;
  const double share =
      total * static_cast<double>(stages_done) / static_cast<double>(cut.stages) / cut.cost.layer;
  // A share that ends on a layer's border ends the stage there despite rounding.
  return std::min(cut.layers, static_cast<int64_t>(std::ceil(share - 1e-9)));
}

StageLayers ByCostStage(const Cut& cut, int64_t stage) {
  const int64_t first = LayersByCost(cut, stage);
  return {.first_layer = first,
          .layer_count = LayersByCost(cut, stage + 1) - first,
          .has_embedding = stage == 0,
          .has_head = stage == cut.stages - 1};
}

// Cuts a list of items into equal parts; of the remainder the first parts get one item each.
// `before` of the items precede the first layer.
StageLayers ItemsStage(const Cut& cut, int64_t items, int64_t before, int64_t stage) {
  const int64_t per_stage = items / cut.stages;
  const int64_t longer = items % cut.stages;
  const int64_t begin = stage * per_stage + std::min(stage, longer);
  const int64_t end = begin + per_stage + (stage < longer ? 1 : 0);
  const int64_t first = std::clamp<int64_t>(begin - before, 0, cut.layers);
  const int64_t last = std::clamp<int64_t>(end - before, 0, cut.layers);
  return {.first_layer = first,
          .layer_count = last - first,
          .has_embedding = begin == 0,
          .has_head = end == items};
}

StageLayers SplitStage(const Cut& cut, int64_t stage) {
  return {.first_layer = cut.split.LayersBefore(stage),
          .layer_count = cut.split.LayersOf(stage),
          .has_embedding = stage == 0,
          .has_head = stage == cut.stages - 1};
}

StageLayers LayersOfStage(const Cut& cut, int64_t stage) {
  if (!cut.split.empty()) return SplitStage(cut, stage);
  switch (cut.partition) {
    case StagePartition::kByCost:
      return ByCostStage(cut, stage);
    case StagePartition::kItems:
      return ItemsStage(cut, cut.layers + 3, 1, stage);
    case StagePartition::kEqual:
      break;
  }
  if (cut.layers % cut.stages == 0) return ItemsStage(cut, cut.layers, 0, stage);
  return ItemsStage(cut, cut.layers + 2, 1, stage);
}

StageLayers StageOf(const Cut& cut, int64_t stage) {
  StageLayers held = LayersOfStage(cut, stage);
  held.has_embedding |= stage < cut.ends;
  held.has_head |= stage >= cut.stages - cut.ends;
  return held;
}

// What a table depends on.
struct TableQuery {
  Cut cut = {};
  int32_t pp = 1;
  bool turns_back = false;  // the second chunks are in reverse order
  const LayerShapes& shapes;
};
struct TableKey {
  TableKey() = default;
  explicit TableKey(const TableQuery& query)
      : cut(query.cut),
        pp(query.pp),
        turns_back(query.turns_back),
        runs(query.shapes.runs().begin(), query.shapes.runs().end()) {}

  Cut cut;
  int32_t pp = 1;
  bool turns_back = false;
  std::vector<ShapeRun> runs;

  friend bool operator==(const TableKey& key, const TableQuery& query) {
    return key.pp == query.pp && key.turns_back == query.turns_back && key.cut == query.cut &&
           std::equal(key.runs.begin(), key.runs.end(), query.shapes.runs().begin(),
                      query.shapes.runs().end());
  }
};

// Adds layers of a shape to a stage.
template <typename Counts>
void AddLayers(size_t shape, int64_t layers, Counts& counts) {
  for (ShapeRun& known : counts) {
    if (known.shape != shape) continue;
    known.layers += layers;
    return;
  }
  counts.push_back({.shape = shape, .layers = layers});
}

// Returns the shape of each layer of the model.
std::vector<size_t> ShapeOfLayers(const LayerShapes& shapes) {
  std::vector<size_t> of_layers;
  for (const ShapeRun& run : shapes.runs()) {
    of_layers.insert(of_layers.end(), static_cast<size_t>(run.layers), run.shape);
  }
  return of_layers;
}

// `shape_of` are the shapes of the model's layers.
bool AreAlike(const std::vector<size_t>& shape_of, const StageLayers& a, const StageLayers& b) {
  if (a.layer_count != b.layer_count || a.has_embedding != b.has_embedding ||
      a.has_head != b.has_head) {
    return false;
  }
  const auto first_of_a = shape_of.begin() + a.first_layer;
  return std::equal(first_of_a, first_of_a + a.layer_count, shape_of.begin() + b.first_layer);
}

std::shared_ptr<const StageTable> MakeTable(const TableQuery& query, const Layout& layout) {
  auto table = std::make_shared<StageTable>();
  for (int64_t stage = 0; stage < query.cut.stages; ++stage) {
    table->stages.push_back(StageOf(query.cut, stage));
    auto& counts = table->shapes.emplace_back();
    ForEachRun(query.shapes, table->stages.back(),
               [&](size_t shape, int64_t layers) { AddLayers(shape, layers, counts); });
  }
  const std::vector<size_t> shape_of = ShapeOfLayers(query.shapes);
  const auto stage_of = [&](int32_t rank, int32_t chunk) -> const StageLayers& {
    return table->stages[static_cast<size_t>(StageOfChunk(layout, rank, chunk))];
  };
  const auto ranks_alike = [&](int32_t a, int32_t b) {
    for (int32_t chunk = 0; chunk < layout.vpp; ++chunk) {
      if (!AreAlike(shape_of, stage_of(a, chunk), stage_of(b, chunk))) return false;
    }
    return true;
  };
  for (int32_t rank = 0; rank < layout.pp; ++rank) {
    const auto first = std::find_if(table->alike.begin(), table->alike.end(),
                                    [&](int32_t other) { return ranks_alike(rank, other); });
    table->alike.push_back(first == table->alike.end() ? rank : *first);
  }
  return table;
}

}  // namespace

std::shared_ptr<const StageTable> StagesOf(const ModelSpec& model, const LayerShapes& shapes,
                                           const Layout& layout, StagePartition partition) {
  thread_local Memo<TableKey, std::shared_ptr<const StageTable>, kTablesOfASearch> known;
  const TableQuery query = {.cut = CutOf(model, shapes.layers(), layout, partition),
                            .pp = layout.pp,
                            .turns_back = IsV(layout.schedule),
                            .shapes = shapes};
  return known.Get(query, [&] { return MakeTable(query, layout); });
}

StageLayers StageOf(const ModelSpec& model, const Layout& layout, StagePartition partition,
                    int32_t stage) {
  return StageOf(CutOf(model, model.layers(), layout, partition), stage);
}

StageSplit SplitByCost(const ModelSpec& model, int64_t seq_len, int64_t stages) {
  const LayerGroup& layer = model.groups.front();
  // Scores and their product with the values take 2 FLOPs each per token, head width and position;
  // a parameter of a matrix takes 2 as well.
  const double scores = 2.0 * static_cast<double>(seq_len) *
                        static_cast<double>(layer.attention.heads * layer.attention.head_dim);
  const double layer_cost = static_cast<double>(ProjectionParameters(model, layer)) + scores;
  const double head = static_cast<double>(EmbeddingParameters(model)) / layer_cost;
  const int64_t layers = model.layers();
  const auto longest_of_others = [&](int64_t on_last) {
    return (layers - on_last + stages - 2) / (stages - 1);
  };
  int64_t on_last = 0;
  double slowest = std::numeric_limits<double>::infinity();
  for (int64_t count = 0; count <= layers; ++count) {
    const double here =
        std::max(static_cast<double>(count) + head, static_cast<double>(longest_of_others(count)));
    if (here > slowest) continue;  // of equal counts, the one that leaves the others least
    slowest = here;
    on_last = count;
  }
  const int64_t rest = layers - on_last;
  const int64_t each = rest / (stages - 1);
  const int64_t longer = rest % (stages - 1);
  StageSplit split;
  if (!split.Add(stages - 1 - longer, each) || !split.Add(longer, each + 1) ||
      !split.Add(1, on_last)) {
    return {};
  }
  return split;
}

bool CanPartition(int64_t layers, const Layout& layout, StagePartition partition) {
  const int64_t stages = StagesOf(layout);
  const StageSplit& split = layout.stages;
  if (!split.empty()) return split.stages() == stages && split.layers() == layers;
  if (partition == StagePartition::kEqual) {
    return layers % stages == 0 || ((layers + 2) % stages == 0 && stages > 1);
  }
  return layers >= stages;
}

}  // namespace meshwright::planner
