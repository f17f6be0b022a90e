"""Clients of the daemon on GDBus, each a process with a connection of its own.

Each prints "ready" when it is connected, begins with the line "go" on its standard input, and prints one line of JSON
when it is done:

  count KEY N         N times reads a number and writes the next under the revision that it read, again on a conflict;
                      prints how often that went well, by field
  append KEY N        appends N structures (text, false), their texts numbers from 0 on
  toggle POINTER N    N times writes the opposite of what it last wrote, true first
  number N KEY...     writes the numbers from 1 to N to each of the elements, in turn
  observe KEY INDEX   until the member Done of the key's interface is told, takes in each signal that tells of the key;
                      prints how many there were, and each value that the element took
"""

import json
import sys

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib

NAME = "org.focusd.Focus1"
FOCUSED = "/org/focusd/Focus1/focused"
bus = Gio.bus_get_sync(Gio.BusType.SESSION, None)


def call(member, arguments, interface="org.focusd.Focus1.Bindings"):
    return bus.call_sync(NAME, FOCUSED, interface, member, arguments, None, Gio.DBusCallFlags.NONE, 60_000, None)


def read(key):
    values, field, revision = call("Read", GLib.Variant("(s)", (key,))).unpack()
    return values[0] if values else None, field, revision


def write(key, value, **options):
    return call("Write", GLib.Variant("(sva{sv})", (key, value, options))).unpack()


def ready():
    print("ready", flush=True)
    sys.stdin.readline()


def count(key, times):
    ready()
    done = {}
    for _ in range(int(times)):
        while True:
            number, _field, revision = read(key)
            try:
                _, field, _ = write(key, GLib.Variant("i", number + 1), revision=GLib.Variant("t", revision))
            except GLib.Error as error:
                if Gio.dbus_error_get_remote_error(error) != "org.focusd.Focus1.Error.Conflict":
                    raise
                continue
            done[field] = done.get(field, 0) + 1
            break
    print(json.dumps(done))


def append(key, times):
    ready()
    for number in range(int(times)):
        write(key + "/-", GLib.Variant("(sb)", (str(number), False)))
    print(json.dumps({}))


def toggle(pointer, times):
    ready()
    for number in range(int(times)):
        write(pointer, GLib.Variant("b", number % 2 == 0))
    print(json.dumps({}))


def number(times, *keys):
    ready()
    for value in range(1, int(times) + 1):
        for key in keys:
            write(key, GLib.Variant("i", value))
    print(json.dumps({}))


def observe(key, index):
    interface, member = key.rsplit(".", 1)
    seen = {"signals": 0, "values": []}

    def take(array):
        element = array[int(index)]
        if seen["values"][-1:] != [element]:
            seen["values"].append(element)

    def changed(_connection, _sender, _path, _interface, _member, arguments):
        _, values, _ = arguments.unpack()
        if member in values:
            seen["signals"] += 1
            take(values[member])
        if "Done" in values:
            loop.quit()

    bus.signal_subscribe(
        NAME, "org.freedesktop.DBus.Properties", "PropertiesChanged", FOCUSED, interface, Gio.DBusSignalFlags.NONE,
        changed)
    take(read(key)[0])
    loop = GLib.MainLoop()
    ready()
    loop.run()
    print(json.dumps(seen))


clients = {"count": count, "append": append, "toggle": toggle, "number": number, "observe": observe}
clients[sys.argv[1]](*sys.argv[2:])
