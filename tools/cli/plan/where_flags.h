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

  // Returns the conjunction of both, in the syntax of --where; empty where every layout is covered.
  absl::StatusOr<std::string> ToWhere() const;
};

}  // namespace meshwright::cli
