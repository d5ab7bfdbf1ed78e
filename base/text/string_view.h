// AbslView() and StdView() convert between std::string_view and absl::string_view. The two are
// different types if Abseil was built for C++14, as Debian's Abseil was.
#pragma once

#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace meshwright {

inline absl::string_view AbslView(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view StdView(absl::string_view text) { return {text.data(), text.size()}; }

// Returns whether `part` occurs in `text`.
inline bool Contains(std::string_view text, std::string_view part) {
  return absl::StrContains(AbslView(text), AbslView(part));
}

}  // namespace meshwright
