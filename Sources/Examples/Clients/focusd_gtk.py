# SPDX-License-Identifier: Apache-2.0
"""Widgets of GTK 3 and GTK 4 as fields of focusd, in a line each. Copy focusd.py and this file beside your program.

    gi.require_version("Gtk", "4.0")    # or "3.0", before the import
    import focusd_gtk

    focusd_gtk.entry(entry, "note", label="Note")      # Gtk.Entry, Gtk.SearchEntry, Gtk.PasswordEntry …
    focusd_gtk.text_view(view, "letter")               # Gtk.TextView, GtkSource.View
    focusd_gtk.range(scale, "volume")                  # Gtk.Scale, Gtk.SpinButton
    focusd_gtk.toggle(check, "wrap")                   # Gtk.CheckButton, Gtk.ToggleButton, Gtk.Switch

Each returns the `focusd.Field`, whose focus follows that of the widget and its window. Each takes what `Field` takes, so that a widget may
have more values and commands. A field goes with its widget or window. For a widget of another kind, or a window with what is the same for
all in it, make a `focusd.Field` and let it follow:

    document = focusd_gtk.field(window, focusd.Field("letter", {"org.focusd.Document.Path": path}, {"org.focusd.Document.Save": save}))
    focusd_gtk.text_view(view, "text", parent=document)
"""
import collections
import functools

from gi.repository import Gtk

import focusd

IS_4 = Gtk.get_major_version() == 4
_fields = {}


def field(widget, field, *signals):
    """Lets the focus of a field of your own follow that of a widget or window, and its values the `signals` of that."""
    _fields[widget] = field
    for signal in signals:
        widget.connect(signal, lambda *_: field.publish())
    widget.connect("notify::root" if IS_4 else "hierarchy-changed", _placed)
    widget.connect("destroy", _forget)
    _placed(widget)
    return field


def _take_focus(widget):
    def take():
        _window(widget).present()
        widget.grab_focus()

    return take


def _window(widget):
    window = widget.get_root() if IS_4 else widget.get_toplevel()
    return window if isinstance(window, Gtk.Window) else None


def _placed(widget, *_):
    window = _window(widget)
    if window and not hasattr(window, "focusd_is_followed"):
        window.focusd_is_followed = True
        window.connect("notify::is-active", _moved)
        window.connect_after(*(("notify::focus-widget", _moved) if IS_4 else ("set-focus", _moved)))
        window.connect("destroy", lambda *_: [_forget(widget) for widget in [*_fields] if _window(widget) in (None, window)])
    _moved()


def _forget(widget):
    if widget in _fields:
        _fields.pop(widget).unregister()


def _moved(*_):
    window = next((window for window in Gtk.Window.list_toplevels() if window.is_active()), None)
    widget = window and (window.get_focus() or window)
    # The innermost field. The focus of an entry of GTK 4 is in the text within it.
    while widget and widget not in _fields:
        widget = widget.get_parent()
    now, before = _fields.get(widget), focusd.Field.focused
    if now and now is not before:
        now.focus()
    elif not now and before in _fields.values():
        before.blur()


