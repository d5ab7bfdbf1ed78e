#include "tools/cli/common/plot_flag.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "base/text/field_error.h"

namespace meshwright::cli {

void AddPlot(CLI::App& app, std::string& path, const std::string& what) {
  app.add_option("--plot", path, what)->option_text("FILE.svg");
}

absl::StatusOr<OutputFile> ClaimPlot(CommandFiles& files, const std::string& path) {
  if (!path.empty() && !absl::AsciiStrToLower(path).ends_with(".svg")) {
    return FieldError("plot", path, "must end in .svg: that is what is drawn");
  }
  return files.Claim("plot", path);
}

planner::PictureOrigin OriginOf(std::string question, const CommandContext& context) {
  return {
      .question = std::move(question), .date = context.today(), .command = context.command_line};
}

}  // namespace meshwright::cli
