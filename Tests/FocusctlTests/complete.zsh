# Types each argument and a tab into an interactive zsh with completions from $1, and prints what the line then is.
zmodload zsh/zpty
zpty shell zsh -f -i
directory=$1
shift
zpty -w shell "fpath=($directory \$fpath); autoload -Uz compinit; compinit -D -u
  shown() { print -r -- \"<<\$BUFFER>>\"; BUFFER= }; zle -N shown; bindkey '^X' shown; LISTMAX=1000
  PS1='RE''ADY>'"
zpty -r shell seen '*READY>*'
for line in "$@"; do
  zpty -w -n shell "$line"$'\t\x18'
  zpty -r shell seen '*<<*>>*'
  seen=${seen##*<<}
  print -r -- "${seen%>>*}"
done
zpty -d shell
