"""A program with a field of its own, in a terminal that tells it of its focus.

polite: it focuses and blurs the field as the terminal gains and loses focus; late: some time after; silent: once, and then
never. `demo.Form.State` says what it said last, when that is answered.
"""

import os
import sys
import termios
import tty

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib

address, name, manner = sys.argv[1:4]
delay = {"polite": 0, "late": 40}.get(manner)
flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
bus = Gio.DBusConnection.new_for_address_sync(address, flags, None, None)
FIELD = "/org/focusd/Focus1/field/" + name


def call(path, interface, member, arguments=None):
    return bus.call_sync(
        "org.focusd.Focus1", path, "org.focusd.Focus1." + interface, member, arguments, None,
        Gio.DBusCallFlags.NONE, -1, None)


def say(gained):
    call(FIELD, "Field", "Focus" if gained else "Blur")
    state = {"demo.Form.State": GLib.Variant("s", "in" if gained else "out")}
    call(FIELD, "Field", "Publish", GLib.Variant("(a{sv}a{sv})", (state, {})))
    return False


def typed(*_):
    # ESC [ I and ESC [ O: xterm's "Focus Tracking".
    for byte in os.read(0, 256):
        if delay is None or byte not in b"IO":
            continue
        if delay:
            GLib.timeout_add(delay, say, byte == ord("I"))
        else:
            say(byte == ord("I"))
    return True


if os.isatty(0):
    tty.setcbreak(0, termios.TCSANOW)
    # The answer to the second says that the first is done: from here on no change of focus is missed.
    os.write(1, b"\x1b[?1004h\x1b[5n")
    while b"n" not in os.read(0, 256):
        pass
    GLib.unix_fd_add_full(GLib.PRIORITY_DEFAULT, 0, GLib.IOCondition.IN, typed, None)
values = {"demo.Form.Name": GLib.Variant("s", name), "demo.Form.State": GLib.Variant("s", "new")}
options = {"focus": GLib.Variant("b", True)}
call("/org/focusd/Focus1", "Manager", "Register", GLib.Variant("(sa{sv}a{sv})", (name, values, options)))
print("registered", flush=True)
loop = GLib.MainLoop()
# Its terminal may end before it.
bus.connect("closed", lambda *_: loop.quit())
loop.run()
