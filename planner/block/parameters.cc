#include "planner/block/parameters.h"

#include <algorithm>

#include "planner/block/block.h"
#include "planner/block/pass.h"
#include "planner/block/tower_operators.h"
#include "planner/block/tower_parameters.h"
#include "planner/containers/memo.h"
#include "planner/spec/layer_shapes.h"

namespace meshwright::planner {
namespace {

template <typename Counts>
int64_t Elements(const OperatorList& operators, const Counts& counts) {
  int64_t elements = 0;
  for (const Operator& op : operators) {
    for (const OperatorParameter& parameter : op.parameters) {
      if (counts(op, parameter)) elements += parameter.elements();
    }
  }
  return elements;
}

// Returns whether the operator's unit holds the parameter.
bool IsHeld(const Operator& /*op*/, const OperatorParameter& parameter) {
  return !parameter.borrowed;
}

int64_t HeldElements(const OperatorList& operators) { return Elements(operators, IsHeld); }

int64_t ProjectionElements(const OperatorList& operators) {
  return Elements(operators, [](const Operator& op, const OperatorParameter& parameter) {
    return op.kind == OperatorKind::kMatmul && IsHeld(op, parameter);
  });
}

int64_t TrainedElements(const OperatorList& operators) {
  return Elements(operators, [](const Operator&, const OperatorParameter& parameter) {
    return parameter.trained && !parameter.shared && !parameter.borrowed;
  });
}

int64_t OwnElements(const OperatorList& operators) {
  return Elements(operators, [](const Operator&, const OperatorParameter& parameter) {
    return !parameter.shared;
  });
}

// Counts only the experts that one token goes to.
template <typename Counts>
int64_t ActiveElements(const OperatorList& operators, const Experts& experts,
                       const Counts& counts) {
  const auto of = [&](bool of_experts) {
    return Elements(operators, [&](const Operator& op, const OperatorParameter& parameter) {
      return (parameter.reduced_over == GroupRole::kExpertReplicas) == of_experts &&
             counts(op, parameter);
    });
  };
  return of(false) + of(true) / std::max<int64_t>(experts.count, 1) * experts.top_k;
}

// Returns the sum over active parameters of the passes in which each is multiplied: forward, and
// the gradients of the input and of the weights where they run.
int64_t MultipliedElements(const OperatorList& operators, const Experts& experts) {
  return ActiveElements(operators, experts,
                        [](const Operator&, const OperatorParameter&) { return true; }) +
         ActiveElements(
             operators, experts,
             [](const Operator& op, const OperatorParameter&) { return op.propagates; }) +
         ActiveElements(
             operators, experts,
             [](const Operator&, const OperatorParameter& parameter) { return parameter.trained; });
}

// FLOPs of all passes: of products, and of causal attention.
struct OperatorFlops {
  double products = 0.0;
  double attention = 0.0;
};

OperatorFlops FlopsOf(const OperatorList& operators) {
  OperatorFlops flops;
  for (const Operator& op : operators) {
    for (const PassKind pass : kPasses) {
      (op.kind == OperatorKind::kAttention ? flops.attention : flops.products) +=
          WorkOf(op, pass).flops;
    }
  }
  return flops;
}

// Parameters, and FLOPs of a token.
struct Counts {
  int64_t elements = 0;
  int64_t active_elements = 0;
  // 3 * active_elements where everything trains and nothing is borrowed
  int64_t multiplied_elements = 0;
  int64_t projection_elements = 0;  // of products' matrices
  OperatorFlops flops;
};

Counts CountsOf(const OperatorList& operators, const Experts& experts) {
  return {.elements = HeldElements(operators),
          .active_elements = ActiveElements(operators, experts, IsHeld),
          .multiplied_elements = MultipliedElements(operators, experts),
          .projection_elements = ProjectionElements(operators),
          .flops = FlopsOf(operators)};
}

// Returns the counts of a shape's list, memoized, because a search asks for the counts of one model
// with each of its layouts.
template <OperatorList (*kOperators)(const BlockShape&)>
Counts CountsOf(const BlockShape& shape) {
  thread_local Memo<BlockShape, Counts, kShapesOfAModel> known;
  return known.Get(shape, [&] { return CountsOf(kOperators(shape), shape.experts); });
}

// A model without layers has no group, but has both ends.
BlockShape EndsShape(const ModelSpec& model) {
  return WholeShape(model, model.groups.empty() ? LayerGroup() : model.groups.front(), 1);
}

BlockShape TrainedEndsShape(const ModelSpec& model, const TrainedParts& parts) {
  BlockShape shape = EndsShape(model);
  shape.training = TrainingOf(parts, UnitTraining::kTrained);
  return shape;
}

// Returns the shape of a layer in an undivided model for one token of the training's sequences.
BlockShape TokenShape(const ModelSpec& model, const LayerGroup& group, const TrainingSpec& training,
                      UnitTraining layer) {
  BlockShape shape = WholeShape(model, group, training.seq_len);
  shape.document_tokens = AttendedDocumentTokens(training.options);
  shape.training = TrainingOf(training.options.train, layer);
  return shape;
}

// Calls visit(group, training, layers) for the layers of each group, or for the parts of a group
// that train differently.
template <typename Visit>
void ForEachLayers(const ModelSpec& model, const TrainedParts& parts, const Visit& visit) {
  if (!parts.freezes_layers()) {
    for (const LayerGroup& group : model.groups) {
      visit(group, parts.OfLayer(0, !model.towers.empty()), group.count);
    }
    return;
  }
  const LayerShapes shapes(model, parts);
  for (const ShapeRun& run : shapes.runs()) {
    visit(shapes.Of(model, run.shape), shapes.TrainingOf(run.shape), run.layers);
  }
}

// A multi-token-prediction layer trains like the head behind it.
UnitTraining MtpTraining(const TrainedParts& parts) { return parts.OfHead(); }

// Each multi-token-prediction layer is a block, a projection, and the head again.
void AddMtp(const ModelSpec& model, const TrainingSpec& training, const Counts& head,
            double& multiplied, OperatorFlops& token) {
  const BlockShape shape =
      TokenShape(model, model.MtpLayer(), training, MtpTraining(training.options.train));
  const auto layers = static_cast<double>(model.mtp_layers);
  for (const Counts& counts :
       {head, CountsOf<BlockOperators>(shape), CountsOf<MtpOperators>(shape)}) {
    multiplied += layers * static_cast<double>(counts.multiplied_elements);
    token.products += layers * counts.flops.products;
    token.attention += layers * counts.flops.attention;
  }
}

}  // namespace

UnitParameters RankParameters(const Operator& op) {
  UnitParameters unit;
  for (const OperatorParameter& parameter : op.parameters) {
    if (parameter.borrowed) continue;
    const int64_t elements = parameter.rank_elements();
    const bool vector = !parameter.matrix || parameter.whole_gradient;
    const bool of_experts = parameter.reduced_over == GroupRole::kExpertReplicas;
    unit.all += elements;
    if (vector) unit.vectors += elements;
    if (of_experts) unit.experts += elements;
    if (vector && of_experts) unit.expert_vectors += elements;
    if (parameter.trained) continue;
    unit.frozen += elements;
    if (of_experts) unit.frozen_experts += elements;
    if (parameter.four_bit) unit.four_bit += elements;
    if (parameter.four_bit && of_experts) unit.four_bit_experts += elements;
  }
  return unit;
}

UnitParameters RankParameters(const OperatorList& operators) {
  UnitParameters unit;
  for (const Operator& op : operators) unit += RankParameters(op);
  return unit;
}

int64_t BlockParameters(const ModelSpec& model, const LayerGroup& group) {
  return CountsOf<BlockOperators>(WholeShape(model, group, 1)).elements;
}

int64_t ProjectionParameters(const ModelSpec& model, const LayerGroup& group) {
  return CountsOf<BlockOperators>(WholeShape(model, group, 1)).projection_elements;
}

int64_t EmbeddingParameters(const ModelSpec& model) { return model.vocab * model.hidden; }

int64_t EntryParameters(const ModelSpec& model) {
  return CountsOf<EmbeddingOperators>(EndsShape(model)).elements;
}

int64_t Parameters(const ModelSpec& model) {
  int64_t count = TowerParameters(model) + EntryParameters(model) +
                  OwnElements(HeadOperators(EndsShape(model)));
  for (const LayerGroup& group : model.groups) count += group.count * BlockParameters(model, group);
  return count;
}

int64_t ActiveParameters(const ModelSpec& model) {
  int64_t count = TowerParameters(model) + EntryParameters(model) +
                  OwnElements(HeadOperators(EndsShape(model)));
  for (const LayerGroup& group : model.groups) {
    count += group.count * CountsOf<BlockOperators>(WholeShape(model, group, 1)).active_elements;
  }
  return count;
}

int64_t TrainableParameters(const ModelSpec& model, const TrainedParts& parts) {
  if (parts.all()) return Parameters(model);
  const BlockShape ends = TrainedEndsShape(model, parts);
  int64_t count = TrainedElements(EmbeddingOperators(ends)) + TrainedElements(HeadOperators(ends));
  ForEachLayers(model, parts, [&](const LayerGroup& group, UnitTraining training, int64_t layers) {
    BlockShape shape = WholeShape(model, group, 1);
    shape.training = TrainingOf(parts, training);
    count += layers * TrainedElements(BlockOperators(shape));
  });
  for (const Tower& tower : model.towers) {
    const BlockShape patch = TowerBlockShape(tower, parts);
    count += tower.layers * TrainedElements(BlockOperators(patch)) +
             TrainedElements(TowerEndOperators(tower, patch, 1));
  }
  return count;
}

int64_t MtpParameters(const ModelSpec& model) {
  if (model.mtp_layers == 0) return 0;
  const BlockShape shape = WholeShape(model, model.MtpLayer(), 1);
  return model.mtp_layers *
         (CountsOf<BlockOperators>(shape).elements + CountsOf<MtpOperators>(shape).elements);
}

StepFlops StepFlopsOf(const ModelSpec& model, const TrainingSpec& training) {
  const TrainedParts& parts = training.options.train;
  const BlockShape ends = TrainedEndsShape(model, parts);
  const Counts head = CountsOf<HeadOperators>(ends);
  const Counts entry = CountsOf<EmbeddingOperators>(ends);
  const int64_t entry_passes = parts.OfEmbedding() == UnitTraining::kTrained ? 3 : 1;
  double multiplied =
      static_cast<double>(entry_passes * (EmbeddingParameters(model) + entry.projection_elements) +
                          head.multiplied_elements);
  OperatorFlops token = head.flops;
  token.products += entry.flops.products;
  ForEachLayers(model, parts, [&](const LayerGroup& group, UnitTraining layer, int64_t layers) {
    const Counts block = CountsOf<BlockOperators>(TokenShape(model, group, training, layer));
    const auto count = static_cast<double>(layers);
    multiplied += count * static_cast<double>(block.multiplied_elements);
    token.products += count * block.flops.products;
    token.attention += count * block.flops.attention;
  });
  if (model.mtp_layers > 0) AddMtp(model, training, head, multiplied, token);
  const auto sequences = static_cast<double>(training.global_batch);
  const double tokens = sequences * static_cast<double>(training.seq_len);
  double towers = 0.0;
  if (training.media_tokens > 0) {
    for (const Tower& tower : model.towers) {
      towers += TowerFlops(tower, training.media_tokens, parts);
    }
  }
  // PaLM counts the whole square of attention.
  return {.palm = tokens * (2.0 * multiplied + 2.0 * token.attention) + sequences * towers,
          .causal = tokens * (token.products + token.attention) + sequences * towers};
}

double PalmStepFlops(const ModelSpec& model, const TrainingSpec& training) {
  return StepFlopsOf(model, training).palm;
}

double CausalStepFlops(const ModelSpec& model, const TrainingSpec& training) {
  return StepFlopsOf(model, training).causal;
}

}  // namespace meshwright::planner
