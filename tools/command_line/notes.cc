#include "tools/command_line/notes.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace meshwright::command_line {
namespace {

constexpr size_t kNoteColumns = 80;
constexpr size_t kTermColumns = 27;
constexpr size_t kIndent = 2;

size_t Indentation(absl::string_view line) {
  const size_t first = line.find_first_not_of(' ');
  return first == absl::string_view::npos ? line.size() : first;
}

// Counts characters as a terminal does: UTF-8 continuation bytes take no column.
size_t Width(absl::string_view text) {
  size_t width = 0;
  for (const char c : text) width += (static_cast<unsigned char>(c) & 0xC0) == 0x80 ? 0 : 1;
  return width;
}

NoteBlock EntryOf(absl::string_view line) {
  line = absl::StripAsciiWhitespace(line);
  const size_t gap = line.find("  ");
  if (gap == absl::string_view::npos) return {std::string(line), ""};
  return {std::string(line.substr(0, gap)),
          std::string(absl::StripLeadingAsciiWhitespace(line.substr(gap)))};
}

}  // namespace

std::vector<NoteBlock> NoteBlocks(const std::string& notes) {
  std::vector<NoteBlock> blocks;
  size_t entry_indentation = 0;
  bool open = false;  // whether the next line may continue the last block
  for (const absl::string_view line : absl::StrSplit(notes, '\n')) {
    const size_t indentation = Indentation(line);
    if (indentation == line.size()) {
      open = false;
      continue;
    }
    const bool continues =
        open && (blocks.back().term.empty() ? indentation == 0 : indentation > entry_indentation);
    if (continues) {
      absl::StrAppend(&blocks.back().text, blocks.back().text.empty() ? "" : " ",
                      absl::StripAsciiWhitespace(line));
      continue;
    }
    blocks.push_back(indentation == 0 ? NoteBlock{"", std::string(line)} : EntryOf(line));
    entry_indentation = indentation;
    open = true;
  }
  return blocks;
}

std::vector<std::string> Wrapped(const std::string& text, size_t width) {
  return Wrapped(std::vector<std::string>(absl::StrSplit(text, ' ', absl::SkipEmpty())), width);
}

std::vector<std::string> Wrapped(const std::vector<std::string>& pieces, size_t width) {
  std::vector<std::string> lines(1);
  for (const std::string& piece : pieces) {
    if (!lines.back().empty() && Width(lines.back()) + 1 + Width(piece) > width) {
      lines.emplace_back();
    }
    absl::StrAppend(&lines.back(), lines.back().empty() ? "" : " ", piece);
  }
  return lines;
}

std::string TwoColumns(const std::string& term, const std::string& text) {
  std::string out = absl::StrCat(std::string(kIndent, ' '), term);
  if (text.empty()) return out + "\n";
  if (Width(out) + kIndent > kTermColumns) {
    absl::StrAppend(&out, "\n", std::string(kTermColumns, ' '));
  } else {
    out.append(kTermColumns - Width(out), ' ');
  }
  bool first = true;
  for (const std::string& line : Wrapped(text, kNoteColumns - kTermColumns)) {
    absl::StrAppend(&out, first ? "" : std::string(kTermColumns, ' '), line, "\n");
    first = false;
  }
  return out;
}

std::string FormatNotes(const std::string& notes) {
  std::string out;
  bool after_entry = false;
  for (const NoteBlock& block : NoteBlocks(notes)) {
    const bool entry = !block.term.empty();
    if (!out.empty() && !(entry && after_entry)) out += "\n";
    if (entry) {
      out += TwoColumns(block.term, block.text);
    } else {
      for (const std::string& line : Wrapped(block.text, kNoteColumns)) out += line + "\n";
    }
    after_entry = entry;
  }
  return out;
}

}  // namespace meshwright::command_line
