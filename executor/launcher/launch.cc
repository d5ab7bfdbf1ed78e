#include "executor/launcher/launch.h"

#include <algorithm>
#include <sstream>

#include "executor/launcher/find_torch.h"

namespace meshwright::launcher {
namespace {

constexpr char kLibraryPathVariable[] = "LD_LIBRARY_PATH";
// Names the folder in which tests look for the worker and its CUDA module.
constexpr char kBinDirVariable[] = "MESHWRIGHT_BIN_DIR";

void AddOnce(const std::string& folder, std::vector<std::string>& folders) {
  if (folder.empty() || std::count(folders.begin(), folders.end(), folder) > 0) return;
  folders.push_back(folder);
}

// In a toolkit CUPTI is in a folder of its own.
void AddToolkit(const std::string& root, const Machine& machine,
                std::vector<std::string>& folders) {
  for (const char* inside :
       {"/lib64", "/lib", "/targets/x86_64-linux/lib", "/extras/CUPTI/lib64"}) {
    if (machine.is_folder(root + inside)) AddOnce(root + inside, folders);
  }
}

std::string Joined(const std::vector<std::string>& folders) {
  std::string text;
  for (const std::string& folder : folders) text += (text.empty() ? "" : ":") + folder;
  return text;
}

void SetVariable(const std::string& name, const std::string& value,
                 std::vector<std::string>& environment) {
  std::erase_if(environment, [&](const std::string& entry) {
    return entry.compare(0, name.size() + 1, name + "=") == 0;
  });
  environment.push_back(name + "=" + value);
}

}  // namespace

std::string LibraryPath(const std::string& torch_folder, const Machine& machine) {
  std::vector<std::string> folders = {torch_folder + "/lib"};
  const std::string nvidia = torch_folder.substr(0, torch_folder.rfind('/')) + "/nvidia/";
  for (const std::string& package : machine.folders(nvidia)) {
    std::string libraries = nvidia;
    libraries += package;
    libraries += "/lib";
    if (machine.is_folder(libraries)) AddOnce(libraries, folders);
  }
  if (const auto home = machine.variable("CUDA_HOME")) AddToolkit(*home, machine, folders);
  for (const std::string& name : machine.folders("/usr/local")) {
    if (name.rfind("cuda", 0) == 0) AddToolkit("/usr/local/" + name, machine, folders);
  }
  std::istringstream before(machine.variable(kLibraryPathVariable).value_or(""));
  for (std::string folder; std::getline(before, folder, ':');) AddOnce(folder, folders);
  return Joined(folders);
}

Launch PlanLaunch(const std::string& archive_root, const std::string& needed,
                  const std::vector<std::string>& arguments,
                  const std::vector<std::string>& environment, const Machine& machine) {
  const bool other_program = arguments.size() > 1 && arguments[1] == "--exec";
  if (other_program && arguments.size() == 2) {
    return {.arguments = {},
            .environment = {},
            .problem = "--exec has no value: expected the path of a program and its arguments"};
  }
  const TorchSearch search = FindTorch(archive_root, needed, machine);
  if (!search.folder.has_value()) {
    return {.arguments = {}, .environment = {}, .problem = search.problem};
  }
  Launch launch{.arguments = arguments, .environment = environment, .problem = {}};
  if (other_program) {
    launch.arguments.erase(launch.arguments.begin(), launch.arguments.begin() + 2);
  } else {
    launch.arguments.resize(std::max<size_t>(launch.arguments.size(), 1));
    launch.arguments[0] = archive_root + "/libexec/meshwright-worker";
  }
  SetVariable(kLibraryPathVariable, LibraryPath(*search.folder, machine), launch.environment);
  SetVariable(kTorchDirVariable, *search.folder, launch.environment);
  if (!machine.variable(kBinDirVariable).has_value()) {
    SetVariable(kBinDirVariable, archive_root + "/bin", launch.environment);
  }
  return launch;
}

}  // namespace meshwright::launcher
