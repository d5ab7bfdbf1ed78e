#include "executor/launcher/find_torch.h"

#include "executor/launcher/torch_version.h"

namespace meshwright::launcher {
namespace {

// Prints the package's location. A folder named torch in the working directory does not count.
constexpr char kLocateTorch[] =
    "import importlib.util, os, sys\n"
    "sys.path[:] = [path for path in sys.path if path]\n"
    "spec = importlib.util.find_spec('torch')\n"
    "if spec and spec.origin: print(os.path.dirname(os.path.abspath(spec.origin)))\n";

struct TorchCandidate {
  std::optional<std::string> folder;
  // Says how the folder was found, or why this place has no folder.
  std::string text;
};

TorchCandidate FromVariable(const Machine& machine) {
  const std::optional<std::string> folder = machine.variable(kTorchDirVariable);
  if (!folder.has_value()) return {{}, std::string(kTorchDirVariable) + " is not set"};
  return {folder, kTorchDirVariable};
}

std::string FolderBeside(const std::string& archive_root) {
  return archive_root.substr(0, archive_root.rfind('/')) + "/torch";
}

TorchCandidate FromBeside(const std::string& archive_root, const Machine& machine) {
  const std::string folder = FolderBeside(archive_root);
  if (!machine.is_folder(folder)) return {{}, "beside the archive: there is no folder " + folder};
  return {folder, "beside the archive"};
}

TorchCandidate FromPython(const Machine& machine) {
  const CommandEnd end = machine.run({"python3", "-c", kLocateTorch});
  switch (end.kind) {
    case CommandEnd::Reason::kNotStarted:
      return {{}, "the torch package of python3: there is no python3 on PATH"};
    case CommandEnd::Reason::kTimedOut:
      return {{}, "the torch package of python3: python3 did not answer in time"};
    case CommandEnd::Reason::kEnded:
      break;
  }
  const std::string folder = end.out.substr(0, end.out.find('\n'));
  if (end.exit_code != 0 || folder.empty()) {
    return {{}, "the torch package of python3: this python3 has none"};
  }
  return {folder, "the torch package of python3"};
}

std::string Release(const std::string& version) { return version.substr(0, version.find('+')); }

TorchSearch Check(const TorchCandidate& place, const std::string& needed, const Machine& machine) {
  const std::string& folder = *place.folder;
  const std::string where = folder + " (" + place.text + ")";
  const std::string expected = "; this archive needs the folder torch of torch " + needed;
  const std::optional<std::string> text = machine.read_file(folder + "/version.py");
  if (!text.has_value())
    return {{}, "no LibTorch in " + where + ": it has no version.py" + expected};
  const std::optional<std::string> version = TorchVersion(*text);
  if (!version.has_value()) {
    return {{}, "no LibTorch in " + where + ": its version.py names no version" + expected};
  }
  if (*version != needed) {
    return {{}, "the LibTorch in " + where + " is torch " + *version + expected};
  }
  if (!machine.is_folder(folder + "/lib")) {
    return {{}, "no LibTorch in " + where + ": it has no folder lib" + expected};
  }
  // Resolve links: only the real folder's surroundings are known.
  return {machine.real_path(folder), {}};
}

}  // namespace

TorchSearch FindTorch(const std::string& archive_root, const std::string& needed,
                      const Machine& machine) {
  const TorchCandidate variable = FromVariable(machine);
  if (variable.folder.has_value()) return Check(variable, needed, machine);
  const TorchCandidate beside = FromBeside(archive_root, machine);
  if (beside.folder.has_value()) return Check(beside, needed, machine);
  const TorchCandidate python = FromPython(machine);
  if (python.folder.has_value()) return Check(python, needed, machine);
  return {{},
          "torch " + needed + " was not found:\n  " + variable.text + "\n  " + beside.text +
              "\n  " + python.text + "\nSet " + kTorchDirVariable +
              " to the folder torch of that version, or put that folder (or a link to it) at " +
              FolderBeside(archive_root) + ", or install torch==" + Release(needed) +
              " for python3."};
}

}  // namespace meshwright::launcher
