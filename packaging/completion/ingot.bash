# Completes the words of `ingot`: its commands, their flags and, elsewhere, files. What there is, its own help says.

_ingot() {
  local program="${COMP_WORDS[0]}" word="${COMP_WORDS[COMP_CWORD]}" words=""
  COMPREPLY=()
  if [[ "${COMP_CWORD}" -eq 1 || ("${COMP_CWORD}" -eq 2 && "${COMP_WORDS[1]}" == help) ]]; then
    words="$("${program}" help 2> /dev/null | sed -n 's/^  \([a-z]\+\) .*/\1/p')"
    [[ "${COMP_CWORD}" -eq 2 ]] || words+=" help --version"
  elif [[ "${word}" == -* ]]; then
    words="$("${program}" help "${COMP_WORDS[1]}" 2> /dev/null | sed -n 's/^  \(--\?[a-z-]\+=\?\).*/\1/p')"
  fi
  if [[ -n "${words}" ]]; then
    mapfile -t COMPREPLY < <(compgen -W "${words}" -- "${word}")
    # A flag with a value goes on after the =.
    [[ "${COMPREPLY[*]}" != *= ]] || compopt -o nospace 2> /dev/null
  fi
}

complete -o default -F _ingot ingot
