"""A D-Bus peer on GDBus, told what to do by JSON lines on standard input; Tests/TestSupport/GDBusPeer.swift is the other end.

It prints its unique name, then a JSON line for each reply and each signal. It ends with its input.
"""

import json
import os
import sys

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib

INTERFACE = """
<node><interface name="test.Peer">
  <!-- gives back what it got, file descriptors included -->
  <method name="Echo"><arg type="v" direction="in"/><arg type="v" direction="out"/></method>
  <!-- emits the signal Unwrapped with what the variants hold as its arguments -->
  <method name="Unwrap"><arg type="av" direction="in"/></method>
  <!-- the value as GVariant prints it -->
  <method name="Print"><arg type="v" direction="in"/><arg type="s" direction="out"/></method>
  <!-- replies with an error of that name -->
  <method name="Fail"><arg type="s" direction="in"/><arg type="s" direction="in"/></method>
  <!-- never replies -->
  <method name="Hang"/>
</interface></node>
"""


def out(**event):
    print(json.dumps(event), flush=True)


def called(connection, _sender, path, interface, method, arguments, invocation):
    if method == "Echo":
        descriptors = invocation.get_message().get_unix_fd_list()
        invocation.return_value_with_unix_fd_list(arguments, descriptors)
    elif method == "Unwrap":
        values = arguments.get_child_value(0)
        contents = [values.get_child_value(i).get_variant() for i in range(values.n_children())]
        connection.emit_signal(None, path, interface, "Unwrapped", GLib.Variant.new_tuple(*contents))
        invocation.return_value(None)
    elif method == "Print":
        text = arguments.get_child_value(0).get_variant().print_(True)
        invocation.return_value(GLib.Variant("(s)", (text,)))
    elif method == "Fail":
        invocation.return_dbus_error(*arguments.unpack())


def replied(connection, result, order_id):
    try:
        value = connection.call_finish(result)
        out(id=order_id, result=value.print_(True))
    except GLib.Error as error:
        name = Gio.dbus_error_get_remote_error(error) or "local"
        Gio.dbus_error_strip_remote_error(error)
        out(id=order_id, error=name, message=error.message)


def signalled(_connection, sender, path, interface, member, arguments):
    out(signal=dict(sender=sender, path=path, interface=interface, member=member, arguments=arguments.print_(True)))


def obey(order):
    if order["operation"] == "call":
        arguments = GLib.Variant.parse(None, order["arguments"], None, None)
        bus.call(
            order["destination"], order["path"], order["interface"], order["member"], arguments, None,
            Gio.DBusCallFlags.NONE, 2**31 - 1, None, replied, order["id"])
    elif order["operation"] == "subscribe":
        bus.signal_subscribe(
            order["destination"] or None, order["interface"] or None, None, None, None,
            Gio.DBusSignalFlags.NONE, signalled)
        out(id=order["id"], result="()")


buffered = b""


def readable(descriptor, _condition):
    global buffered
    chunk = os.read(descriptor, 1 << 16)
    if not chunk:
        loop.quit()
        return False
    *lines, buffered = (buffered + chunk).split(b"\n")
    for line in lines:
        order = json.loads(line)
        try:
            obey(order)
        except GLib.Error as error:
            out(id=order["id"], error="local", message=error.message)
    return True


bus = Gio.DBusConnection.new_for_address_sync(
    sys.argv[1],
    Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION, None, None)
bus.register_object("/peer", Gio.DBusNodeInfo.new_for_xml(INTERFACE).interfaces[0], called, None, None)
print(bus.get_unique_name(), flush=True)
loop = GLib.MainLoop()
GLib.unix_fd_add_full(GLib.PRIORITY_DEFAULT, 0, GLib.IOCondition.IN | GLib.IOCondition.HUP, readable)
loop.run()
