// bin/meshwright-worker of an unpacked archive: finds LibTorch and executes the worker, which is
// linked to it.
//
// usage: meshwright-worker [ARGUMENT...]                  the worker with these arguments
//        meshwright-worker --exec PROGRAM [ARGUMENT...]   another program that needs LibTorch
// Exits with 2, listing where it looked, where LibTorch is not found. It execs, so the process
// keeps the descriptors and the parent that the worker expects.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "executor/launcher/launch.h"
#include "executor/launcher/machine.h"

namespace {

int Fail(const std::string& problem) {
  std::fprintf(stderr, "meshwright-worker: %s\n", problem.c_str());
  return 2;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

int main(int argc, char** argv) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return Fail("/proc/self/exe can't be read: " + error.message());
  const std::vector<std::string> arguments(argv, argv + argc);
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  meshwright::launcher::Launch launch =
      meshwright::launcher::PlanLaunch(self.parent_path().parent_path(), MESHWRIGHT_TORCH_VERSION,
                                       arguments, environment, meshwright::launcher::ThisMachine());
  if (!launch.problem.empty()) return Fail(launch.problem);
  ::execve(launch.arguments[0].c_str(), Pointers(launch.arguments).data(),
           Pointers(launch.environment).data());
  return Fail(launch.arguments[0] + " can't be started: " + std::strerror(errno));
}
