// Rules about how a layout divides devices, model and sequence. Each tells whether the layout breaks
// it (planner/rules/rule.h).
#pragma once

#include "planner/rules/rule.h"

namespace meshwright::planner {

bool DevicesDiffer(const RuleInput& input, const Layout& layout, Operands& operands);
bool LayersDoNotDivide(const RuleInput& input, const Layout& layout, Operands& operands);
bool HeadsDoNotDivide(const RuleInput& input, const Layout& layout, Operands& operands);
// A framework may replicate key/value heads where tp is a multiple of them.
bool KvHeadsDoNotDivide(const RuleInput& input, const Layout& layout, Operands& operands);
bool FfnDoesNotDivide(const RuleInput& input, const Layout& layout, Operands& operands);
bool VocabDoesNotDivide(const RuleInput& input, const Layout& layout, Operands& operands);
// Causal balance gives each context-parallel rank one early and one late piece of the sequence.
bool ContextDoesNotDivide(const RuleInput& input, const Layout& layout, Operands& operands);
bool SequenceParallelLacksTp(const RuleInput& input, const Layout& layout, Operands& operands);
bool SequenceDoesNotDivide(const RuleInput& input, const Layout& layout, Operands& operands);
bool ChunksDoNotFit(const RuleInput& input, const Layout& layout, Operands& operands);
bool RecomputesMoreThanAChunk(const RuleInput& input, const Layout& layout, Operands& operands);
bool ZeroLacksRanks(const RuleInput& input, const Layout& layout, Operands& operands);

}  // namespace meshwright::planner
