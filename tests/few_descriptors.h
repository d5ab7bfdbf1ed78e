// While a FewDescriptors object lives, this process has only `spare` free file descriptors.
#pragma once

#include <sys/eventfd.h>
#include <sys/resource.h>

#include <cstddef>
#include <vector>

#include "base/system/unique_fd.h"

namespace meshwright {

class FewDescriptors {
 public:
  explicit FewDescriptors(size_t spare) {
    getrlimit(RLIMIT_NOFILE, &before_);
    // Numbers between free ones may be taken.
    std::vector<UniqueFd> free;
    while (free.size() <= spare) free.emplace_back(::eventfd(0, EFD_CLOEXEC));
    rlimit few = before_;
    few.rlim_cur = static_cast<rlim_t>(free.back().get());
    setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

 private:
  rlimit before_;
};

}  // namespace meshwright
