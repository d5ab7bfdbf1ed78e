#include "base/text/message_text.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"

namespace meshwright {
namespace {

TEST(EscapeControlsTest, KeepsTextAndShowsTheRestInHexadecimal) {
  EXPECT_EQ(EscapeControls("µs, 模型, \U0001F600"), "µs, 模型, \U0001F600");
  EXPECT_EQ(EscapeControls("a\tb\x7f"), "a\\tb\\x7f");
  EXPECT_EQ(EscapeControls(std::string("a\0b", 3)), "a\\x00b");
  // U+009B begins a terminal's command as "\x1b[" does.
  EXPECT_EQ(EscapeControls("\xc2\x9b"), "\\xc2\\x9b");
  for (const char* wrong : {"\xff", "\xc3", "\xe2\x82", "\x80", "\xc0\xaf", "\xe0\x80\xaf",
                            "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf8"}) {
    EXPECT_EQ(EscapeControls(wrong).substr(0, 2), "\\x") << EscapeControls(wrong);
  }
}

TEST(ListInWordsTest, PutsTheWordBeforeTheLastText) {
  const std::vector<std::string_view> none;
  EXPECT_EQ(ListInWords(none, "or"), "");
  EXPECT_EQ(ListInWords(std::vector<std::string>{"a"}, "or"), "a");
  EXPECT_EQ(ListInWords(std::vector<std::string_view>{"a", "b"}, "and"), "a and b");
  constexpr std::array<std::string_view, 3> kThree = {"a", "b", "c"};
  EXPECT_EQ(ListInWords(kThree, "or"), "a, b or c");
  EXPECT_EQ(ListInWords(std::vector<std::string>{"", "", ""}, "or"), ",  or ");
}

}  // namespace
}  // namespace meshwright
