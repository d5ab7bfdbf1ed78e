#include "base/text/utf8.h"

#include <cstdint>

namespace meshwright {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// The characters that a first byte may begin: their number of bytes, and the second bytes that
// exclude overlong forms, surrogates and what lies above U+10FFFF.
struct Lead {
  size_t bytes = 0;  // 0: it begins none
  uint8_t second_low = 0x80;
  uint8_t second_high = 0xBF;
};

Lead LeadOf(uint8_t byte) {
  if (byte < 0x80) return {.bytes = 1};
  if (byte < 0xC2) return {};
  if (byte < 0xE0) return {.bytes = 2};
  if (byte == 0xE0) return {.bytes = 3, .second_low = 0xA0};
  if (byte == 0xED) return {.bytes = 3, .second_high = 0x9F};
  if (byte < 0xF0) return {.bytes = 3};
  if (byte == 0xF0) return {.bytes = 4, .second_low = 0x90};
  if (byte < 0xF4) return {.bytes = 4};
  if (byte == 0xF4) return {.bytes = 4, .second_high = 0x8F};
  return {};
}

// Returns how many bytes of a character are at the start of `text`: all of its bytes, or the bytes
// before the first byte that does not belong to the character.
size_t Matching(std::string_view text, const Lead& lead) {
  size_t count = 1;
  while (count < lead.bytes && count < text.size()) {
    const auto byte = static_cast<uint8_t>(text[count]);
    const uint8_t low = count == 1 ? lead.second_low : 0x80;
    const uint8_t high = count == 1 ? lead.second_high : 0xBF;
    if (byte < low || byte > high) break;
    ++count;
  }
  return count;
}

}  // namespace

size_t CharacterBytes(std::string_view text) {
  if (text.empty()) return 0;
  const Lead lead = LeadOf(static_cast<uint8_t>(text.front()));
  return Matching(text, lead) == lead.bytes ? lead.bytes : 0;
}

std::string ValidUtf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const Lead lead = LeadOf(static_cast<uint8_t>(text.front()));
    const size_t count = Matching(text, lead);
    valid += count == lead.bytes ? text.substr(0, count) : kReplacement;
    text.remove_prefix(count);
  }
  return valid;
}

}  // namespace meshwright
