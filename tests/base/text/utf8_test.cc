#include "base/text/utf8.h"

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace meshwright {
namespace {

constexpr char kBad[] = "\xEF\xBF\xBD";

TEST(ValidUtf8Test, LeavesValidTextAsItIs) {
  for (const std::string text :
       {"", "plain\n\ttext", "g\xC3\xBCltig", "\xE2\x82\xAC", "\xF0\x9F\x9A\x80",
        "\xED\x9F\xBF\xEE\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_EQ(ValidUtf8(text), text);
  }
  const std::string zero("a\0b", 3);
  EXPECT_EQ(ValidUtf8(zero), zero);
}

TEST(ValidUtf8Test, ReplacesACharacterThatIsCutOff) {
  const std::string bad = kBad;
  // The end of a cut, then its beginning: what is left of a character of three bytes.
  EXPECT_EQ(ValidUtf8("abc\xE2\x82"), "abc" + bad);
  EXPECT_EQ(ValidUtf8("\xAC abc"), bad + " abc");
  EXPECT_EQ(ValidUtf8("\xE2\x82z"), bad + "z");
  EXPECT_EQ(ValidUtf8("\xF0\x9F\x9A\xE2\x82\xAC"), bad + "\xE2\x82\xAC");
}

TEST(ValidUtf8Test, ReplacesWhatIsNoCharacter) {
  const std::string bad = kBad;
  EXPECT_EQ(ValidUtf8("\xFF\xFE"), bad + bad);
  EXPECT_EQ(ValidUtf8("\xC0\xAF"), bad + bad);                      // overlong
  EXPECT_EQ(ValidUtf8("\xED\xA0\x80"), bad + bad + bad);            // a surrogate
  EXPECT_EQ(ValidUtf8("\xF4\x90\x80\x80"), bad + bad + bad + bad);  // above U+10FFFF
}

TEST(ValidUtf8Test, AnyBytesBecomeTextThatJsonTakes) {
  uint32_t state = 1;
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (int k = 0; k < 12; ++k) {
      state = state * 1664525 + 1013904223;
      text += static_cast<char>(0x70 + (state >> 24) % 0x90);
    }
    const std::string valid = ValidUtf8(text);
    EXPECT_NO_THROW(nlohmann::json(valid).dump());
    EXPECT_EQ(ValidUtf8(valid), valid);
  }
}

}  // namespace
}  // namespace meshwright
