#include "tools/cli/io/grpc_log.h"

#include <grpc/support/log.h>

#include <cstdlib>

namespace meshwright::cli {

void QuietGrpcLog() {
  if (std::getenv("GRPC_VERBOSITY") == nullptr) gpr_set_log_function([](gpr_log_func_args*) {});
}

}  // namespace meshwright::cli
