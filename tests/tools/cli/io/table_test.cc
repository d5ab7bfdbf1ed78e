#include "tools/cli/io/table.h"

#include <gtest/gtest.h>

#include <sstream>

namespace meshwright::cli {
namespace {

std::string Printed(const Table& table, int64_t columns, bool folds = true, bool colour = false) {
  std::ostringstream out;
  Terminal terminal{
      .columns = [columns] { return columns; }, .is_terminal = true, .has_colour = colour};
  AttachTerminal(out, &terminal);
  if (!folds) KeepTablesWide(out);
  table.Print(out);
  return out.str();
}

Table Ranking() {
  Table table({"#", "layout", "step", "MFU"});
  table.Add({"1", "tp2.pp4.sched=1f1b", "7.04 s", "53.6 %"});
  table.Add({"12", "tp1", "11.1 s", "9.1 %"});
  return table;
}

constexpr char kStraight[] =
    " #  layout                step     MFU\n"
    " 1  tp2.pp4.sched=1f1b  7.04 s  53.6 %\n"
    "12  tp1                 11.1 s   9.1 %\n";

TEST(Table, AlignsNumbersRight) {
  Table table({"name", "n"});
  table.Add({"a", "1"});
  table.Add({"long", "100"});
  std::ostringstream out;
  table.Print(out);
  EXPECT_EQ(out.str(), "name    n\na       1\nlong  100\n");
}

TEST(Table, ACellThatBeginsWithADigitMakesNoColumnOfNumbers) {
  Table table({"why"});
  table.Add({"its trials run"});
  table.Add({"3 trials: 3 ok"});
  std::ostringstream out;
  table.Print(out);
  EXPECT_EQ(out.str(), "why\nits trials run\n3 trials: 3 ok\n");
  Table figures({"x"});
  figures.Add({"-"});
  figures.Add({"45.6 %"});
  out.str("");
  figures.Print(out);
  EXPECT_EQ(out.str(), "     x\n     -\n45.6 %\n");
}

TEST(Table, PrintsALineARowWhereItFits) { EXPECT_EQ(Printed(Ranking(), 38), kStraight); }

TEST(Table, FoldsRowsThatAreTooWideAndLeavesNothingOut) {
  EXPECT_EQ(Printed(Ranking(), 37),
            " #  layout                step\n"
            "     MFU\n"
            " 1  tp2.pp4.sched=1f1b  7.04 s\n"
            "  53.6 %\n"
            "12  tp1                 11.1 s\n"
            "   9.1 %\n");
}

TEST(Table, CutsALayoutBetweenItsWordsWhereItIsWiderThanTheWindow) {
  EXPECT_EQ(Printed(Ranking(), 16),
            " #\n"
            "  layout\n"
            "    step     MFU\n"
            " 1\n"
            "  tp2.pp4.\n"
            "  sched=1f1b\n"
            "  7.04 s  53.6 %\n"
            "12\n"
            "  tp1\n"
            "  11.1 s   9.1 %\n");
}

TEST(Table, KeepsItsLinesWholeWhereItIsAskedTo) {
  EXPECT_EQ(Printed(Ranking(), 16, /*folds=*/false), kStraight);
}

TEST(Table, NoLineIsWiderThanTheWindow) {
  for (int64_t columns = 12; columns <= 60; ++columns) {
    std::istringstream lines(Printed(Ranking(), columns));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(DisplayWidth(line), columns);
  }
}

TEST(Table, ColoursCellsWithoutMovingColumns) {
  Table table({"state", "n"});
  table.Add({"ok", "1"});
  table.Add({"failed", "2"});
  table.StyleColumn(
      0, [](const std::string& cell) { return cell == "ok" ? Style::kGood : Style::kBad; });
  EXPECT_EQ(Printed(table, 80, true, /*colour=*/true),
            "\x1b[1mstate\x1b[0m   \x1b[1mn\x1b[0m\n"
            "\x1b[32mok\x1b[0m      1\n"
            "\x1b[31mfailed\x1b[0m  2\n");
  EXPECT_EQ(Printed(table, 80), "state   n\nok      1\nfailed  2\n");
}

}  // namespace
}  // namespace meshwright::cli
