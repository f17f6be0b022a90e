"""Binding: a player whose state others may change, and a plain copy of it: python3 toggle.py ADDRESS."""

from gi.repository import GLib

from focusd_owner import Owner

XML = """
<node><interface name="demo.Player">
  <property name="IsPlaying" type="b" access="readwrite"/>
  <property name="Copy" type="b" access="read"/>
</interface></node>
"""
is_playing = False
copy = is_playing


def put(_interface, _name, value):
    global is_playing
    is_playing = value
    print("playing" if is_playing else "paused")
    owner.changed("/player", "demo.Player", IsPlaying=GLib.Variant("b", is_playing))


owner = Owner()
owner.export("/player", XML, lambda _, name: is_playing if name == "IsPlaying" else copy, put, None)
owner.register("player", "/player", focus=GLib.Variant("b", True))
# The owner's own change.
owner.run(lambda word: put(None, None, word == "play"))
