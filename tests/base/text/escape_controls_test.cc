#include "base/text/escape_controls.h"

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

}  // namespace
}  // namespace meshwright
