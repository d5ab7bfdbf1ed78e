// The options of sbatch that a launcher of agents writes into its batch scripts itself, or relies
// on. If others set them, the launcher could lose sight of its jobs and submit more without end.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace meshwright::cli {

// Returns the launcher's own option that `name` stands for, without dashes; empty if there is none.
// sbatch accepts any beginning of an option's name, and so does this function.
std::string_view OwnOption(std::string_view name);

// Returns the names of the options on a #SBATCH line of a batch script, without dashes. `line` is
// the text after "#SBATCH". An option of one letter is returned under its long name if the
// launcher reads it, and otherwise as it is, such as "-c".
std::vector<std::string> OptionsOfLine(std::string_view line);

}  // namespace meshwright::cli
