#include "planner/block/parameters.h"

#include <algorithm>

#include "planner/block/block.h"
#include "planner/block/pass.h"
#include "planner/block/tower_parameters.h"
#include "planner/containers/memo.h"

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

int64_t AllElements(const OperatorList& operators) {
  return Elements(operators, [](const Operator&, const OperatorParameter&) { return true; });
}

int64_t ProjectionElements(const OperatorList& operators) {
  return Elements(operators, [](const Operator& op, const OperatorParameter&) {
    return op.kind == OperatorKind::kMatmul;
  });
}

int64_t OwnElements(const OperatorList& operators) {
  return Elements(operators, [](const Operator&, const OperatorParameter& parameter) {
    return !parameter.shared;
  });
}

// Counts only the experts that one token goes to.
int64_t ActiveElements(const OperatorList& operators, const Experts& experts) {
  return Elements(operators,
                  [](const Operator&, const OperatorParameter& parameter) {
                    return parameter.reduced_over != GroupRole::kExpertReplicas;
                  }) +
         Elements(operators,
                  [](const Operator&, const OperatorParameter& parameter) {
                    return parameter.reduced_over == GroupRole::kExpertReplicas;
                  }) /
             std::max<int64_t>(experts.count, 1) * experts.top_k;
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
  int64_t projection_elements = 0;  // of products' matrices
  OperatorFlops flops;
};

Counts CountsOf(const OperatorList& operators, const Experts& experts) {
  return {.elements = AllElements(operators),
          .active_elements = ActiveElements(operators, experts),
          .projection_elements = ProjectionElements(operators),
          .flops = FlopsOf(operators)};
}

// Returns the counts of a shape's list, memoized: a search asks for those of one model with each of
// its layouts.
template <OperatorList (*kOperators)(const BlockShape&)>
Counts CountsOf(const BlockShape& shape) {
  thread_local Memo<BlockShape, Counts, kShapesOfAModel> known;
  return known.Get(shape, [&] { return CountsOf(kOperators(shape), shape.experts); });
}

// A model without layers has no group, but has both ends.
BlockShape EndsShape(const ModelSpec& model) {
  return WholeShape(model, model.groups.empty() ? LayerGroup() : model.groups.front(), 1);
}

// Returns the shape of a layer in an undivided model for one token of the training's sequences.
BlockShape TokenShape(const ModelSpec& model, const LayerGroup& group,
                      const TrainingSpec& training) {
  BlockShape shape = WholeShape(model, group, training.seq_len);
  shape.document_tokens = training.options.document_tokens;
  return shape;
}

// Each layer that predicts further tokens is a block, a projection, and the head again.
void AddMtp(const ModelSpec& model, const TrainingSpec& training, const Counts& head,
            double& parameters, OperatorFlops& token) {
  const BlockShape shape = TokenShape(model, model.MtpLayer(), training);
  const auto layers = static_cast<double>(model.mtp_layers);
  for (const Counts& counts :
       {head, CountsOf<BlockOperators>(shape), CountsOf<MtpOperators>(shape)}) {
    parameters += layers * static_cast<double>(counts.active_elements);
    token.products += layers * counts.flops.products;
    token.attention += layers * counts.flops.attention;
  }
}

}  // namespace

UnitParameters RankParameters(const Operator& op) {
  UnitParameters unit;
  for (const OperatorParameter& parameter : op.parameters) {
    const int64_t elements = parameter.rank_elements();
    const bool vector = !parameter.matrix || parameter.whole_gradient;
    const bool of_experts = parameter.reduced_over == GroupRole::kExpertReplicas;
    unit.all += elements;
    if (vector) unit.vectors += elements;
    if (of_experts) unit.experts += elements;
    if (vector && of_experts) unit.expert_vectors += elements;
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

int64_t MtpParameters(const ModelSpec& model) {
  if (model.mtp_layers == 0) return 0;
  const BlockShape shape = WholeShape(model, model.MtpLayer(), 1);
  return model.mtp_layers *
         (CountsOf<BlockOperators>(shape).elements + CountsOf<MtpOperators>(shape).elements);
}

StepFlops StepFlopsOf(const ModelSpec& model, const TrainingSpec& training) {
  const Counts head = CountsOf<HeadOperators>(EndsShape(model));
  double parameters = static_cast<double>(EmbeddingParameters(model) + head.elements);
  OperatorFlops token = head.flops;
  for (const LayerGroup& group : model.groups) {
    const Counts block = CountsOf<BlockOperators>(TokenShape(model, group, training));
    const auto count = static_cast<double>(group.count);
    parameters += count * static_cast<double>(block.active_elements);
    token.products += count * block.flops.products;
    token.attention += count * block.flops.attention;
  }
  if (model.mtp_layers > 0) AddMtp(model, training, head, parameters, token);
  const auto sequences = static_cast<double>(training.global_batch);
  const double tokens = sequences * static_cast<double>(training.seq_len);
  double towers = 0.0;
  if (training.media_tokens > 0) {
    for (const Tower& tower : model.towers) towers += TowerFlops(tower, training.media_tokens);
  }
  // PaLM counts the whole square of attention.
  return {.palm = tokens * (6.0 * parameters + 2.0 * token.attention) + sequences * towers,
          .causal = tokens * (token.products + token.attention) + sequences * towers};
}

double PalmStepFlops(const ModelSpec& model, const TrainingSpec& training) {
  return StepFlopsOf(model, training).palm;
}

double CausalStepFlops(const ModelSpec& model, const TrainingSpec& training) {
  return StepFlopsOf(model, training).causal;
}

}  // namespace meshwright::planner
