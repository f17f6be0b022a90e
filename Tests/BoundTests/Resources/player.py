"""A media player by the MPRIS interfaces, as a field: it owns no name that a player would have."""

from gi.repository import GLib

from focusd_owner import Owner

XML = """
<node>
  <interface name="org.mpris.MediaPlayer2">
    <property name="Identity" type="s" access="read"/>
    <property name="CanQuit" type="b" access="read"/>
    <property name="CanRaise" type="b" access="read"/>
    <property name="HasTrackList" type="b" access="read"/>
  </interface>
  <interface name="org.mpris.MediaPlayer2.Player">
    <method name="PlayPause"/><method name="Play"/><method name="Pause"/><method name="Stop"/>
    <method name="Next"/><method name="Previous"/>
    <method name="Seek"><arg name="Offset" type="x" direction="in"/></method>
    <property name="PlaybackStatus" type="s" access="read"/>
    <property name="Metadata" type="a{sv}" access="read"/>
    <property name="Volume" type="d" access="readwrite"/>
    <property name="Position" type="x" access="read">
      <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="false"/>
    </property>
    <property name="CanPlay" type="b" access="read"/><property name="CanPause" type="b" access="read"/>
    <property name="CanSeek" type="b" access="read"/><property name="CanControl" type="b" access="read"/>
    <property name="CanGoNext" type="b" access="read"/><property name="CanGoPrevious" type="b" access="read"/>
  </interface>
</node>
"""
PLAYER = "org.mpris.MediaPlayer2.Player"
state = {
    "Identity": "Mock", "CanQuit": False, "CanRaise": False, "HasTrackList": False, "PlaybackStatus": "Paused",
    "Metadata": {"mpris:trackid": GLib.Variant("o", "/track/1"), "xesam:title": GLib.Variant("s", "A Song")},
    "Volume": 0.5, "Position": 12_000_000, "CanPlay": True, "CanPause": True, "CanSeek": True, "CanControl": True,
    "CanGoNext": True, "CanGoPrevious": True,
}


def change(name, type, value):
    state[name] = value
    print(name, value)
    owner.changed("/player", PLAYER, **{name: GLib.Variant(type, value)})


def call(_interface, method, arguments):
    if method == "PlayPause":
        change("PlaybackStatus", "s", "Paused" if state["PlaybackStatus"] == "Playing" else "Playing")
    elif method == "Seek":
        state["Position"] += arguments[0]
        print("Position", state["Position"])


owner = Owner()
owner.export("/player", XML, lambda _, name: state[name], lambda _, name, value: change(name, "d", value), call)
owner.register("player", "/player", focus=GLib.Variant("b", True))
owner.run()
