#include "planner/catalog/layer_windows.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/status_macros.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;

using WindowOfLayer = std::function<LayerWindow(int64_t layer)>;

std::vector<LayerWindow> ForAll(int64_t layers, const WindowOfLayer& window) {
  std::vector<LayerWindow> windows;
  for (int64_t layer = 0; layer < layers; ++layer) windows.push_back(window(layer));
  return windows;
}

// Returns 0 if the window is not shorter than the sequence.
absl::StatusOr<int64_t> ShorterThan(int64_t seq_len, std::string_view key,
                                    std::optional<int64_t> tokens) {
  if (!tokens) return 0;
  if (*tokens < 1) return FieldError(key, *tokens, "must be at least 1");
  return *tokens < seq_len ? *tokens : 0;
}

absl::Status CheckLength(std::string_view key, const json& list, int64_t layers) {
  if (static_cast<int64_t>(list.size()) == layers) return absl::OkStatus();
  return FieldError(key, static_cast<int64_t>(list.size()),
                    absl::StrCat("must name the kind of each of ", layers, " layers"));
}

absl::StatusOr<std::vector<LayerWindow>> WindowsByType(const json& types,
                                                       const LayerWindow& sliding,
                                                       const LayerWindow& chunk, int64_t layers) {
  RETURN_IF_ERROR(CheckLength("layer_types", types, layers));
  std::vector<LayerWindow> windows;
  for (const json& type : types) {
    if (type == "sliding_attention") {
      windows.push_back(sliding);
    } else if (type == "chunked_attention") {
      windows.push_back(chunk);
    } else {
      windows.emplace_back();
    }
  }
  return windows;
}

// MiMo-V2: a list with 1 for each layer with a window and 0 for each without.
absl::StatusOr<std::vector<LayerWindow>> WindowsOfList(const json& list, const LayerWindow& sliding,
                                                       int64_t layers) {
  constexpr std::string_view kKey = "hybrid_layer_pattern";
  RETURN_IF_ERROR(CheckLength(kKey, list, layers));
  std::vector<LayerWindow> windows;
  for (const json& layer : list) {
    if (layer != 0 && layer != 1) return FieldError(kKey, ShowJson(layer), "must be 0 or 1");
    windows.push_back(layer == 1 ? sliding : LayerWindow());
  }
  return windows;
}

// Llama 4 attends within chunks where it rotates queries and keys, which every n-th layer does not.
absl::StatusOr<std::vector<LayerWindow>> ChunksOf(JsonFields& fields, const LayerWindow& chunk,
                                                  int64_t layers) {
  const int64_t interval = fields.IntOr("no_rope_layer_interval", 4);
  RETURN_IF_ERROR(CheckRange("no_rope_layer_interval", interval, 1, kMostLayers));
  const json* turns = fields.OptionalArray("no_rope_layers");
  if (turns == nullptr || turns->empty()) {
    return ForAll(
        layers, [&](int64_t layer) { return (layer + 1) % interval != 0 ? chunk : LayerWindow(); });
  }
  if (static_cast<int64_t>(turns->size()) != layers) {
    return FieldError(
        "no_rope_layers", static_cast<int64_t>(turns->size()),
        absl::StrCat("must say for each of ", layers, " layers whether it has rotary embeddings"));
  }
  return ForAll(layers, [&](int64_t layer) {
    return (*turns)[static_cast<size_t>(layer)] == 0 ? LayerWindow() : chunk;
  });
}

// Every n-th layer sees all tokens, or the layers with the letter G in a repeated pattern do.
// Returns nullopt if neither the file nor its family has such a rule.
absl::StatusOr<std::optional<WindowOfLayer>> Pattern(JsonFields& fields, const json& config,
                                                     const LayerWindow& sliding) {
  constexpr const char* kKey = "sliding_window_pattern";
  const auto given = config.find(kKey);
  if (given != config.end() && given->is_string() && !given->empty()) {
    const std::string letters = fields.StringOr(kKey, "");
    if (letters.empty()) return std::nullopt;
    return WindowOfLayer([=](int64_t layer) {
      return letters[static_cast<size_t>(layer) % letters.size()] == 'G' ? LayerWindow() : sliding;
    });
  }
  const std::optional<int64_t> every = fields.OptionalInt(kKey);
  RETURN_IF_ERROR(fields.status());
  if (!every || *every == 0) return std::nullopt;
  RETURN_IF_ERROR(CheckRange(kKey, *every, 1, kMostLayers));
  return WindowOfLayer(
      [=](int64_t layer) { return (layer + 1) % *every == 0 ? LayerWindow() : sliding; });
}

}  // namespace

absl::StatusOr<std::vector<LayerWindow>> ReadLayerWindows(JsonFields& fields, const json& config,
                                                          const Architecture& architecture,
                                                          int64_t layers, int64_t seq_len) {
  const std::optional<int64_t> given = fields.OptionalInt("sliding_window");
  ASSIGN_OR_RETURN(const int64_t tokens, ShorterThan(seq_len, "sliding_window", given));
  ASSIGN_OR_RETURN(
      const int64_t chunk_tokens,
      ShorterThan(seq_len, "attention_chunk_size", fields.OptionalInt("attention_chunk_size")));
  const bool is_on = fields.BoolOr("use_sliding_window", !architecture.window_needs_switch);
  const bool used = given && is_on;
  const int64_t from =
      fields.IntOr("max_window_layers", architecture.window_needs_switch ? layers : 0);
  const LayerWindow sliding = {.tokens = used ? tokens : 0, .is_local = used};
  const LayerWindow chunk = {.tokens = chunk_tokens, .chunked = chunk_tokens > 0};
  const json* types = fields.OptionalArray("layer_types");
  ASSIGN_OR_RETURN(const std::optional<WindowOfLayer> pattern, Pattern(fields, config, sliding));
  const json* list = fields.OptionalArray("hybrid_layer_pattern");
  if (types != nullptr && !types->empty()) return WindowsByType(*types, sliding, chunk, layers);
  if (list != nullptr) return WindowsOfList(*list, sliding, layers);
  if (chunk_tokens > 0) return ChunksOf(fields, chunk, layers);
  if (pattern) return ForAll(layers, *pattern);
  const bool in_part = architecture.window_needs_switch;
  return ForAll(layers,
                [&](int64_t layer) { return in_part && layer < from ? LayerWindow() : sliding; });
}

}  // namespace meshwright::planner
