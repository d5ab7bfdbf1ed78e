#include "tools/cli/common/json_call.h"

#include <utility>

#include "base/text/status_macros.h"
#include "tools/cli/common/error_fields.h"

namespace meshwright::cli {

absl::Status RunJsonRequest(const CommandTree& tree, JsonRequest request,
                            const nlohmann::ordered_json& defaults, const CheckRequest& check,
                            CommandContext& context) {
  const std::string_view top =
      std::string_view(request.command).substr(0, request.command.find(' '));
  const std::unique_ptr<CLI::App> app = tree.make(context, top);
  ASSIGN_OR_RETURN(CLI::App * command, JsonCommand(*app, request.command));
  if (check) RETURN_IF_ERROR(check(*command));
  AddDefaults(defaults, *command, request);
  ASSIGN_OR_RETURN(const std::vector<std::string> words, WordsOf(request, *command, context.files));
  const auto take_error = std::exchange(context.take_error, {});
  context.take_error = [&](CommandError error) {
    error.message = InArgumentNames(error.message, *command);
    take_error(error);
  };
  context.exit_code = tree.run(*app, words, context);
  context.take_error = take_error;
  return absl::OkStatus();
}

}  // namespace meshwright::cli
