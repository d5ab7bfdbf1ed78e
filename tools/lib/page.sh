# Sourced by tools/setup after frameworks.sh: `--page`, what tests of the server's page need. Debian's chromium is a
# package; what drives it is a Python environment in the cache folder, named after what it is made from, whose file .done
# says that it is complete.
# shellcheck shell=bash disable=SC2034,SC2154 # $cache, $steps and others are tools/setup's

page_packages=(chromium fonts-dejavu-core)
page_list=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../tests/page" && pwd)/requirements.txt
page_mib=160
page=

page_environment() {
  local made_from
  made_from=$(sed '/^#/d' "$page_list" | sha256sum)
  printf '%s' "$cache/page-${made_from:0:8}"
}

page_is_installed() {
  [[ ! $page || -e $(page_environment)/.done ]]
}

print_page_env() {
  local folder
  folder=$(page_environment)
  [[ ! -e $folder/.done ]] || printf '%s\n' "MESHWRIGHT_PAGE_PYTHON=$folder/bin/python"
}

install_page() {
  local folder
  ! page_is_installed || return 0
  folder=$(page_environment)
  begin "playwright (47 MiB to fetch)"
  make_environment "$folder"
  pip_install "$folder" -r "$page_list" || explain_failure "playwright can't be installed"
  logged "$folder/bin/python" -c 'import playwright.sync_api' || explain_failure "playwright can't be imported from $folder"
  rm -rf "$folder/tmp"
  : >"$folder/.done"
  finish
}
