// The notes below a command's flags: parsing them from the source's text, and formatting them for
// help.
//
// Blank lines separate paragraphs. A line that begins with spaces is an entry: a term, two spaces
// or more, and its meaning, which continues on lines with a deeper indentation.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace meshwright::command_line {

struct NoteBlock {
  std::string term;  // empty in a paragraph
  std::string text;  // without line ends
};

std::vector<NoteBlock> NoteBlocks(const std::string& notes);

// Breaks `text` at spaces into lines of at most `width` characters; a longer word gets a line of
// its own. Returns at least one line.
std::vector<std::string> Wrapped(const std::string& text, size_t width);
// The same for pieces that are not broken themselves.
std::vector<std::string> Wrapped(const std::vector<std::string>& pieces, size_t width);

// Returns "  term      text", the text in as many lines as it takes, and below the term where that
// is too wide.
std::string TwoColumns(const std::string& term, const std::string& text);

// Formats the blocks in lines of at most 80 columns.
std::string FormatNotes(const std::string& notes);

}  // namespace meshwright::command_line
