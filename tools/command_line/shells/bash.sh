# bash completion of meshwright.

_meshwright() {
  local IFS=$'\n' word current="" line text
  local -a words=()
  local glued=""
  # Bash has taken words apart at colons and equals signs.
  for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if ((${#words[@]})) && [[ $word == [:=]* || (-n $glued && -n $word) ]]; then
      words[-1]+=$word
    else
      words+=("$word")
    fi
    [[ $word == *[:=] ]] && glued=yes || glued=""
  done
  ((${#words[@]})) && current=${words[-1]}
  # It puts an answer in place of what follows the last of them.
  local kept=${current%"${current##*[:=]}"}
  [[ $COMP_WORDBREAKS == *:* ]] || kept=${current%"${current##*=}"}

  COMPREPLY=()
  while IFS= read -r line; do
    text=${line%%$'\t'*}
    case $line in
      :files | :folders)
        local action=-f
        [[ $line == :folders ]] && action=-d
        compopt -o filenames 2>/dev/null
        COMPREPLY+=($(compgen "$action" -- "${current#"${current%%=*}="}"))
        ;;
      *)
        [[ $text == *: ]] && compopt -o nospace 2>/dev/null
        COMPREPLY+=("${text#"$kept"}")
        ;;
    esac
  done < <("$1" __complete "${words[@]}" 2>/dev/null)
}

complete -F _meshwright meshwright
