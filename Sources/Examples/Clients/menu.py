#!/usr/bin/python3
"""The actions of a GTK 4 window as the menus that `focusctl menu` lists; needs python3-gi and gir1.2-gtk-4.0.

While the window has focus, `focusctl menu 'Clock › Start'` starts the clock, and `focusctl menu Seconds on` shows its seconds.
"""
import os

import gi

gi.require_version("Gtk", "4.0")
from gi.repository import Gio, GLib, Gtk

DAEMON = "org.focusd.Focus1"
INTERFACE = Gio.DBusNodeInfo.new_for_xml("""<node>
<interface name="org.focusd.Menu">
  <method name="Items"><arg name="items" type="a(sasssbi)" direction="out"/></method>
  <method name="Activate"><arg name="id" type="s" direction="in"/></method>
  <method name="Check">
    <arg name="id" type="s" direction="in"/><arg name="checked" type="b" direction="in"/>
  </method>
</interface>
</node>""").interfaces[0]
# For each action: the menus that it is in, its label, and the keys that run it.
MENUS = {
    "start": (["Clock"], "Start", "<Control>s"),
    "stop": (["Clock"], "Stop", "<Control>t"),
    "seconds": (["View"], "Seconds", ""),
}


class Menu:
    """A field with the items of a window's menus. What they are is told when somebody asks; nothing is kept elsewhere."""

    def __init__(self, bus, window):
        self.bus, self.window = bus, window
        # The process makes the id unique: FieldExists then means that this field is still registered.
        self.id = f"menu_{os.getpid()}"
        self.path = "/" + self.id
        bus.register_object(self.path, INTERFACE, self.called, None, None)
        window.connect("notify::is-active", self.moved)
        # Whenever the daemon appears, now or after a restart.
        Gio.bus_watch_name(Gio.BusType.SESSION, DAEMON, Gio.BusNameWatcherFlags.AUTO_START, self.register, None)

    def register(self, *_):
        options = {"object": GLib.Variant("o", self.path), "label": GLib.Variant("s", self.window.get_title())}
        self.call("", "Manager", "Register", GLib.Variant("(sa{sv}a{sv})", (self.id, {}, options)), self.registered)

    def registered(self):
        print("registered", self.id, flush=True)
        self.moved()

    def moved(self, *_):
        self.call("/field/" + self.id, "Field", "Focus" if self.window.is_active() else "Blur", None, lambda: None)

    def call(self, path, interface, method, arguments, done):
        """Never waits: the daemon reads the object before it replies to Register."""

        def replied(bus, result):
            try:
                bus.call_finish(result)
            except GLib.Error as error:
                if Gio.dbus_error_get_remote_error(error) != DAEMON + ".Error.FieldExists":
                    return print(method, self.id, error.message, flush=True)
            done()

        self.bus.call(DAEMON, "/org/focusd/Focus1" + path, f"{DAEMON}.{interface}", method, arguments, None, 0, -1, None,
                      replied)

    def items(self):
        for name, (menus, label, keys) in MENUS.items():
            action = self.window.lookup_action(name)
            known, key, modifiers = Gtk.accelerator_parse(keys)
            state = action.get_state()
            yield (name, menus, label, Gtk.accelerator_get_label(key, modifiers) if known and key else "",
                   action.get_enabled(), -1 if state is None else int(state.unpack()))

    def called(self, _bus, _sender, _path, _interface, method, arguments, invocation):
        if method == "Items":
            return invocation.return_value(GLib.Variant("(a(sasssbi))", (list(self.items()),)))
        name, *checked = arguments.unpack()
        action = self.window.lookup_action(name) if name in MENUS else None
        if action is None:
            return invocation.return_dbus_error("org.freedesktop.DBus.Error.InvalidArgs", f"there is no item '{name}'")
        if not action.get_enabled():
            return invocation.return_dbus_error(DAEMON + ".Error.Disabled", f"'{MENUS[name][1]}' is disabled now")
        if not checked:
            action.activate(None)
        elif action.get_state() is None:
            return invocation.return_dbus_error(
                "org.freedesktop.DBus.Error.InvalidArgs", f"'{MENUS[name][1]}' cannot be checked")
        elif action.get_state().unpack() != checked[0]:
            action.change_state(GLib.Variant("b", checked[0]))
        invocation.return_value(None)


def activate(application):
    window = Gtk.ApplicationWindow(application=application, title="Clock", default_width=360)
    start, stop = Gio.SimpleAction(name="start"), Gio.SimpleAction(name="stop", enabled=False)
    seconds = Gio.SimpleAction.new_stateful("seconds", None, GLib.Variant("b", False))

    def runs(is_running):
        start.set_enabled(not is_running)
        stop.set_enabled(is_running)
        print("started" if is_running else "stopped", flush=True)

    def shows(action, state):
        action.set_state(state)
        print("seconds", state.unpack(), flush=True)

    start.connect("activate", lambda *_: runs(True))
    stop.connect("activate", lambda *_: runs(False))
    seconds.connect("change-state", shows)
    for action in (start, stop, seconds):
        window.add_action(action)
        keys = MENUS[action.get_name()][2]
        application.set_accels_for_action("win." + action.get_name(), [keys] if keys else [])
    window.menu = Menu(application.get_dbus_connection(), window)
    window.present()


application = Gtk.Application(application_id="org.example.Clock", flags=Gio.ApplicationFlags.NON_UNIQUE)
application.connect("activate", activate)
application.run()
