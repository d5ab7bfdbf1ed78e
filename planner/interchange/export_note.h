// NoteOnExports() tells a reader of ranked layouts which of them the export to the framework
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

// NoteOnExports() tries to export at most this many layouts of an answer, from the first.
inline constexpr size_t kMostTriedExports = 10;

// `framework` is the name by which the user asked for a profile. If that program has several
// exports, the note describes the export that refuses the fewest layouts; among equals, the first.
// Returns nullopt if some export accepts all layouts that are tried, or if the framework has no
// export.
std::optional<std::string> NoteOnExports(std::string_view framework, const ModelSpec& model,
                                         const ClusterSpec& cluster, const TrainingSpec& training,
                                         const std::vector<RankedLayout>& layouts);

}  // namespace meshwright::planner
