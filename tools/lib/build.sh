# Sourced by tools/test, tools/quickstart and others: sets the machine up and builds the release preset.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$root/build/release

# As many compilers as there are cores and as fit into memory: a Torch file takes up to 2.5 GiB.
build_jobs() {
  local cores by_memory
  cores=$(nproc)
  by_memory=$(($(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo) / 2621440))
  ((by_memory < cores)) || by_memory=$cores
  echo $((by_memory > 1 ? by_memory : 1))
}

# Configures the release preset where that was not done, after tools/setup.
configure_release() {
  local env
  env=$("$root/tools/setup" --print-env)
  # CMake notices its own files by itself, but not that the dependencies moved.
  if [[ ! -e $build/build.ninja || $env != "$(cat "$build/setup.env" 2>/dev/null)" ]]; then
    (cd "$root" && cmake --preset release)
  fi
}

# set_up_and_build TARGET...
set_up_and_build() {
  "$root/tools/setup"
  configure_release
  cmake --build "$build" --parallel "$(build_jobs)" --target "$@"
}
