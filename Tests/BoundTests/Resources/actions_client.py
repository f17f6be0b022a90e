"""GLib's own client of action groups, for which whatever has focus is one: python3 actions_client.py ADDRESS."""

import sys

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib

bus = Gio.DBusConnection.new_for_address_sync(
    sys.argv[1], Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION, None,
    None)
group = Gio.DBusActionGroup.get(bus, "org.focusd.Focus1", "/org/focusd/Focus1/focused")
loop = GLib.MainLoop()


def state_changed(_group, name, state):
    print("state", name, state.print_(False))
    group.activate_action("say", GLib.Variant("s", "hello"))


def enabled_changed(_group, name, is_enabled):
    print("enabled", name, is_enabled)
    loop.quit()


def added(_group, name):
    actions.add(name)
    if actions == {"save", "say", "bold", "paste"}:
        print("actions", *sorted(actions))
        group.activate_action("bold", None)


actions = set()
group.connect("action-added", added)
group.connect("action-state-changed", state_changed)
group.connect("action-enabled-changed", enabled_changed)
print("begun")
# The first query makes the group follow the actions.
for name in group.list_actions():
    added(group, name)
loop.run()
