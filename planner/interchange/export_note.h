// NoteOnExports() tells a reader of ranked layouts which of them the export to their framework
// refuses.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/search/ranked_layout.h"
#include "planner/spec/cluster_spec.h"
#include "planner/spec/model_spec.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

// The most layouts of an answer whose exports are tried.
inline constexpr size_t kMostTriedExports = 10;

// `framework` is the name by which the user asked for a profile. If that program has several
// exports, the note is about the one that refuses the fewest layouts, the first of equals. Returns
// nullopt if one export writes all layouts, or if no export is for the framework. Only the first
// kMostTriedExports layouts are looked at.
std::optional<std::string> NoteOnExports(std::string_view framework, const ModelSpec& model,
                                         const ClusterSpec& cluster, const TrainingSpec& training,
                                         const std::vector<RankedLayout>& layouts);

}  // namespace meshwright::planner
