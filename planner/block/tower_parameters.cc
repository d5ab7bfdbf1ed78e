#include "planner/block/tower_parameters.h"

#include "planner/block/block.h"
#include "planner/block/pass.h"
#include "planner/block/tower_operators.h"

namespace meshwright::planner {
namespace {

int64_t ElementsOf(const OperatorList& operators) {
  int64_t elements = 0;
  for (const Operator& op : operators) {
    for (const OperatorParameter& parameter : op.parameters) elements += parameter.elements();
  }
  return elements;
}

double AllPassesFlops(const OperatorList& operators) {
  double flops = 0.0;
  for (const PassKind pass : kPasses) flops += WorkOf(operators, pass).flops;
  return flops;
}

}  // namespace

int64_t TowerParameters(const Tower& tower) {
  const BlockShape patch = TowerBlockShape(tower);
  return tower.layers * ElementsOf(BlockOperators(patch)) +
         ElementsOf(TowerEndOperators(tower, patch, 1));
}

int64_t TowerParameters(const ModelSpec& model) {
  int64_t parameters = 0;
  for (const Tower& tower : model.towers) parameters += TowerParameters(tower);
  return parameters;
}

double TowerFlops(const Tower& tower, int64_t tokens, const TrainedParts& parts) {
  BlockShape patches = TowerBlockShape(tower, parts);
  patches.tokens = tower.Patches(tokens);
  patches.keys = tower.KeysSeen(tokens);
  return static_cast<double>(tower.layers) * AllPassesFlops(BlockOperators(patches)) +
         AllPassesFlops(TowerEndOperators(tower, patches, tokens));
}

}  // namespace meshwright::planner
