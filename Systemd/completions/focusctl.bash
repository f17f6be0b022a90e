# bash completion for focusctl: focusctl itself computes the candidates.
_focusctl() {
  local words=() word begun line quote=
  # bash splits words at '=' and ':'.
  for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if [ ${#words[@]} -gt 0 ] && [[ $word == [=:]* || ${words[-1]} == *[=:] ]]; then
      words[-1]+=$word
    else
      words+=("$word")
    fi
  done
  # An open quote stays before what is inserted.
  if [[ ${words[-1]} == [\'\"]* ]]; then quote=1 words[-1]=${words[-1]:1}; else words[-1]=${words[-1]//\\/}; fi
  begun=${words[-1]}
  local before=${begun%"${begun##*[=:]}"}
  COMPREPLY=()
  while IFS= read -r line; do
    line=${line%%$'\t'*}
    line=${line#"$before"}
    if [ -n "$quote" ]; then COMPREPLY+=("$line"); else COMPREPLY+=("$(printf %q "$line")"); fi
  done < <("$1" __complete "${words[@]}" 2>/dev/null)
  if [[ ${#COMPREPLY[@]} = 1 && ${COMPREPLY[0]} == *= ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -F _focusctl focusctl
