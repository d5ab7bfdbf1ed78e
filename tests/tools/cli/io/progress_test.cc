#include "tools/cli/io/progress.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tools/cli/io/terminal.h"

namespace meshwright::cli {
namespace {

// A window whose width a test changes.
struct Window {
  explicit Window(int64_t width) : columns(width) { AttachTerminal(out, &terminal); }

  int64_t columns;
  Terminal terminal{.columns = [this] { return columns; }, .is_terminal = true};
  std::ostringstream out;
};

TEST(ProgressLine, PrintsALineForEachUpdateOffATerminal) {
  std::ostringstream out;
  ProgressLine progress(out);
  progress.Update(1, 4, "one");
  progress.Keep(2, 4, "two");
  progress.Finish();
  EXPECT_EQ(out.str(), "1/4 one\n2/4 two\n");
}

TEST(ProgressLine, NeverFillsTheWindow) {
  for (int64_t columns = 1; columns <= 120; ++columns) {
    Window window(columns);
    ProgressLine progress(window.out);
    progress.Update(3, 8, std::string(200, 'x'));
    const std::string drawn = window.out.str().substr(4);  // behind "\r\x1b[K"
    EXPECT_LT(DisplayWidth(drawn), std::max<int64_t>(columns, 2)) << columns;
  }
}

TEST(ProgressLine, FollowsAWindowThatIsResized) {
  Window window(100);
  ProgressLine progress(window.out);
  progress.Update(1, 2, std::string(200, 'x'));
  window.columns = 30;
  window.out.str("");
  progress.Update(1, 2, std::string(200, 'x'));
  EXPECT_EQ(window.out.str(), "\r\x1b[K1/2 " + std::string(25, 'x'));
}

TEST(ProgressLine, ShowsTheBarWhereThereIsRoom) {
  Window window(80);
  ProgressLine progress(window.out);
  progress.Update(1, 2, "half");
  EXPECT_EQ(window.out.str(), "\r\x1b[K[##########...........] 1/2 half");
}

TEST(ProgressLine, ClearsTheBarBeforeALineThatStays) {
  Window window(30);
  ProgressLine progress(window.out);
  progress.Update(1, 2, "half");
  window.out.str("");
  progress.Keep(2, 2, std::string(50, 'y'));
  EXPECT_EQ(window.out.str(), "\r\x1b[K2/2 " + std::string(50, 'y') + "\n");
}

TEST(ProgressLine, LetsNoTextMoveTheCursor) {
  std::ostringstream out;
  ProgressLine progress(out);
  progress.Keep(0, 1, "a\nb\x1b[2Jc");
  EXPECT_EQ(out.str(), "0/1 a b [2Jc\n");
}

TEST(CutToWidth, KeepsCharactersOfSeveralBytesWhole) {
  EXPECT_EQ(DisplayWidth("naïve"), 5);
  EXPECT_EQ(CutToWidth("naïve", 3), "naï");
  EXPECT_EQ(CutToWidth("naïve", 9), "naïve");
}

TEST(TerminalAt, HasNeitherWidthNorColourForAFile) {
  FILE* file = std::tmpfile();
  const Terminal terminal =
      TerminalAt(fileno(file), [](const std::string&) { return std::optional<std::string>(); });
  EXPECT_FALSE(terminal.is_terminal);
  EXPECT_FALSE(terminal.has_colour);
  EXPECT_EQ(terminal.columns(), 0);
  std::fclose(file);
}

}  // namespace
}  // namespace meshwright::cli
