# Sourced by tools/test, tools/quickstart and others: sets the machine up and builds, quietly.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$root/build/release
# Whether the release build has the CUDA part: ON or OFF.
cuda=ON

# help_asked SCRIPT ARGUMENT...: if an argument is -h or --help, prints the comment at the script's top and ends.
help_asked() {
  local script=$1 argument
  shift
  for argument in "$@"; do
    if [[ $argument == -h || $argument == --help ]]; then
      sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$script"
      exit 0
    fi
  done
}

# As many compilers as there are cores and as fit into memory: a Torch file takes up to 2.5 GiB.
build_jobs() {
  local cores by_memory
  cores=$(nproc)
  by_memory=$(($(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo) / 2621440))
  ((by_memory < cores)) || by_memory=$cores
  echo $((by_memory > 1 ? by_memory : 1))
}

# release_setup ARGUMENT...: tools/setup for the release build.
release_setup() {
  local only=()
  [[ $cuda == ON ]] || only=(--cpu)
  "$root/tools/setup" ${only[@]+"${only[@]}"} "$@"
}

# configure PRESET OPTION...: what CMake says is printed only where it fails.
configure() {
  local preset=$1 folder=$root/build/$1
  shift
  mkdir -p "$folder"
  if ! (cd "$root" && cmake --preset "$preset" "$@") >"$folder/configure.log" 2>&1; then
    tail -n 30 "$folder/configure.log" >&2
    echo "build: CMake could not configure the preset $preset; all that it said is in $folder/configure.log" >&2
    return 1
  fi
}

# Configures the release preset where that was not done. CMake notices its own files by itself, but not that the
# dependencies moved, nor that the CUDA part came or went.
configure_release() {
  local env
  env=$(release_setup --print-env) || return
  if [[ ! -e $build/build.ninja || $env != "$(cat "$build/setup.env" 2>/dev/null)" ]]; then
    configure release "-DMESHWRIGHT_CUDA=$cuda"
  fi
}

# build_targets PRESET TARGET...: of a preset that is configured.
build_targets() {
  local preset=$1
  shift
  python3 -B "$root/tools/lib/build_progress.py" "$root/build/$preset" "$(build_jobs)" "$@"
}

# set_up_and_build TARGET...: of the release build.
set_up_and_build() {
  release_setup || return
  configure_release || return
  build_targets release "$@"
}
