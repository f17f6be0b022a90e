"""A GLib action group, exported as it is; no line here knows of focusd but the one that registers it."""

from gi.repository import Gio, GLib

from focusd_owner import Owner

group = Gio.SimpleActionGroup()
save = Gio.SimpleAction.new("save", None)
save.connect("activate", lambda *_: print("saved"))
say = Gio.SimpleAction.new("say", GLib.VariantType.new("s"))
say.connect("activate", lambda _, text: print("said", text.get_string()))
bold = Gio.SimpleAction.new_stateful("bold", None, GLib.Variant("b", False))
paste = Gio.SimpleAction.new("paste", None)
paste.set_enabled(False)


def toggled(action, _parameter):
    action.set_state(GLib.Variant("b", not action.get_state().get_boolean()))
    print("bold", action.get_state().get_boolean())


bold.connect("activate", toggled)
for action in (save, say, bold, paste):
    group.add_action(action)

owner = Owner()
owner.bus.export_action_group("/actions", group)
owner.register("actions", "/actions", focus=GLib.Variant("b", True))
owner.run(lambda *_: paste.set_enabled(True))
