# Sourced by tools/setup after frameworks.sh: Python environments that tests need. `--page` has what drives Debian's
# chromium, which is a package; `--kubernetes` has Kubernetes' own schemas. Each is a folder in the cache folder, named
# after what it is made from, whose file .done says that it is complete.
# shellcheck shell=bash disable=SC2034,SC2154 # $cache, $steps and others are tools/setup's

page_packages=(chromium fonts-dejavu-core)
test_environments=()   # those that are asked for
all_test_environments=(page kubernetes)
test_lists=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../tests" && pwd)
declare -A test_list=([page]=$test_lists/page/requirements.txt [kubernetes]=$test_lists/tools/kubernetes/requirements.txt)
declare -A test_module=([page]=playwright.sync_api [kubernetes]=kubernetes_validate)
declare -A test_mib=([page]=160 [kubernetes]=150)
declare -A test_download_mib=([page]=47 [kubernetes]=24)

# test_environment NAME: its folder.
test_environment() {
  local made_from
  made_from=$(sed '/^#/d' "${test_list[$1]}" | sha256sum)
  printf '%s' "$cache/$1-${made_from:0:8}"
}

# test_environment_is_installed NAME
test_environment_is_installed() {
  [[ -e $(test_environment "$1")/.done ]]
}

test_environments_are_installed() {
  local name
  for name in ${test_environments[@]+"${test_environments[@]}"}; do
    test_environment_is_installed "$name" || return 1
  done
}

# Adds to steps what is missing, and sets test_environments_mib.
count_test_environment_steps() {
  local name
  test_environments_mib=0
  for name in ${test_environments[@]+"${test_environments[@]}"}; do
    ! test_environment_is_installed "$name" || continue
    steps=$((steps + 1))
    test_environments_mib=$((test_environments_mib + test_mib[$name]))
  done
}

print_test_environments() {
  local name
  for name in "${all_test_environments[@]}"; do
    ! test_environment_is_installed "$name" || printf 'MESHWRIGHT_%s_PYTHON=%s\n' "${name^^}" "$(test_environment "$name")/bin/python"
  done
}

install_test_environments() {
  local name folder
  for name in ${test_environments[@]+"${test_environments[@]}"}; do
    ! test_environment_is_installed "$name" || continue
    folder=$(test_environment "$name")
    begin "Python's ${test_module[$name]%%.*} (${test_download_mib[$name]} MiB to fetch)"
    make_environment "$folder"
    pip_install "$folder" -r "${test_list[$name]}" || explain_failure "${test_module[$name]%%.*} can't be installed"
    logged "$folder/bin/python" -c "import ${test_module[$name]}" ||
      explain_failure "${test_module[$name]} can't be imported from $folder"
    rm -rf "$folder/tmp"
    : >"$folder/.done"
    finish
  done
}
