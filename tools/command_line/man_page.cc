#include "tools/command_line/man_page.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "tools/command_line/declare.h"
#include "tools/command_line/help.h"
#include "tools/command_line/notes.h"

namespace meshwright::command_line {
namespace {

// Escapes text for roff: no dash is a hyphen, and no line is taken for a request.
std::string Escaped(const std::string& text) {
  std::string escaped = absl::StrReplaceAll(text, {{"\\", "\\e"}, {"-", "\\-"}});
  if (!escaped.empty() && (escaped[0] == '.' || escaped[0] == '\'')) escaped.insert(0, "\\&");
  return escaped;
}

std::string PageName(const CLI::App& command) {
  return absl::StrReplaceAll(CommandPath(command), {{" ", "-"}});
}

std::string Section(const std::string& title) { return absl::StrCat(".SH ", title, "\n"); }

std::string Entry(const std::string& term, const std::string& text) {
  return absl::StrCat(".TP\n.B ", Escaped(term), "\n", Escaped(text), "\n");
}

std::string Options(const CLI::App& command, const std::string& title, bool arguments,
                    bool common) {
  std::string entries;
  for (const CLI::Option* option : OptionsOf(command)) {
    if (option->get_positional() != arguments) continue;
    if ((option->get_group() == kCommonFlags) != common) continue;
    entries += Entry(OptionTerm(*option), OptionText(*option));
  }
  return entries.empty() ? "" : Section(title) + entries;
}

std::string Commands(const CLI::App& command) {
  std::string entries;
  for (const CLI::App* inner : command.get_subcommands([](const CLI::App*) { return true; })) {
    if (inner->get_group().empty()) continue;
    entries += Entry(absl::StrCat(PageName(*inner), "(1)"), inner->get_description());
  }
  return entries.empty() ? "" : Section("COMMANDS") + entries;
}

std::string Notes(const CLI::App& command) {
  std::string text;
  for (const NoteBlock& block : NoteBlocks(NotesOf(command))) {
    text += block.term.empty() ? absl::StrCat(".PP\n", Escaped(block.text), "\n")
                               : Entry(block.term, block.text);
  }
  return text.empty() ? "" : Section("NOTES") + text;
}

std::string Examples(const CLI::App& command) {
  std::string text;
  for (const std::string& example : ExamplesOf(command)) {
    absl::StrAppend(&text, ".PP\n.nf\n", Escaped(FormatCommandLine(example)), "\n.fi\n");
  }
  return text.empty() ? "" : Section("EXAMPLES") + text;
}

std::string SeeAlso(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  if (parent == nullptr) return "";
  return absl::StrCat(Section("SEE ALSO"), ".BR ", Escaped(PageName(*parent)), " (1)\n");
}

std::string PageOf(const CLI::App& command, const std::string& version) {
  const std::string name = PageName(command);
  return absl::StrCat(".TH \"", absl::AsciiStrToUpper(name), "\" 1 \"\" \"meshwright ", version,
                      "\" \"Meshwright\"\n.nh\n.ad l\n", Section("NAME"), Escaped(name), " \\- ",
                      Escaped(command.get_description()), "\n", Section("SYNOPSIS"), ".B ",
                      Escaped(CommandPath(command)), "\n",
                      Escaped(absl::StrJoin(UsageOf(command), " ")), "\n",
                      Options(command, "ARGUMENTS", /*arguments=*/true, /*common=*/false),
                      Options(command, "FLAGS", /*arguments=*/false, /*common=*/false),
                      Options(command, "COMMON FLAGS", /*arguments=*/false, /*common=*/true),
                      Commands(command), Notes(command), Examples(command), SeeAlso(command));
}

}  // namespace

std::vector<ManPage> ManPages(CLI::App& app, const std::string& version) {
  std::vector<ManPage> pages;
  for (const CLI::App* command : CommandsOf(app)) {
    pages.push_back({PageName(*command) + ".1", PageOf(*command, version)});
  }
  return pages;
}

}  // namespace meshwright::command_line
