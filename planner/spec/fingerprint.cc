#include "planner/spec/fingerprint.h"

#include <string_view>

namespace meshwright::planner {
namespace {

void AddDifference(std::string_view name, const std::string& measured, const std::string& found,
                   std::vector<std::string>& differences) {
  if (measured.empty() || found.empty() || measured == found) return;
  differences.push_back(std::string(name) + " " + found + " where " + measured + " was measured");
}

}  // namespace

std::vector<std::string> DifferencesFrom(const Fingerprint& measured, const Fingerprint& found) {
  const MachineFacts& then = measured.machine;
  const MachineFacts& now = found.machine;
  std::vector<std::string> differences;
  AddDifference("device", measured.device, found.device, differences);
  AddDifference("driver", then.driver, now.driver, differences);
  AddDifference("CUDA", then.cuda, now.cuda, differences);
  AddDifference("NCCL", then.nccl, now.nccl, differences);
  AddDifference("processor", then.host_cpu, now.host_cpu, differences);
  return differences;
}

}  // namespace meshwright::planner
