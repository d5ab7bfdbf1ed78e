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

# Whether the compile cache has most of what the build would compile, of which it asks a sample: not so on a new
# machine, nor after a change to what most sources read.
objects_are_cached() {
  local results hits misses
  results=$(
    log=$(mktemp)
    ninja -C "$build" -t compdb | sed -nE 's/^ *"command": "(.* -c .*\.cc)",?$/\1/p' | grep -v cmake_pch |
      awk 'NR % 60 == 30' | sed -E 's/\\(["\\])/\1/g' |
      (cd "$build" && CCACHE_STATSLOG=$log xargs -d '\n' -n 1 -P "$(build_jobs)" bash -c) >/dev/null 2>&1 || :
    cat "$log"
    rm "$log"
  )
  hits=$(grep -c '_cache_hit$' <<<"$results") || :
  misses=$(grep -c '^cache_miss$' <<<"$results") || :
  echo "of a sample of the sources, the compile cache knows $hits and lacks $misses"
  ((hits > misses))
}

# build_in_groups PRESET TARGET...: of a build that is configured to compile sources in groups. Which ones share names
# is known once they were compiled.
build_in_groups() {
  local folder=$root/build/$1 log=$root/build/$1.log
  shift
  until cmake --build "$folder" --parallel "$(build_jobs)" --target "$@" -- -k 0 2>&1 | tee "$log"; do
    "$root/tools/lib/unity_apart.py" "$folder" "$log" || return
  done
}

# set_up_and_build TARGET...
set_up_and_build() {
  "$root/tools/setup"
  configure_release
  cmake --build "$build" --parallel "$(build_jobs)" --target "$@"
}
