# bash completion for focusctl: focusctl itself computes the candidates.
_focusctl() {
  local words=() word begun line quote= gap rest=${COMP_LINE#*"${COMP_WORDS[0]}"}
  # bash splits words at '=' and ':', too: what has no blank before it belongs to the word before.
  for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
    gap=${rest%%[![:space:]]*}
    rest=${rest#"$gap$word"}
    if [ ${#words[@]} -gt 0 ] && [ -z "$gap" ]; then words[-1]+=$word; else words+=("$word"); fi
  done
  # An open quote stays before what is inserted.
  if [[ ${words[-1]} == [\'\"]* ]]; then quote=${words[-1]:0:1} words[-1]=${words[-1]:1}; else words[-1]=${words[-1]//\\/}; fi
  begun=${words[-1]}
  # Of a word without a quote, bash replaces only what follows the last of these.
  local before=
  [ -n "$quote" ] || before=${begun%"${begun##*[=:]}"}
  COMPREPLY=()
  while IFS= read -r line; do
    line=${line%%$'\t'*}
    line=${line#"$before"}
    # What other programs wrote must stay one word: what is special within the quotes is not offered.
    case $quote in
      "'") if [[ $line != *\'* ]]; then COMPREPLY+=("$line"); fi ;;
      '"') if [[ $line != *[\"\$\`\\!]* ]]; then COMPREPLY+=("$line"); fi ;;
      *) COMPREPLY+=("$(printf %q "$line")") ;;
    esac
  # The command is given as it was typed.
  done < <("${1/#\~\//"$HOME/"}" __complete "${words[@]}" 2>/dev/null)
  if [[ ${#COMPREPLY[@]} = 1 && ${COMPREPLY[0]} == *= ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -F _focusctl focusctl
