#include "base/text/short_text.h"

#include "absl/strings/str_cat.h"

namespace meshwright {
namespace {

bool ContinuesCharacter(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

}  // namespace

std::string ShortText(std::string_view text, size_t most_bytes) {
  if (text.size() <= most_bytes) return std::string(text);
  size_t end = most_bytes;
  while (end > 0 && ContinuesCharacter(text[end])) --end;
  return absl::StrCat(absl::string_view(text.data(), end), "... (", text.size(), " bytes)");
}

}  // namespace meshwright
