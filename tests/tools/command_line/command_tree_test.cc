// What every command declares, whichever commands there are.
#include <algorithm>
#include <atomic>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "tests/tools/command_runner.h"
#include "tools/command_line/declare.h"
#include "tools/command_line/help.h"
#include "tools/command_line/man_page.h"

namespace meshwright::command_line {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr size_t kColumns = 80;

class CommandTree : public testing::Test {
 protected:
  std::vector<CLI::App*> Leaves() {
    std::vector<CLI::App*> leaves;
    for (CLI::App* command : CommandsOf(*app_)) {
      if (command->get_require_subcommand_min() == 0) leaves.push_back(command);
    }
    return leaves;
  }

  std::ostringstream out_;
  cli::CommandContext context_{.out = out_,
                               .err = out_,
                               .binary_dir = "",
                               .now_s = [] { return 0.0; },
                               .interrupted = cli::kNeverInterrupted};
  std::unique_ptr<CLI::App> app_ = cli::MakeCommands(context_);
};

size_t Width(const std::string& line) {
  return static_cast<size_t>(std::count_if(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::vector<std::string> LinesOf(const std::string& text) { return absl::StrSplit(text, '\n'); }

std::vector<std::string> WordsOf(const std::string& path) {
  std::vector<std::string> words = absl::StrSplit(path, ' ');
  return {words.begin() + 1, words.end()};
}

TEST_F(CommandTree, HelpFitsEightyColumns) {
  for (CLI::App* command : CommandsOf(*app_)) {
    std::vector<std::string> words = WordsOf(CommandPath(*command));
    words.push_back("--help");
    const cli::CommandOutput run = cli::RunCommand(words);
    EXPECT_EQ(run.exit_code, cli::kExitOk) << CommandPath(*command);
    for (const std::string& line : LinesOf(run.out)) {
      EXPECT_LE(Width(line), kColumns) << CommandPath(*command) << ": " << line;
    }
  }
}

TEST_F(CommandTree, HelpSaysWhatIsRequiredAndTheDefaults) {
  const std::string help = cli::RunCommand({"recommend", "--help"}).out;
  EXPECT_THAT(help, HasSubstr("--model FILE|MODEL"));
  EXPECT_THAT(help, HasSubstr("(required)"));
  EXPECT_THAT(help, HasSubstr("Layouts to show (default 10)"));
  EXPECT_THAT(help, HasSubstr("(default text)"));
}

TEST_F(CommandTree, ACommandAloneIsThatOfTheTree) {
  std::set<std::string> made_with_all;
  for (CLI::App* command : app_->get_subcommands({})) {
    const std::unique_ptr<CLI::App> app = cli::MakeCommand(context_, command->get_name());
    const std::vector<CLI::App*> made = app->get_subcommands({});
    if (made.size() > 1) {
      made_with_all.insert(command->get_name());
      continue;
    }
    ASSERT_EQ(made.size(), 1u);
    EXPECT_EQ(made.front()->get_name(), command->get_name());
    EXPECT_EQ(CommandsOf(*made.front()).size(), CommandsOf(*command).size());
  }
  EXPECT_EQ(made_with_all, (std::set<std::string>{"completion", "help", "man", "version"}));
}

TEST_F(CommandTree, EveryCommandHasAnExample) {
  for (CLI::App* command : Leaves()) {
    EXPECT_FALSE(ExamplesOf(*command).empty()) << CommandPath(*command);
  }
}

TEST_F(CommandTree, ExamplesParse) {
  // Runs when a line is understood, before the command that it names.
  struct Understood {};
  app_->parse_complete_callback([] { throw Understood(); });
  for (CLI::App* command : CommandsOf(*app_)) {
    for (const std::string& example : ExamplesOf(*command)) {
      std::vector<std::string> words = WordsOf(example);
      std::reverse(words.begin(), words.end());
      EXPECT_THROW(app_->parse(words), Understood) << example;
      if (command != app_.get()) {
        EXPECT_EQ(&ParsedCommand(*app_), command) << example;
      }
    }
  }
}

// FILE and DIR are completed with paths, these with presets, and the others are anything.
TEST_F(CommandTree, PresetsAreNamedByTheirKind) {
  for (CLI::App* command : CommandsOf(*app_)) {
    for (const CLI::Option* option : OptionsOf(*command)) {
      if (option->get_positional()) continue;
      EXPECT_THAT(ValueText(*option), Not(HasSubstr("PRESET")))
          << CommandPath(*command) << " " << NameOf(*option)
          << ": say MODEL, CLUSTER or PROFILE, which are completed";
    }
  }
}

TEST_F(CommandTree, FlagsOfAllCommandsMeanTheSame) {
  for (CLI::App* command : Leaves()) {
    for (const CLI::Option* option : OptionsOf(*command)) {
      // What is exported has formats of its own.
      const bool format = NameOf(*option) == "--format" && ValueText(*option) != "csv";
      if (NameOf(*option) == "--server" || NameOf(*option) == "--wide" || format) {
        EXPECT_EQ(option->get_group(), kCommonFlags) << CommandPath(*command);
      }
    }
  }
}

TEST_F(CommandTree, EveryCommandHasAManPage) {
  std::set<std::string> files;
  for (const ManPage& page : ManPages(*app_, "1.2.3")) {
    EXPECT_TRUE(files.insert(page.file).second) << page.file;
    EXPECT_THAT(page.text, testing::StartsWith(".TH \"MESHWRIGHT"));
    for (const char* section : {".SH NAME\n", ".SH SYNOPSIS\n"}) {
      EXPECT_THAT(page.text, HasSubstr(section)) << page.file;
    }
    for (const std::string& line : LinesOf(page.text)) {
      if (line.empty() || line[0] != '.') continue;
      static const std::set<std::string> kRequests = {".TH", ".SH", ".TP", ".PP", ".B",
                                                      ".BR", ".nf", ".fi", ".nh", ".ad"};
      const std::string request = line.substr(0, line.find(' '));
      EXPECT_EQ(kRequests.count(request), 1u) << page.file << ": " << line;
    }
  }
  EXPECT_EQ(files.count("meshwright.1"), 1u);
  EXPECT_EQ(files.count("meshwright-sweep-start.1"), 1u);
  EXPECT_EQ(files.size(), CommandsOf(*app_).size());
}

TEST_F(CommandTree, AManPageSaysWhatHelpSays) {
  for (const ManPage& page : ManPages(*app_, "1.2.3")) {
    if (page.file != "meshwright-recommend.1") continue;
    EXPECT_THAT(page.text, HasSubstr("\\-\\-top K\nLayouts to show (default 10)\n"));
    EXPECT_THAT(page.text, HasSubstr(".SH EXAMPLES\n"));
  }
}

// A shell continues no line inside single quotes.
TEST(FormatCommandLine, BreaksNoQuotes) {
  const std::string text = FormatCommandLine(
      "meshwright agents up --launcher command --server 10.0.0.1:7077 --submit 'qsub {script}' "
      "--cancel 'qdel a b c'");
  EXPECT_EQ(text,
            "  meshwright agents up --launcher command --server 10.0.0.1:7077 \\\n"
            "    --submit 'qsub {script}' --cancel 'qdel a b c'");
}

}  // namespace
}  // namespace meshwright::command_line
