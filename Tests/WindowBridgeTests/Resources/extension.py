"""Plays the extension of GNOME Shell as the test says: what it is sent at /test it answers, or tells its followers."""
import sys

import dbus.bus
import dbus.lowlevel
import dbus.mainloop.glib
from gi.repository import GLib

NAME = "org.focusd.GNOMEShell1"
PATH = "/org/focusd/GNOMEShell1"

dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.bus.BusConnection(sys.argv[1])
followers = []
orders = []
state = {"answer": None, "follows": 0}
# After so many refusals it answers by itself: whoever follows asks for some seconds only.
refusals = int(sys.argv[2]) if sys.argv[2] else None
ONE = [dbus.UInt32(1), [(dbus.UInt64(5), {"title": "one"})], dbus.UInt64(5)], "ua(ta{sv})t"


def reply(message, arguments=(), signature=""):
    answer = dbus.lowlevel.MethodReturnMessage(message)
    if signature:
        answer.append(*arguments, signature=signature)
    bus.send_message(answer)


def told(message):
    """What the test has it do."""
    arguments, signature = message.get_args_list(), message.get_signature()
    member = message.get_member()
    if member == "Answer":
        state["answer"] = (arguments, signature)
    elif member == "Follows":
        return reply(message, [state["follows"]], "i")
    elif member == "Orders":
        return reply(message, [dbus.Array(orders, signature="s")], "as")
    else:
        tell_followers(member, arguments, signature)
    reply(message)


def tell_followers(member, arguments, signature):
    for follower in followers:
        signal = dbus.lowlevel.SignalMessage(PATH, NAME, member)
        signal.set_destination(follower)
        if signature:
            signal.append(*arguments, signature=signature)
        bus.send_message(signal)


def ordered(message):
    """What the bridge asks for."""
    if message.get_member() != "Follow":
        orders.append(" ".join(str(argument) for argument in [message.get_member()] + message.get_args_list()))
        if len(orders) > 3:
            return bus.send_message(dbus.lowlevel.ErrorMessage(message, NAME + ".Refused", "no more orders"))
        reply(message)
        # The bridge waits some seconds for what it asked for.
        if message.get_member() == "Activate":
            tell_followers("Front", message.get_args_list(), "t")
        return None
    state["follows"] += 1
    if refusals is not None and state["follows"] > refusals:
        state["answer"] = ONE
    if state["answer"] is None:
        unknown = "org.freedesktop.DBus.Error.UnknownMethod"
        return bus.send_message(dbus.lowlevel.ErrorMessage(message, unknown, "there is no Follow"))
    followers.append(message.get_sender())
    reply(message, *state["answer"])


def received(_connection, message):
    if message.get_type() != 1 or message.get_path() not in (PATH, "/test"):
        return dbus.lowlevel.HANDLER_RESULT_NOT_YET_HANDLED
    (ordered if message.get_path() == PATH else told)(message)
    return dbus.lowlevel.HANDLER_RESULT_HANDLED


bus.add_message_filter(received)
bus.request_name(NAME, dbus.bus.NAME_FLAG_DO_NOT_QUEUE)
print("ready", flush=True)
GLib.MainLoop().run()
