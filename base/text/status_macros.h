// RETURN_IF_ERROR and ASSIGN_OR_RETURN return from the calling function with the error of an
// absl::Status or an absl::StatusOr.
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define MESHWRIGHT_CONCAT_INNER(a, b) a##b
#define MESHWRIGHT_CONCAT(a, b) MESHWRIGHT_CONCAT_INNER(a, b)

#define RETURN_IF_ERROR(expression)                                         \
  do {                                                                      \
    if (absl::Status status_ = (expression); !status_.ok()) return status_; \
  } while (false)

#define ASSIGN_OR_RETURN(declaration, expression) \
  ASSIGN_OR_RETURN_IMPL(MESHWRIGHT_CONCAT(statusor_, __LINE__), declaration, expression)
#define ASSIGN_OR_RETURN_IMPL(statusor, declaration, expression) \
  auto statusor = (expression);                                  \
  if (!statusor.ok()) return std::move(statusor).status();       \
  declaration = *std::move(statusor)
