#include "planner/report/media.h"

#include "absl/strings/str_format.h"

namespace meshwright::planner {

std::vector<std::string> MediaNotes(const ModelSpec& model, const TrainingSpec& training) {
  if (model.towers.empty()) return {};
  if (training.media_tokens == 0) {
    return {
        "no token of a sequence is taken to stand for an image, so that the tower costs its states "
        "alone; --media-tokens N plans for N of them"};
  }
  const Tower& tower = model.towers.front();
  std::string note = absl::StrFormat(
      "%d of %d tokens of a sequence stand for images, %d patches of the tower",
      training.media_tokens, training.seq_len, tower.Patches(training.media_tokens));
  if (tower.tokens_per_image == 0) note += ", which are taken to be one image";
  return {note + "; --media-tokens N plans for another number"};
}

}  // namespace meshwright::planner
