// WhereFlags holds --where and --fix, which select the layouts that a search covers.
#pragma once

#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"

namespace meshwright::cli {

struct WhereFlags {
  std::string where;
  std::string fix;

  void Add(CLI::App& app);

  // Returns the conjunction of both flags in the syntax of --where. It is empty if the search
  // covers every layout.
  absl::StatusOr<std::string> ToWhere() const;
};

}  // namespace meshwright::cli
