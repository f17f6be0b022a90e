"""A window of GTK 3 with a field of its own, which prints whether the compositor says that it is active.

A line of the input is the window's next title; `menu` opens a popup, which it prints, or closes it.
"""

import os
import sys

import gi

gi.require_version("Gdk", "3.0")
gi.require_version("Gtk", "3.0")
from gi.repository import Gdk, Gio, GLib, Gtk

address, title, application = sys.argv[1:4]
flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
bus = Gio.DBusConnection.new_for_address_sync(address, flags, None, None)
bus.call_sync(
    "org.focusd.Focus1", "/org/focusd/Focus1", "org.focusd.Focus1.Manager", "Register",
    GLib.Variant("(sa{sv}a{sv})", (title, {"demo.Form.Name": GLib.Variant("s", title)}, {})), None,
    Gio.DBusCallFlags.NONE, -1, None)


def changed(_, event):
    if event.changed_mask & Gdk.WindowState.FOCUSED:
        print("active" if event.new_window_state & Gdk.WindowState.FOCUSED else "inactive", flush=True)


def typed(*_):
    lines = os.read(0, 65536).decode().splitlines()
    for line in lines:
        if line != "menu":
            window.set_title(line)
        elif popup.get_visible():
            popup.hide()
        else:
            popup.show_all()
    return bool(lines)


GLib.set_prgname(application)
Gdk.set_program_class(application)
window = Gtk.Window(title=title)
window.set_default_size(200, 100)
window.connect("window-state-event", changed)
window.connect("destroy", Gtk.main_quit)
popup = Gtk.Window(type=Gtk.WindowType.POPUP, transient_for=window, type_hint=Gdk.WindowTypeHint.POPUP_MENU)
popup.add(Gtk.Label(label="Item"))
popup.connect("map-event", lambda *_: print("menu", flush=True))
GLib.unix_fd_add_full(GLib.PRIORITY_DEFAULT, 0, GLib.IOCondition.IN, typed, None)
bus.connect("closed", lambda *_: Gtk.main_quit())
window.show_all()
Gtk.main()
