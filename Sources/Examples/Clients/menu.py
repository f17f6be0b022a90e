#!/usr/bin/python3
"""The actions of a GTK 4 window as the menus that `focusctl menu` lists; needs python3-gi and gir1.2-gtk-4.0.

While the window has focus, `focusctl menu 'Clock › Start'` starts the clock, and `focusctl menu Seconds on` shows its seconds.
"""
import gi

gi.require_version("Gtk", "4.0")
from gi.repository import Gio, GLib, Gtk

import focusd
import focusd_gtk

# For each action: the menus that it is in, its label, and the keys that run it.
MENUS = {
    "start": (["Clock"], "Start", "<Control>s"),
    "stop": (["Clock"], "Stop", "<Control>t"),
    "seconds": (["View"], "Seconds", ""),
}


def items(window):
    for name, (menus, label, keys) in MENUS.items():
        action = window.lookup_action(name)
        known, key, modifiers = Gtk.accelerator_parse(keys)
        state = action.get_state()
        yield (name, menus, label, Gtk.accelerator_get_label(key, modifiers) if known and key else "",
               action.get_enabled(), -1 if state is None else int(state.unpack()))


def find(window, name):
    action = window.lookup_action(name) if name in MENUS else None
    if action is None:
        raise ValueError(f"there is no item '{name}'")
    if not action.get_enabled():
        raise focusd.Disabled(f"'{MENUS[name][1]}' is disabled now")
    return action


def check(window, name, is_checked):
    action = find(window, name)
    if action.get_state() is None:
        raise ValueError(f"'{MENUS[name][1]}' cannot be checked")
    if action.get_state().unpack() != is_checked:
        action.change_state(GLib.Variant("b", is_checked))


def offer(window):
    """A field for the window, with the items of its menus. They are collected when somebody asks; nothing is kept elsewhere."""
    return focusd_gtk.field(window, focusd.Field("menu", commands={
        "org.focusd.Menu.Items::a(sasssbi)": lambda: list(items(window)),
        "org.focusd.Menu.Activate:s": lambda name: find(window, name).activate(None),
        "org.focusd.Menu.Check:sb": lambda name, is_checked: check(window, name, is_checked),
    }, label=window.get_title()))


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
    offer(window)
    window.present()


application = Gtk.Application(application_id="org.example.Clock", flags=Gio.ApplicationFlags.NON_UNIQUE)
application.connect("activate", activate)
application.run()
