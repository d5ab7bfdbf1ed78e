# Sourced by tools/setup: the parts of `--frameworks`. Makes Python environments in the cache folder, each with the
# pinned packages of a file in tools/frameworks. An environment's folder is named after what it is made from, so that
# another list is another folder; its file .done says that it is complete.
# shellcheck shell=bash disable=SC2034,SC2154 # $cache, $torch, $steps and others are tools/setup's

framework_lists=$(cd "$(dirname "${BASH_SOURCE[0]}")/../frameworks" && pwd)
frameworks_mib=0

# listed FILE...: the lines of lists without their comments.
listed() {
  (cd "$framework_lists" && sed '/^#/d' "$@")
}

# environment_of PART: the folder of `run` or `check`. Both link to CUDA's libraries, and `run` to LibTorch's: they are
# part of the names. Needs $torch.
environment_of() {
  local made_from
  case $1 in
    run) made_from=$(listed run.txt) ;;
    check) made_from=$(listed check.txt sources.txt) ;;
  esac
  made_from=$(sha256sum <<<"$made_from $torch $(library_dirs cuda)")
  printf '%s' "$cache/frameworks-$1-${made_from:0:8}"
}

# framework_is_installed PART
framework_is_installed() {
  [[ -e $(environment_of "$1")/.done ]]
}

frameworks_are_installed() {
  local part
  for part in ${frameworks[@]+"${frameworks[@]}"}; do
    framework_is_installed "$part" || return 1
  done
}

# Adds to steps what is missing, and sets frameworks_mib: Torch of `run` is whole until links replace its libraries.
count_framework_steps() {
  local part
  for part in ${frameworks[@]+"${frameworks[@]}"}; do
    ! framework_is_installed "$part" || continue
    steps=$((steps + 3))
    frameworks_mib=$((frameworks_mib + ($([[ $part == run ]] && echo 1900 || echo 4500))))
  done
}

print_framework_env() {
  local python
  python=$(environment_of run)/bin/python
  ! framework_is_installed run || printf '%s\n' "MESHWRIGHT_PYTHON=$python"
  ! framework_is_installed check || printf '%s\n' "MESHWRIGHT_CHECK_DIR=$(environment_of check)"
}

# pip_of FOLDER COMMAND ARGUMENT...: pip for an environment. It leaves alone what an interrupted run had installed.
pip_of() {
  local folder=$1 command=$2
  shift 2
  mkdir -p "$folder/tmp"
  logged env TMPDIR="$folder/tmp" PIP_USER=0 PIP_REQUIRE_VIRTUALENV=0 DS_BUILD_OPS=0 \
    /usr/bin/python3 -m pip --python "$folder/bin/python" "$command" --no-deps --no-cache-dir --no-input \
    --progress-bar off --disable-pip-version-check "$@"
}

# pip_install FOLDER ARGUMENT...
pip_install() {
  local folder=$1
  shift
  pip_of "$folder" install --no-compile --root-user-action=ignore "$@"
}

make_environment() {
  logged /usr/bin/python3 -m venv --without-pip "$1" || explain_failure "a Python environment can't be made"
}

packages_of() {
  echo "$1"/lib/python3.*/site-packages
}

# link_torch FOLDER: Torch's libraries and headers become links to LibTorch's.
link_torch() {
  local folder=$1 file
  for file in "$folder"/torch/lib/*; do
    [[ ! -e $torch/torch/lib/${file##*/} ]] || { rm -rf "$file" && ln -s "$torch/torch/lib/${file##*/}" "$file"; }
  done
  rm -rf "$folder/torch/include"
  ln -s "$torch/torch/include" "$folder/torch/include"
}

# link_cuda FOLDER: CUDA's libraries are linked to where Torch looks for them by itself, so that no program needs an
# LD_LIBRARY_PATH.
link_cuda() {
  local folder=$1/nvidia/cu13/lib file dir
  rm -rf "$folder"
  mkdir -p "$folder"
  while IFS= read -r -d : dir; do
    for file in "$dir"/*.so.*; do
      [[ -e $folder/${file##*/} ]] || ln -s "$file" "$folder/"
    done
  done <<<"$(library_dirs cuda):"
}

# finish_environment FOLDER IMPORTED: imports take half as long once compiled, also for users who may not write here, or
# where Python is told to write no bytecode.
finish_environment() {
  local folder=$1
  logged "$folder/bin/python" -c "import $2" || explain_failure "$2 can't be imported from $folder"
  begin "Compiling Python's sources"
  logged "$folder/bin/python" -m compileall -q -j 0 "$folder/lib" || true   # some are for other Pythons
  finish
  rm -rf "$folder/tmp"
  : >"$folder/.done"
}

install_run_environment() {
  local folder version=${torch##*-}
  folder=$(environment_of run)
  begin "Python's part of Torch $version (531 MiB to fetch)"
  make_environment "$folder"
  pip_install "$folder" "torch==$version" || explain_failure "Torch $version can't be installed"
  logged link_torch "$(packages_of "$folder")" || explain_failure "Torch's libraries can't be linked"
  logged link_cuda "$(packages_of "$folder")" || explain_failure "CUDA's libraries can't be linked"
  finish
  begin "transformers, accelerate and what they need (60 MiB to fetch)"
  pip_install "$folder" -r "$framework_lists/run.txt" || explain_failure "transformers can't be installed"
  finish
  finish_environment "$folder" "torch, transformers, accelerate"
}

install_check_environment() {
  local folder name version form archive
  folder=$(environment_of check)
  begin "torchtitan, another Torch and what parsers import (1400 MiB to fetch)"
  make_environment "$folder"
  pip_install "$folder" -r "$framework_lists/check.txt" || explain_failure "torchtitan can't be installed"
  logged link_cuda "$(packages_of "$folder")" || explain_failure "CUDA's libraries can't be linked"
  finish
  begin "The sources of $(listed sources.txt | wc -l) frameworks (20 MiB to fetch)"
  while read -r name version form; do
    [[ ! -d $folder/sources/$name ]] || continue
    rm -rf "$folder/archives" "$folder/sources/partial"
    mkdir -p "$folder/sources/partial"
    if [[ $form == wheel ]]; then
      pip_of "$folder" download --python-version 3.12 --only-binary :all: -d "$folder/archives" "$name==$version" ||
        explain_failure "$name can't be fetched"
    else
      pip_of "$folder" download --no-build-isolation --no-binary :all: -d "$folder/archives" "$name==$version" ||
        explain_failure "$name can't be fetched"
    fi
    archive=$(echo "$folder"/archives/*)
    logged unpack "$archive" "$folder/sources/partial" || explain_failure "$name can't be unpacked"
    mv -T "$folder/sources/partial" "$folder/sources/$name"
  done < <(listed sources.txt)
  rm -rf "$folder/archives"
  finish
  finish_environment "$folder" "torch, torchtitan"
}

# unpack ARCHIVE FOLDER: a wheel, or a source archive without its outermost folder.
unpack() {
  if [[ $1 == *.whl ]]; then
    /usr/bin/python3 -m zipfile -e "$1" "$2"
  else
    tar xzf "$1" -C "$2" --strip-components 1
  fi
}

install_frameworks() {
  local part
  for part in ${frameworks[@]+"${frameworks[@]}"}; do
    framework_is_installed "$part" || "install_${part}_environment"
  done
}
