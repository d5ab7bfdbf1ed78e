// CommandsOfPage() reads the commands of a page of docs/.
#pragma once

#include <fstream>
#include <string>
#include <vector>

namespace meshwright::cli {

// Returns the words after "meshwright" in a command line, divided as by a shell. Only single quotes
// are supported.
inline std::vector<std::string> WordsOfCommand(const std::string& line) {
  std::vector<std::string> words(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '\'') {
      quoted = !quoted;
    } else if (c == ' ' && !quoted) {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  words.erase(words.begin());
  return words;
}

// Returns the lines of the page that are commands.
inline std::vector<std::string> CommandsOfPage(const std::string& path) {
  std::vector<std::string> commands;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("meshwright ")) commands.push_back(line);
  }
  return commands;
}

}  // namespace meshwright::cli
