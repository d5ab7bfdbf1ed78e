#include "base/text/json_text.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/message_text.h"

namespace meshwright {
namespace {

constexpr size_t kShownJsonBytes = 60;

// Returns the position where the text first exceeds kMaxJsonDepth; npos if it doesn't. The
// parser could not tell without building the value that is to be rejected.
size_t TooDeepAt(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxJsonDepth) return i;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return std::string_view::npos;
}

std::string LineAndColumn(std::string_view text, size_t at) {
  const std::string_view before = text.substr(0, at);
  const size_t line_start = before.rfind('\n') + 1;  // 0 in the first line
  return absl::StrCat("line ", std::count(before.begin(), before.end(), '\n') + 1, ", column ",
                      before.size() - line_start + 1);
}

template <typename Json>
absl::StatusOr<Json> Parse(std::string_view what, std::string_view text, size_t max_bytes) {
  const std::string size = absl::StrCat("(", text.size(), " bytes)");
  if (text.size() > max_bytes) {
    return FieldError(what, size, absl::StrCat("must be at most ", max_bytes, " bytes of JSON"));
  }
  if (const size_t at = TooDeepAt(text); at != std::string_view::npos) {
    return FieldError(what, size,
                      absl::StrCat("is nested too deep at ", LineAndColumn(text, at),
                                   ": must be JSON with at most ", kMaxJsonDepth, " levels"));
  }
  try {
    return Json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    // Counted from 1, and past the last byte where the text ends early.
    const size_t at = std::min(error.byte == 0 ? 0 : error.byte - 1, text.size());
    return FieldError(what, LineAndColumn(text, at),
                      at == text.size() ? "is not valid JSON: the text ends before it does"
                                        : "is not valid JSON");
  } catch (const nlohmann::json::exception&) {
    return FieldError(what, size, "is not valid JSON: a number in it is out of range");
  }
}

}  // namespace

absl::StatusOr<nlohmann::json> ParseJson(std::string_view what, std::string_view text,
                                         size_t max_bytes) {
  return Parse<nlohmann::json>(what, text, max_bytes);
}

absl::StatusOr<nlohmann::ordered_json> ParseOrderedJson(std::string_view what,
                                                        std::string_view text, size_t max_bytes) {
  return Parse<nlohmann::ordered_json>(what, text, max_bytes);
}

std::string ShowJson(const nlohmann::json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "an array";
  return ShortText(value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
                   kShownJsonBytes);
}

}  // namespace meshwright
