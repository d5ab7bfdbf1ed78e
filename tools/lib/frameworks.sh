# Sourced by tools/setup: the part `--frameworks`. Makes Python environments in the cache folder, each with the pinned
# packages of a file in tools/frameworks. An environment's folder is named after what it is made from, so that another
# list is another folder; its file .done says that it is complete.
# shellcheck shell=bash disable=SC2154 # $cache, $torch and others are tools/setup's

framework_lists=$(cd "$(dirname "${BASH_SOURCE[0]}")/../frameworks" && pwd)
frameworks_mib=0

# Sets run_environment, which links to LibTorch's and CUDA's libraries: they are part of its name. Needs $torch.
find_run_environment() {
  local made_from
  made_from=$(sha256sum <<<"$(<"$framework_lists/run.txt") $torch $(library_dirs cuda)")
  run_environment=$cache/frameworks-run-${made_from:0:8}
}

# framework_is_installed run
framework_is_installed() {
  find_run_environment
  [[ -e $run_environment/.done ]]
}

frameworks_are_installed() {
  local part
  for part in ${frameworks[@]+"${frameworks[@]}"}; do
    framework_is_installed "$part" || return 1
  done
}

# Adds to steps what is missing, and sets frameworks_mib: Torch is whole until LibTorch's libraries replace its own.
count_framework_steps() {
  local part
  for part in ${frameworks[@]+"${frameworks[@]}"}; do
    ! framework_is_installed "$part" || continue
    steps=$((steps + 3))
    frameworks_mib=$((frameworks_mib + 1900))
  done
}

print_framework_env() {
  ! framework_is_installed run || printf '%s\n' "MESHWRIGHT_PYTHON=$run_environment/bin/python"
}

# pip_install FOLDER ARGUMENT...: into an environment. pip leaves alone what an interrupted run had installed.
pip_install() {
  local folder=$1
  shift
  mkdir -p "$folder/tmp"
  logged env TMPDIR="$folder/tmp" PIP_USER=0 PIP_REQUIRE_VIRTUALENV=0 \
    /usr/bin/python3 -m pip --python "$folder/bin/python" install --no-deps --no-compile --no-cache-dir --no-input \
    --progress-bar off --disable-pip-version-check --root-user-action=ignore "$@"
}

# link_libraries FOLDER: Torch's libraries and headers become links to LibTorch's, and CUDA's libraries are linked to
# where Torch looks for them by itself, so that no program needs an LD_LIBRARY_PATH.
link_libraries() {
  local folder=$1 file dir
  for file in "$folder"/torch/lib/*; do
    [[ ! -e $torch/torch/lib/${file##*/} ]] || { rm -rf "$file" && ln -s "$torch/torch/lib/${file##*/}" "$file"; }
  done
  rm -rf "$folder/torch/include" "$folder/nvidia/cu13/lib"
  ln -s "$torch/torch/include" "$folder/torch/include"
  mkdir -p "$folder/nvidia/cu13/lib"
  while IFS= read -r -d : dir; do
    for file in "$dir"/*.so.*; do
      [[ -e $folder/nvidia/cu13/lib/${file##*/} ]] || ln -s "$file" "$folder/nvidia/cu13/lib/"
    done
  done <<<"$(library_dirs cuda):"
}

install_run_environment() {
  local version=${torch##*-}
  find_run_environment
  begin "Python's part of Torch $version (531 MiB to fetch)"
  logged /usr/bin/python3 -m venv --without-pip "$run_environment" || explain_failure "a Python environment can't be made"
  pip_install "$run_environment" "torch==$version" || explain_failure "Torch $version can't be installed"
  logged link_libraries "$(echo "$run_environment"/lib/python3.*/site-packages)" ||
    explain_failure "Torch's libraries can't be linked"
  finish
  begin "transformers, accelerate and what they need (60 MiB to fetch)"
  pip_install "$run_environment" -r "$framework_lists/run.txt" || explain_failure "transformers can't be installed"
  logged "$run_environment/bin/python" -c 'import torch, transformers, accelerate' ||
    explain_failure "Torch can't be imported from $run_environment"
  finish
  # Imports take half as long, also for users who may not write here, or where Python is told to write no bytecode.
  begin "Compiling Python's sources"
  logged "$run_environment/bin/python" -m compileall -q -j 0 "$run_environment/lib" || true   # some are for other Pythons
  finish
  rm -rf "$run_environment/tmp"
  : >"$run_environment/.done"
}

install_frameworks() {
  local part
  for part in ${frameworks[@]+"${frameworks[@]}"}; do
    framework_is_installed "$part" || "install_${part}_environment"
  done
}
