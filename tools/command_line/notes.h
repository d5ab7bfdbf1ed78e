// The prose below a command's flags, as it is written in the source, and its form in help.
//
// Blank lines part paragraphs. A line that begins with spaces is an entry: a term, two spaces or
// more, and what it means, which goes on in lines that begin further right.
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

// `text` in lines of at most `width` characters, broken at spaces; a longer word has a line of its
// own. At least one line.
std::vector<std::string> Wrapped(const std::string& text, size_t width);
// The same of pieces that are not broken themselves.
std::vector<std::string> Wrapped(const std::vector<std::string>& pieces, size_t width);

// "  term      text", the text in as many lines as it takes; below the term where that is too wide.
std::string TwoColumns(const std::string& term, const std::string& text);

// The blocks in lines that a terminal of 80 columns shows whole.
std::string FormatNotes(const std::string& notes);

}  // namespace meshwright::command_line
