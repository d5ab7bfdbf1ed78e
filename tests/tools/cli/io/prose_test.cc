#include "tools/cli/io/prose.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace meshwright::cli {
namespace {

std::string Prose(const std::string& text, int indent = 0) {
  std::ostringstream out;
  PrintProse(text, out, indent);
  return out.str();
}

TEST(Prose, BreaksBetweenWordsAtEightyColumns) {
  const std::string forty(39, 'a');
  EXPECT_EQ(Prose(forty + " " + forty + "b"), forty + " " + forty + "b\n");
  EXPECT_EQ(Prose(forty + " " + forty + "bb"), forty + "\n" + forty + "bb\n");
  EXPECT_EQ(Prose(forty + " " + forty + "bb c", 2), forty + "\n  " + forty + "bb c\n");
}

TEST(Prose, CountsTheBlanksBeforeTheFirstWord) {
  const std::string forty(38, 'a');
  EXPECT_EQ(Prose("  " + forty + " " + forty + "b", 2), "  " + forty + " " + forty + "b\n");
  EXPECT_EQ(Prose("  " + forty + " " + forty + "bb", 2), "  " + forty + "\n  " + forty + "bb\n");
}

TEST(Prose, KeepsANumberWithItsUnit) {
  const std::string text(76, 'a');
  EXPECT_EQ(Prose(text + " 12 % b"), text + "\n12 % b\n");
}

TEST(Prose, KeepsAWordWholeThatIsWiderThanALine) {
  const std::string wide(90, 'a');
  EXPECT_EQ(Prose("a " + wide + " b"), "a\n" + wide + "\nb\n");
}

}  // namespace
}  // namespace meshwright::cli
