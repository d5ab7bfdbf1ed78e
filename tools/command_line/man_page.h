// ManPages() writes manual pages, one per command of the tree, with roff's man macros.
#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"

namespace meshwright::command_line {

struct ManPage {
  std::string file;  // "meshwright-sweep-start.1"
  std::string text;
};

// Returns the pages of `app` and of every command below it. The text depends on the tree and the
// version alone.
std::vector<ManPage> ManPages(CLI::App& app, const std::string& version);

}  // namespace meshwright::command_line
