#include "base/text/message_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/utf8.h"

namespace meshwright {
namespace {

// U+0080 to U+009F, which terminals also take for controls.
bool IsLateControl(std::string_view text, size_t at) {
  return static_cast<unsigned char>(text[at]) == 0xc2 &&
         static_cast<unsigned char>(text[at + 1]) < 0xa0;
}

void AppendEscaped(std::string& out, unsigned char byte) {
  switch (byte) {
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      absl::StrAppendFormat(&out, "\\x%02x", byte);
  }
}

bool ContinuesCharacter(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

}  // namespace

std::string EscapeControls(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t length = CharacterBytes(text.substr(at));
    const auto byte = static_cast<unsigned char>(text[at]);
    if (length == 0 || (length == 1 && (byte < 0x20 || byte == 0x7f))) {
      AppendEscaped(out, byte);
      ++at;
    } else if (length == 2 && IsLateControl(text, at)) {
      AppendEscaped(out, byte);
      AppendEscaped(out, static_cast<unsigned char>(text[at + 1]));
      at += 2;
    } else {
      out.append(text.substr(at, length));
      at += length;
    }
  }
  return out;
}

std::string ShortText(std::string_view text, size_t most_bytes) {
  if (text.size() <= most_bytes) return std::string(text);
  size_t end = most_bytes;
  while (end > 0 && ContinuesCharacter(text[end])) --end;
  return absl::StrCat(absl::string_view(text.data(), end), "... (", text.size(), " bytes)");
}

}  // namespace meshwright
