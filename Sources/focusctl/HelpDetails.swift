/// What the help of each command says beyond its line in the table.
extension Help {
  static let tree = """
    Each field with its id and its label where that differs, those within it
    indented. The fields on the focus path are shown with their values, KEY: VALUE
    (TYPE), and their commands, KEY(). Of the others a few are shown, and a count.
    Where nothing has focus the exit status is 1, and a pipe gets nothing.
    """

  static let list = """
    A line for each field: id, label, parent, scope, '*' where it has focus, owner;
    '-' where there is none. On a terminal, what fits into its width, and 200 lines.
    The parts of a --format are {id} {label} {parent} {scope} {focused} {owner}
    {linger} {sensitive} {json}; {parent:-TEXT} is TEXT where there is none.
    """

  static let get = """
    Text and numbers are printed as they are, anything else as JSON. Nothing is
    printed for nil. The parts of a --format are {key} {value} {type} {field}
    {revision} {json}; {{ and }} are braces, \\n and \\t a line break and a tab.

    Examples:
      \(Program.name) get demo.Form.Number
      \(Program.name) get demo.Todo.Items/2/done
      \(Program.name) get --previous --json Number      {"type":"i","data":8}
    """

  static let set = """
    VALUE is read by the key's own type: text as it is, numbers, 'true' or 'false',
    anything else as JSON. A POINTER that ends in '/-' appends to an array; one that
    ends in a new dictionary key adds it.

    Examples:
      \(Program.name) set demo.Form.Number -8
      \(Program.name) set demo.Form.Tags '["a","b"]'
      \(Program.name) set demo.Form.Tags/- c
      \(Program.name) set demo.Form.Note -- --draft--
    """

  static let update = """
    Expressions: +N, -N, *N and /N for numbers (whole numbers are divided as in C),
    'toggle' for booleans, 'append TEXT' for strings and arrays. The change is made
    to the value as it stands, whatever others do meanwhile, and stays in the field
    that was read first. A result that the type cannot hold is refused.

    Examples:
      \(Program.name) update demo.Form.Number +5
      \(Program.name) update demo.Sound.Volume '*0.5'
      \(Program.name) update demo.Todo.Items/2/done toggle
      \(Program.name) update demo.Form.Note append ' and more'
    """

  static let watch = """
    With one KEY a line is its value, else KEY VALUE; 'nil' stands for no value.
    Line breaks, tabs and backslashes in text are written \\n, \\t and \\\\; JSON tells
    the text nil from no value. Without KEY, every key that resolves is watched. It
    goes on across a restart of the daemon, until it is ended. On a terminal the
    lines are drawn over in place: arrows scroll, q ends. The parts of a --format are
    {key} {value} {type} {json}; {value:-TEXT} is TEXT for nil.

    Examples:
      \(Program.name) watch demo.Form.Number
      \(Program.name) watch demo.Form.Number --waybar
      \(Program.name) watch --json | while read -r change; do …; done
    """

  static let wait = """
    Nothing is printed. It also waits for a daemon that is not there yet. With
    --timeout the exit status is 1 where the key is nil all that time.

    Example:
      \(Program.name) wait demo.Form.Number && \(Program.name) set demo.Form.Number 8
    """

  static let run = """
    ARGUMENTs are read by the types that the command takes: text as it is, numbers,
    'true' or 'false', anything else as JSON. Each result is a line. A command that
    is disabled is refused; one that nothing has is nil.

    Examples:
      \(Program.name) run demo.Edit.Insert 'some text'
      \(Program.name) run --field editor --json Undo      [{"type":"b","data":true}]
    """

  static let commands = """
    A line for each command: name, 'enabled' or 'disabled', the types that it takes
    or '-'.
    """

  static let register = """
    The field's id is printed; with the id '' the daemon picks one. Without
    SIGNATURE a value's type is what it looks like: true and false b; whole numbers
    i, large ones x or t; with a point or an exponent d; JSON arrays and objects;
    else s.

    Examples:
      \(Program.name) register main --label 'Main window'
      \(Program.name) register text1 --parent main demo.Form.Number=1
      \(Program.name) register text2 demo.Form.Size:d=1 'demo.Form.Tags=["a","b"]'
    """

  static let blur = "A field without focus is left as it is, and that is no error."

  static let publish = """
    Without SIGNATURE a key that the field has keeps its type; a new one gets the
    type that the value looks like, as with 'register'.

    Example:
      \(Program.name) publish text1 demo.Form.Number=2 demo.Form.Hint='a number'
    """
}