class _History:
    """Undo for entries and views of GTK 3, which have none. Of long texts it has fewer steps."""

    MOST_STEPS, MOST_CHARACTERS = 1_000, 10_000_000

    def __init__(self, text, write):
        self.text, self.write, self.is_busy = text, write, False
        self.begin()

    def begin(self):
        self.now, self.before, self.after = self.text(), [], []

    def changed(self, *_):
        if not self.is_busy and self.text() != self.now:
            self.before.append(self.now)
            del self.before[: -max(1, min(self.MOST_STEPS, self.MOST_CHARACTERS // len(self.now or " ")))]
            self.after.clear()
            self.now = self.text()

    def edit(self, function, *arguments):
        """What the function changes is one step."""
        self.is_busy = True
        try:
            function(*arguments)
        finally:
            self.is_busy = False
        self.changed()

    def step(self, source, target):
        if source:
            target.append(self.now)
            self.now = source.pop()
            self.edit(self.write, self.now)


def _edit(target, text, write, has_undo=IS_4):
    """The commands, and a function that changes the text in one step."""
    if IS_4:
        actions = {"Undo": "text.undo", "Redo": "text.redo", "Cut": "clipboard.cut", "Copy": "clipboard.copy", "Paste": "clipboard.paste"}
        return {name: lambda action=action: target.activate_action(action, None) and None for name, action in actions.items()}, None
    history = _History(text, write)
    commands = {name: lambda name=name: target.emit(name.lower() + "-clipboard") for name in ("Cut", "Copy", "Paste")}
    commands["Undo"] = lambda: history.step(history.before, history.after)
    commands["Redo"] = lambda: history.step(history.after, history.before)
    return commands, history


def _editable(widget):
    if not widget.is_sensitive() or not getattr(widget, "get_editable", lambda: True)():
        raise focusd.PropertyReadOnly("it cannot be edited now")


_if_editable = functools.partial(focusd.guarded, _editable)


def _if_all_editable(widget, commands):
    return {name: run if name == "Copy" else _if_editable(widget, run) for name, run in commands.items()}


def entry(widget, name, **options):
    """A text entry; one that hides its text is secret."""
    is_visible = getattr(widget, "get_visibility", lambda: not isinstance(widget, getattr(Gtk, "PasswordEntry", ())))

    def text():
        return widget.get_text() if is_visible() else None

    def selection():
        return tuple(widget.get_selection_bounds()) or (widget.get_position(),) * 2

    def write(start, end, new):
        before = widget.get_text()
        widget.delete_text(start, -1 if end is None else end)
        between = widget.get_text()
        widget.set_position(widget.insert_text(new, start))
        if between not in (before, widget.get_text()):
            halves.extend([(widget.get_text(), between), (before, between)])

    def replace(start, end, new):
        _editable(widget)
        history.edit(write, start, end, new) if history else write(start, end, new)

    def whole(step):
        before = widget.get_text()
        step()
        if (before, widget.get_text()) in halves:
            step()

    halves = collections.deque(maxlen=256)  # GTK 4 undoes a write in two steps
    commands, history = _edit((widget.get_delegate() or widget) if IS_4 else widget, widget.get_text, lambda new: write(0, None, new))
    if history:
        widget.connect("changed", history.changed)
    else:
        commands.update({name: lambda step=commands[name]: whole(step) for name in ("Undo", "Redo")})
    made = focusd.text_field(name, text, widget.get_position, selection, widget.select_region, replace,
                             _if_all_editable(widget, commands), not is_visible(), on_focus=_take_focus(widget), **options)
    return field(widget, made, "changed", "notify::cursor-position", "notify::selection-bound", "notify::visibility")


def text_view(widget, name, **options):
    """A text of several lines."""
    def text():
        buffer = widget.get_buffer()
        return buffer.get_slice(*buffer.get_bounds(), True)

    def caret():
        buffer = widget.get_buffer()
        return buffer.get_iter_at_mark(buffer.get_insert()).get_offset()

    def selection():
        return tuple(end.get_offset() for end in widget.get_buffer().get_selection_bounds()) or (caret(), caret())

    def select(start, end):
        buffer = widget.get_buffer()
        buffer.select_range(buffer.get_iter_at_offset(end), buffer.get_iter_at_offset(start))

    def write(start, end, new):
        buffer = widget.get_buffer()
        buffer.begin_user_action()
        buffer.delete(buffer.get_iter_at_offset(start), buffer.get_iter_at_offset(-1 if end is None else end))
        buffer.insert(buffer.get_iter_at_offset(start), new)
        buffer.end_user_action()

    def replace(start, end, new):
        _editable(widget)
        history.edit(write, start, end, new) if history else write(start, end, new)

    commands, history = _edit(widget, text, lambda new: write(0, None, new))
    if hasattr(widget.get_buffer(), "undo") and not IS_4:
        own = {"Undo": lambda: widget.get_buffer().undo(), "Redo": lambda: widget.get_buffer().redo()}
        commands, history = {**commands, **own}, None
    made = focusd.text_field(name, text, caret, selection, select, replace, _if_all_editable(widget, commands),
                             on_focus=_take_focus(widget), **options)

    def follow(*_):
        buffer = widget.get_buffer()
        if history:
            history.begin()
            buffer.connect("changed", history.changed)
        for signal in ("changed", "mark-set"):
            buffer.connect(signal, lambda *_: made.publish())
        made.publish()

    widget.connect("notify::buffer", follow)
    follow()
    return field(widget, made)


def range(widget, name, values={}, commands={}, **options):
    """A slider or a spin button."""
    adjustment, key = widget.get_adjustment(), "org.focusd.Range."

    def move(direction):
        step = adjustment.get_step_increment() or (adjustment.get_upper() - adjustment.get_lower()) / 100
        widget.set_value(widget.get_value() + direction * step)

    change = _if_editable(widget, move)
    made = focusd.Field(
        name, {"org.focusd.Element.Role": "spinbutton" if isinstance(widget, Gtk.SpinButton) else "slider",
               "org.focusd.Element.Name": options.get("label", name),
               key + "Value": (widget.get_value, _if_editable(widget, widget.set_value)), key + "Minimum": adjustment.get_lower,
               key + "Maximum": lambda: adjustment.get_upper() - adjustment.get_page_size(),
               key + "Step": adjustment.get_step_increment, **values},
        {key + "Increment": lambda: change(1), key + "Decrement": lambda: change(-1), **commands}, _take_focus(widget), **options)
    adjustment.connect("changed", lambda *_: made.publish())
    return field(widget, made, "value-changed")


def toggle(widget, name, values={}, commands={}, **options):
    """A check box, a switch or a toggle button."""
    role = "switch" if isinstance(widget, Gtk.Switch) else "checkbox" if isinstance(widget, Gtk.CheckButton) else "button"
    made = focusd.Field(
        name, {"org.focusd.Element.Role": role, "org.focusd.Element.Name": options.get("label", name),
               "org.focusd.Toggle.Checked": (widget.get_active, _if_editable(widget, widget.set_active)), **values},
        commands, _take_focus(widget), **options)
    return field(widget, made, "notify::active")
