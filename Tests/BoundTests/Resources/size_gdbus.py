"""LocalBinding on GDBus: a size of three, behind a slider from 0 to 1."""

from gi.repository import GLib

from focusd_owner import Owner, Refusal

XML = """
<node><interface name="demo.Size">
  <property name="Position" type="d" access="readwrite"/>
  <property name="Name" type="s" access="read">
    <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="const"/>
  </property>
  <method name="Reset"><arg name="position" type="d" direction="out"/></method>
  <signal name="Resized"><arg name="size" type="s"/></signal>
</interface></node>
"""
POSITIONS = {"small": 0.15, "medium": 0.5, "large": 0.85}
size = "small"


def resize(new):
    global size
    if new == size:
        return
    size = new
    print(size)
    owner.changed("/size", "demo.Size", Position=GLib.Variant("d", POSITIONS[size]))
    owner.bus.emit_signal(None, "/size", "demo.Size", "Resized", GLib.Variant("(s)", (size,)))


def get(_interface, name):
    return POSITIONS[size] if name == "Position" else "Size"


def put(_interface, _name, value):
    if not 0 <= value <= 1:
        raise Refusal("org.example.Size.OutOfRange", f"{value} is not within 0 and 1")
    resize("small" if value < 0.25 else "medium" if value < 0.75 else "large")


def call(_interface, _method, _arguments):
    resize("small")
    return GLib.Variant("(d)", (POSITIONS[size],))


owner = Owner()
owner.export("/size", XML, get, put, call)
owner.register("size", "/size", focus=GLib.Variant("b", True))
owner.run()
