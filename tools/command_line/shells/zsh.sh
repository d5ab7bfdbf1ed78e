#compdef meshwright
# zsh completion of meshwright.

_meshwright() {
  local line text description
  local -a flags prefixes
  while IFS= read -r line; do
    text=${line%%$'\t'*}
    description=${line#*$'\t'}
    case $line in
      :files) _files ;;
      :folders) _files -/ ;;
      *:$'\t'*) prefixes+=("$text") ;;
      *) flags+=("${text//:/\\:}${description:+:$description}") ;;
    esac
  done < <(${(Q)words[1]} __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)
  (($#flags)) && _describe 'meshwright' flags
  (($#prefixes)) && compadd -S '' -- $prefixes
}

if [[ $funcstack[1] == _meshwright ]]; then
  _meshwright "$@"
else
  compdef _meshwright meshwright
fi
