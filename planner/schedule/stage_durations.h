// StageDurations is the time of one micro-batch on one stage (a chunk of a pipeline rank), by part.
#pragma once

#include "planner/schedule/schedule.h"

namespace meshwright::planner {

struct StageDurations {
  double forward_s = 0.0;
  double input_gradient_s = 0.0;   // the part of a backward pass that the previous stage waits for
  double weight_gradient_s = 0.0;  // the part that no other stage waits for
  // The passes of the rank's shard of the head. They count in the stage of the rank's last chunk,
  // and are 0 unless the schedule divides the vocabulary.
  double vocabulary_forward_s = 0.0;
  double vocabulary_backward_s = 0.0;

  double backward_s() const { return input_gradient_s + weight_gradient_s; }
  double total_s() const {
    return forward_s + backward_s() + vocabulary_forward_s + vocabulary_backward_s;
  }
  double Of(ActionKind kind) const {
    switch (kind) {
      case ActionKind::kForward:
        return forward_s;
      case ActionKind::kBackward:
        return backward_s();
      case ActionKind::kBackwardInput:
        return input_gradient_s;
      case ActionKind::kBackwardWeight:
        return weight_gradient_s;
      case ActionKind::kVocabularyForward:
        return vocabulary_forward_s;
      case ActionKind::kVocabularyBackward:
        return vocabulary_backward_s;
    }
    return 0.0;
  }

  friend bool operator==(const StageDurations&, const StageDurations&) = default;
};

}  // namespace meshwright::planner
