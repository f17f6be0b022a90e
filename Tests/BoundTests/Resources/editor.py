"""An editor with keys and commands that others have too: python3 editor.py ADDRESS ID [PARENT].

Each value and each result begins with the id, so that an answer tells whose it is. On standard input: `focus`, `blur`,
`enable COMMAND`, `disable COMMAND`, `move TIMES`, `put NAME TEXT`.
"""

import sys

from gi.repository import GLib

from focusd_owner import Owner

KEYS = "".join(f'<property name="{name}" type="s" access="readwrite"/>' for name in "AB")
XML = f"""
<node>
  <interface name="demo.Edit">
    {KEYS}
    <method name="Who"><arg name="who" type="s" direction="out"/></method>
    <method name="Insert">
      <arg name="text" type="s" direction="in"/><arg name="at" type="i" direction="in"/>
      <arg name="whole" type="s" direction="out"/><arg name="length" type="u" direction="out"/>
    </method>
    <signal name="Inserted"><arg name="who" type="s"/></signal>
  </interface>
</node>
"""
OWN = '<node><interface name="demo.{}"><property name="Name" type="s" access="read"/><method name="Close"/></interface></node>'
own_id = sys.argv[2]
values = {"A": own_id + ":", "B": own_id + ":", "Name": own_id}
text = ""


def put(_interface, name, value):
    values[name] = own_id + ":" + value
    owner.changed("/editor", "demo.Edit", **{name: GLib.Variant("s", values[name])})


def call(_interface, method, arguments):
    global text
    if method == "Who":
        return GLib.Variant("(s)", (own_id,))
    if method == "Insert":
        text = text[: arguments[1]] + arguments[0] + text[arguments[1]:]
        print("inserted", arguments[0])
        owner.bus.emit_signal(None, "/editor", "demo.Edit", "Inserted", GLib.Variant("(s)", (own_id,)))
        return GLib.Variant("(su)", (text, len(text)))
    return None


def move(times):
    """Takes focus and gives it up, so often, with some calls under way at a time."""
    left = {"begun": 0, "done": 0}

    def next_one():
        method = "Focus" if left["begun"] % 2 == 0 else "Blur"
        left["begun"] += 1
        owner.field(own_id, method, None, done)

    def done(_):
        left["done"] += 1
        if left["done"] == times:
            print("moved", times)
        elif left["begun"] < times:
            next_one()

    for _ in range(8):
        next_one()


def obey(word, *rest):
    if word in ("focus", "blur"):
        owner.field(own_id, word.capitalize(), None, lambda _: print(word))
    elif word in ("enable", "disable"):
        commands = GLib.Variant("(a{sb})", ({"demo.Edit." + rest[0]: word == "enable"},))
        owner.field(own_id, "SetEnabled", commands, lambda _: print(word, rest[0]))
    elif word == "move":
        move(int(rest[0]))
    elif word == "put":
        put(None, *rest)
        print("put", *rest)


owner = Owner()
owner.export("/editor", XML, lambda _, name: values[name], put, call)
# Beside what all editors have, each has something of its own.
owner.export("/editor", OWN.format(own_id.capitalize()), lambda _, name: values[name], put, call)
parent = {"parent": GLib.Variant("o", "/org/focusd/Focus1/field/" + sys.argv[3])} if len(sys.argv) > 3 else {}
owner.register(own_id, "/editor", **parent)
owner.run(obey)
