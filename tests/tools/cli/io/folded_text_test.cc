#include "tools/cli/io/folded_text.h"

#include <gtest/gtest.h>

#include "tools/cli/io/table.h"

namespace meshwright::cli {
namespace {

std::string Folded(const std::string& text, int64_t columns) {
  std::ostringstream out;
  Terminal terminal{.columns = [columns] { return columns; }, .is_terminal = columns > 0};
  AttachTerminal(out, &terminal);
  FoldedText(out).stream() << text;
  return out.str();
}

TEST(FoldedText, BreaksSentencesBetweenWords) {
  EXPECT_EQ(Folded("one two three four five\n", 20), "one two three four\n  five\n");
  EXPECT_EQ(Folded("  indented by two columns\n", 22), "  indented by two\n    columns\n");
}

TEST(FoldedText, LeavesWhatFitsAndWhatGoesToAFile) {
  EXPECT_EQ(Folded("12345678901234567890\n\nend\n", 20), "12345678901234567890\n\nend\n");
  EXPECT_EQ(Folded("one two three four five\n", 0), "one two three four five\n");
}

TEST(FoldedText, KeepsAWordWhole) {
  EXPECT_EQ(Folded("see tp1.cp1.pp1.dp64.mb1.vpp1.zero2 there\n", 20),
            "see\n  tp1.cp1.pp1.dp64.mb1.vpp1.zero2 there\n");
}

TEST(FoldedText, CountsNoColumnsForStyles) {
  EXPECT_EQ(Folded("\x1b[1mone two three four\x1b[0m\n", 20), "\x1b[1mone two three four\x1b[0m\n");
}

}  // namespace
}  // namespace meshwright::cli
