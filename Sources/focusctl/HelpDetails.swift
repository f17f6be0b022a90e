/// The help of each command beyond its line in the table.
extension Help {
  static let tree = """
    Each field has its id, its label if that differs, and the fields within it,
    indented. Fields on the focus path have their values, KEY: VALUE (TYPE), and
    their commands, KEY(). Only a few of the others are shown, with a count of the
    rest. The session's fields follow, a line each, in the order in which they supply
    what the focus path and its scene do not have; those that are active are marked.
    '--all' shows their values and all fields. If nothing has focus, the exit status
    is 1 and a pipe receives only the session's fields.
    """

  static let list = """
    A line for each field: id, label, parent, scope, '*' if it has focus, owner, '*' if
    it is an active session field; '-' stands for none. The parent of an adopted
    scene is its window. On a terminal, columns that do not fit are left out. The
    parts of a --format are {id} {label} {parent} {scope} {focused} {active} {owner}
    {process} {linger} {sensitive} {json}; {parent:-TEXT} is TEXT if there is no
    parent.
    """

  static let get = """
    Text and numbers are printed as they are, anything else as JSON. If all keys are
    nil, nothing is printed, and the exit status is 1, unless the format has a text
    for each; one of several is an empty line. With several, '--json' prints
    {"key":…,"value":…} for each. The parts of a --format are {key} {value} {type}
    {field} {revision} {json}, keys, and functions of them: lc uc default trunc round
    duration markup_escape emoji join. {Title:-TEXT} is TEXT if the key is nil; {{ and
    }} are braces, \\n and \\t a line break and a tab.

    Examples:
      \(Program.name) get demo.Form.Number
      \(Program.name) get demo.Todo.Items/2/done
      \(Program.name) get --previous --json Number      {"type":"i","data":8}
      \(Program.name) get --format '{uc(Text)} at {duration(Position)}'
    """

  static let set = """
    VALUE is parsed according to the key's type: text as it is, numbers, 'true' or
    'false', anything else as JSON. A POINTER that ends in '/-' appends to an array;
    one that ends in a new dictionary key adds it. '-' is standard input, without the
    line break at its end, but for one behind '--'.

    Examples:
      \(Program.name) set demo.Form.Number -8
      \(Program.name) set demo.Form.Tags '["a","b"]'
      \(Program.name) set demo.Form.Tags/- c
      \(Program.name) set demo.Form.Note -- --draft--
      \(Program.name) set demo.Form.Note - <draft.txt
    """

  static let update = """
    Expressions: +N, -N, *N and /N for numbers (whole numbers are divided as in C),
    'toggle' for booleans, 'append TEXT' for strings and arrays, 'next A B C…' for
    the value after the current one, and from the last to the first. If others
    change the value meanwhile, the update is repeated with the new value, always in
    the field that was read first. A result that the type cannot hold is refused.

    Examples:
      \(Program.name) update demo.Form.Number +5
      \(Program.name) update demo.Sound.Volume +0.05 --max 1
      \(Program.name) update demo.Form.Mode next draft final
      \(Program.name) update demo.Todo.Items/2/done toggle
      \(Program.name) update demo.Form.Note append ' and more'
    """

  static let watch = """
    With one KEY, a line is its value, otherwise KEY VALUE; 'nil' stands for no
    value. Line breaks, tabs and backslashes in text are written \\n, \\t and \\\\; JSON
    distinguishes the text nil from no value. Without KEY, every key that resolves
    is watched. It continues when the daemon restarts, until interrupted; while there
    is no daemon, every key is nil. On a terminal the lines are updated in place: the
    arrow keys scroll, q quits. The parts of a --format are {key} {value} {type}
    {field} {json}, keys and functions as with 'get'; with keys in the format and
    without KEY, the line is printed whenever it changes.

    Examples:
      \(Program.name) watch demo.Form.Number
      \(Program.name) watch demo.Form.Number --waybar
      \(Program.name) watch --format '{Metadata/xesam:title:-}'
      \(Program.name) watch --json | while read -r change; do …; done
    """

  static let wait = """
    Nothing is printed. If the daemon is not running yet, it waits for the daemon.
    It waits without a time limit unless --timeout is given; then the exit status
    is 1 if the key is nil for all that time.

    Example:
      \(Program.name) wait demo.Form.Number && \(Program.name) set demo.Form.Number 8
    """

  static let run = """
    ARGUMENTs are parsed according to the command's types: text as it is, numbers,
    'true' or 'false', anything else as JSON. Each result is a line. A disabled
    command is refused; a command that does not resolve is nil. With --previous, the
    commands are those that the field would have if it had focus: its own, those of
    its ancestors and of its scene.

    Examples:
      \(Program.name) run demo.Edit.Insert 'some text'
      \(Program.name) run --field editor --json Undo      [{"type":"b","data":true}]
    """

