# The line of zsh's prompt as a field of focusd: source this file in ~/.zshrc.
#
# While the line is edited, `focusctl get Shell.Buffer` reads it, `focusctl set Shell.Buffer 'make test'` changes it, and
# `focusctl run Shell.Accept` runs it. The field ends with the shell. If the session ends first, it is back at the first prompt
# of the next one. In tmux: set -g focus-events on. A `trap` on INT has to leave `Shell.Accept` its signal: it is what ends the line before.
autoload -Uz add-zle-hook-widget add-zsh-hook
zmodload zsh/datetime zsh/system
: ${focusd_in:=0} ${focusd_started:=0} ${focusd_is_in_front=yes} ${focusd_accepted=} ${focusd_told=} ${focusd_client=}

# The process of tmux's client, if this is a pane: panes are no children of the terminal that shows them, but the client is.
focusd-tmux-client() {
  [[ -n $TMUX && -n $TMUX_PANE ]] || return 0
  local -a pane=($(command tmux display-message -p -t $TMUX_PANE '#{pane_tty} #{client_pid}' 2>/dev/null))
  # A terminal that was started in a pane has the pane's environment.
  [[ $pane[1] != $TTY || $pane[2] != <1-> ]] || print -r - $pane[2]
}

# Starts `focusctl hold`, unless it runs.
focusd-start() {
  emulate -L zsh
  setopt no_monitor no_notify
  focusd-say ''
  # Without a bus it ends at once: only one prompt a minute pays for that.
  (( ! focusd_in && EPOCHSECONDS - focusd_started >= 60 )) || return 0
  focusd_started=$EPOCHSECONDS focusd_told= focusd_is_in_front=yes
  # `focusctl --previous` leaves the field out that this names. After `exec zsh`, the last one may still be there.
  export FOCUSD_FIELD=zsh_$$_$RANDOM
  focusd_client=$(focusd-tmux-client)
  coproc exec focusctl hold $FOCUSD_FIELD --label "zsh $$" ${focusd_client:+--process} $focusd_client \
    org.focusd.Shell.Buffer= "org.focusd.Shell.Directory=$PWD" \
    --read-only org.focusd.Shell.Directory --command org.focusd.Shell.Accept 2>/dev/null
  disown
  # `focusctl hold` ends with the shell only if no program that the shell starts inherits the pipes.
  local in out
  exec {in}>&p {out}<&p
  sysopen -w -o cloexec -u focusd_in /dev/fd/$in
  sysopen -r -o cloexec -u focusd_out /dev/fd/$out
  exec {in}>&- {out}<&-
  coproc :
  wait $!
  zle -F -w $focusd_out focusd-receive
}

focusd-end() {
  emulate -L zsh
  zle -F $focusd_out
  exec {focusd_in}>&- {focusd_out}<&-
  focusd_in=0
}

# focusd-say LINE: succeeds without `focusctl hold` too, since zsh calls no other hooks after one that fails.
focusd-say() { (( ! focusd_in )) || print -r -u $focusd_in -- "$1" 2>/dev/null || focusd-end }

# focusd-tell KEY TEXT
focusd-tell() { focusd-say "$1 ${${${2//\\/\\\\}//$'\n'/\\n}//$'\t'/\\t}" }

# Whether the line is one of a command: `vared` and `select` edit lines, too.
focusd-is-command() { [[ $CONTEXT == (start|cont) ]] }

# What others wrote, and which command they called.
focusd-receive() {
  emulate -L zsh
  local line
  if ! IFS= read -r -u $focusd_out line; then
    focusd-end
    print -n '\e[?1004l'
    return
  fi
  case $line in
    'org.focusd.Shell.Buffer '*)
      focusd_told=${(g::)line#* }
      BUFFER=$focusd_told CURSOR=$#focusd_told
      zle -R
      ;;
    'run org.focusd.Shell.Accept'*)
      # zsh looks at what a handler accepted only after the next key. So leave this line, and accept it in the next, with the
      # lines that it continues. The line that is left is cleared, or it would be seen twice.
      focusd_accepted=$PREBUFFER$BUFFER BUFFER=
      # What comes next is for the line after it: it waits in the pipe.
      zle -F $focusd_out
      zle -R
      (sleep 0.01; kill -INT $$) &!
      ;;
  esac
}

focusd-redraw() {
  emulate -L zsh
  focusd-is-command || return 0
  [[ $BUFFER == "$focusd_told" ]] && return
  focusd_told=$BUFFER
  focusd-tell org.focusd.Shell.Buffer "$BUFFER"
}

# The terminal tells when its window comes to the front and leaves it, but not while a command runs.
focusd-focus-in() { focusd_is_in_front=yes; focusd-say focus }
focusd-focus-out() { focusd_is_in_front=; focusd-say blur }
focusd-line-init() {
  emulate -L zsh
  focusd-is-command || return 0
  # tmux's session may be shown by another client now.
  if (( focusd_in )) && [[ -n $TMUX && ( -z $focusd_client || ! -d /proc/$focusd_client ) ]] &&
    [[ $(focusd-tmux-client) != "$focusd_client" ]]; then
    focusd-end
    focusd_started=0
  fi
  focusd-start
  (( ! focusd_in )) || print -n '\e[?1004h'
  [[ -z $focusd_is_in_front ]] || focusd-say focus
  if [[ -n $focusd_accepted ]]; then
    BUFFER=$focusd_accepted
    zle accept-line
  else
    (( ! focusd_in )) || zle -F -w $focusd_out focusd-receive
    # An empty line is not redrawn: the last one would stay published.
    focusd-redraw
  fi
}
focusd-line-finish() {
  emulate -L zsh
  print -n '\e[?1004l'
  focusd-say blur
  # What comes now waits for the next line of a command.
  (( ! focusd_in )) || zle -F $focusd_out
  focusd_accepted=
}
focusd-directory() { focusd-tell org.focusd.Shell.Directory "$PWD" }

if [[ -o interactive ]]; then
  zle -N focusd-receive
  zle -N focusd-focus-in
  zle -N focusd-focus-out
  # In all keymaps: the user may choose another later, and vi's open a line with O.
  () {
    local keymap
    for keymap in emacs viins vicmd; do
      bindkey -M $keymap '\e[I' focusd-focus-in
      bindkey -M $keymap '\e[O' focusd-focus-out
    done
  }
  add-zle-hook-widget line-init focusd-line-init
  add-zle-hook-widget line-pre-redraw focusd-redraw
  add-zle-hook-widget line-finish focusd-line-finish
  add-zsh-hook chpwd focusd-directory
  focusd-start
fi