  static let commands = """
    A line for each command: name, 'enabled' or 'disabled', the types of its
    arguments or '-'. With --previous, as 'run' finds them then.
    """

  static let menu = """
    A line for each item: the menus that it is in and its label, the keys that run it,
    and 'on' or 'off' if it can be checked, separated by tabs; its id follows if two
    items have the same menus, label and keys. Disabled items are last, marked
    'disabled'. ITEM is such a line, its first part, an id, a label, or any part of a
    path that only one item has. An item that can be checked is checked or unchecked
    when it runs; 'on' and 'off' say which. With --field or --previous, the menus are
    those that the field would have if it had focus.

    Examples:
      \(Program.name) menu
      \(Program.name) menu 'Edit › Undo'
      \(Program.name) menu 'line numbers' on
      \(Program.name) menu --json | jq -r .id
    """

  static let register = """
    The field's id is printed; with the id '' the daemon chooses one. Without
    SIGNATURE the type is inferred from the value: b for true and false; i, or if
    too large x or t, for whole numbers; d for numbers with a point or an exponent;
    JSON arrays and objects; else s. A key that all programs share, such as
    org.focusd.Text.Content, has its own type. KEY must be the whole key; in
    '--active' its last part is enough.

    With '--scope session' the keys also resolve if neither the focus path nor its
    scene has their interface, whatever has focus. The field that became active last
    comes first; '--active' says when it is active.

    Examples:
      \(Program.name) register main --label 'Main window'
      \(Program.name) register text1 --parent main demo.Form.Number=1
      \(Program.name) register text2 demo.Form.Size:d=1 'demo.Form.Tags=["a","b"]'
      \(Program.name) register radio --scope session demo.Radio.Playing=false \\
          --active demo.Radio.Playing=true
    """

  static let describe = """
    The lines are the key, its type, whether others may write it, the field that it
    comes from, why from that one, the field's owner and the value's revision. KEY
    may also be a command; its type is that of its arguments. The last part of the
    key is enough if it is unambiguous.
    """

  static let hold = """
    Standard input changes the field: 'KEY VALUE' gives a key a value, 'focus' and
    'blur' move focus. Standard output reports what others do: 'KEY VALUE' is what they
    wrote, 'run COMMAND ARGUMENT…' is a call of a --command, which takes arguments of
    its SIGNATURE, or none. In both directions a backslash, a line break and a tab of
    text are \\\\, \\n and \\t; if a call has several arguments, each is JSON.
    The field is removed when standard input ends, unless that is /dev/null or closed,
    and when standard output does. It belongs to the process that started this one, such
    as the script, and so is in its window. Without a daemon it says so, and waits.

    Example:
      \(Program.name) hold prompt org.focusd.Shell.Buffer= --focus \\
          --command org.focusd.Shell.Accept
    """

  static let bind = """
    The field has the properties and methods of the object PATH of the program that
    owns the bus name NAME, and is there while NAME has an owner. With 'NAME.*' there
    is a field for each name that begins with 'NAME.'; its id is ID, '_' and the rest
    of the name, with '_' for each other character. It continues when the daemon
    restarts, until interrupted.

    Examples:
      \(Program.name) bind mpv --service org.mpris.MediaPlayer2.mpv \\
          --object /org/mpris/MediaPlayer2
      \(Program.name) bind player --service 'org.mpris.MediaPlayer2.*' \\
          --object /org/mpris/MediaPlayer2 --scope session \\
          --live org.mpris.MediaPlayer2.Player.Position \\
          --active org.mpris.MediaPlayer2.Player.PlaybackStatus=Playing
    """

  static let activate = """
    A session field that is activated is the first one until another becomes active.
    '--next' and '--previous' activate the session field after or before the one that
    is first now, in the order of the ids, and from one end to the other.
    """

  static let withdraw = "The last part of a key is enough if only one of the field's keys ends so."

  static let focus = """
    If a program owns the field, the program is asked to move it; that is refused if
    the field's object does not implement org.focusd.Focus1.Responder.
    """

  static let blur = "If the field does not have focus, nothing happens; this is not an error."

  static let publish = """
    Without SIGNATURE, an existing key keeps its type, and the type of a new key is
    inferred from the value, as with 'register'. The last part of an existing key is
    enough if it is unambiguous; a new key must be whole.

    Example:
      \(Program.name) publish text1 demo.Form.Number=2 demo.Form.Hint='a number'
    """
}
