#!/usr/bin/python3
"""A text entry and a slider of Qt 6 as fields of focusd; needs python3-pyqt6.

While one of them has focus, `focusctl get Text.Content` or `focusctl run Range.Increment` reads or changes it.
"""
import os
import sys

from PyQt6.QtCore import QMetaType, QObject, Qt, pyqtClassInfo, pyqtProperty, pyqtSlot
from PyQt6.QtDBus import (
    QDBusAbstractAdaptor, QDBusArgument, QDBusConnection, QDBusMessage, QDBusObjectPath, QDBusPendingCallWatcher,
    QDBusPendingReply, QDBusServiceWatcher)
from PyQt6.QtWidgets import QApplication, QLineEdit, QSlider, QVBoxLayout, QWidget

DAEMON = "org.focusd.Focus1"


def adaptor(interface):
    return pyqtClassInfo("D-Bus Interface", interface)


@adaptor("org.focusd.Element")
class ElementAdaptor(QDBusAbstractAdaptor):
    def __init__(self, field):
        super().__init__(field)
        self.field = field

    @pyqtProperty(str)
    def Role(self):
        return self.field.role

    @pyqtProperty(str)
    def Name(self):
        return self.field.name


@adaptor(DAEMON + ".Responder")
class Responder(QDBusAbstractAdaptor):
    """Another program asks for focus, such as `focusctl focus ID`."""

    @pyqtSlot(QDBusObjectPath)
    def RequestFocus(self, _field):
        widget = self.parent().widget
        widget.window().activateWindow()
        widget.setFocus()


@adaptor("org.focusd.Text")
class TextAdaptor(QDBusAbstractAdaptor):
    keys = ["Content", "Length", "Caret", "SelectedText"]

    def __init__(self, field):
        super().__init__(field)
        self.entry = field.widget
        for signal in (self.entry.textChanged, self.entry.cursorPositionChanged, self.entry.selectionChanged):
            signal.connect(field.changed)

    @pyqtProperty(str)
    def Content(self):
        return self.entry.text()

    @Content.setter
    def Content(self, text):
        self.entry.setText(text)

    @pyqtProperty(int)
    def Length(self):
        return len(self.entry.text())

    # Qt counts in UTF-16, focusd in characters.
    @pyqtProperty(int)
    def Caret(self):
        before = self.entry.text().encode("utf-16-le")[:2 * self.entry.cursorPosition()]
        return len(before.decode("utf-16-le", "ignore"))

    @Caret.setter
    def Caret(self, position):
        self.entry.setCursorPosition(len(self.entry.text()[:position].encode("utf-16-le")) // 2)

    @pyqtProperty(str)
    def SelectedText(self):
        return self.entry.selectedText()

    @SelectedText.setter
    def SelectedText(self, text):
        self.entry.insert(text)


@adaptor("org.focusd.Range")
class RangeAdaptor(QDBusAbstractAdaptor):
    keys = ["Value"]

    def __init__(self, field):
        super().__init__(field)
        self.slider = field.widget
        self.slider.valueChanged.connect(field.changed)

    @pyqtProperty(float)
    def Value(self):
        return self.slider.value() / 100

    @Value.setter
    def Value(self, value):
        self.slider.setValue(round(value * 100))

    @pyqtProperty(float)
    def Minimum(self):
        return self.slider.minimum() / 100

    @pyqtProperty(float)
    def Maximum(self):
        return self.slider.maximum() / 100

    @pyqtProperty(float)
    def Step(self):
        return self.slider.singleStep() / 100

    @pyqtSlot()
    def Increment(self):
        self.slider.setValue(self.slider.value() + self.slider.singleStep())

    @pyqtSlot()
    def Decrement(self):
        self.slider.setValue(self.slider.value() - self.slider.singleStep())


class Field(QObject):
    """A widget as a field, whose keys are the properties of an object on the bus."""

    def __init__(self, name, role, interface, make_adaptor, widget):
        super().__init__(widget)
        self.name, self.role, self.interface, self.widget = name, role, interface, widget
        self.bus = QDBusConnection.sessionBus()
        # The process makes the id unique: FieldExists then means that this field is still registered.
        self.id = f"{name}_{os.getpid()}"
        self.told = {}
        self.adaptors = [ElementAdaptor(self), Responder(self), make_adaptor(self)]
        self.told = self.values()
        self.bus.registerObject("/" + self.id, self, QDBusConnection.RegisterOption.ExportAdaptors)

    def values(self):
        return {key: getattr(self.adaptors[-1], key) for key in self.adaptors[-1].keys}

    def changed(self, *_):
        """Tells the daemon what is different now."""
        now = self.values()
        changes = {key: value for key, value in now.items() if value != self.told.get(key)}
        self.told = now
        if changes:
            signal = QDBusMessage.createSignal("/" + self.id, "org.freedesktop.DBus.Properties", "PropertiesChanged")
            nothing = QDBusArgument([], QMetaType.Type.QStringList.value)
            signal.setArguments([self.interface, changes, nothing])
            self.bus.send(signal)

    def register(self, done):
        options = {"object": QDBusObjectPath("/" + self.id), "label": self.name}
        self.call("/org/focusd/Focus1", "Manager", "Register", [self.id, {}, options], done)

    def move_focus(self, method):
        self.call("/org/focusd/Focus1/field/" + self.id, "Field", method, [], lambda field: None)

    def call(self, path, interface, method, arguments, done):
        """Never waits: the daemon reads the object before it replies to Register."""

        def replied(watcher):
            reply = QDBusPendingReply(watcher)
            if reply.isError() and reply.error().name() != DAEMON + ".Error.FieldExists":
                print(method, self.id, reply.error().message(), flush=True)
            else:
                done(self)
            watcher.deleteLater()

        call = QDBusMessage.createMethodCall(DAEMON, path, f"{DAEMON}.{interface}", method)
        call.setArguments(arguments)
        QDBusPendingCallWatcher(self.bus.asyncCall(call), self).finished.connect(replied)


class Focus(QObject):
    """Keeps the focus of a window and that of its fields together."""

    def __init__(self, window, fields):
        super().__init__(window)
        self.window, self.fields, self.registered, self.focused = window, fields, set(), None
        QApplication.instance().focusWindowChanged.connect(self.moved)
        QApplication.instance().focusChanged.connect(self.moved)
        watcher = QDBusServiceWatcher(DAEMON, QDBusConnection.sessionBus(), parent=self)
        watcher.serviceRegistered.connect(self.appeared)
        watcher.serviceUnregistered.connect(self.registered.clear)
        self.appeared()

    def appeared(self, *_):
        for field in self.fields:
            field.register(self.is_registered)

    def is_registered(self, field):
        if field in self.registered:
            return
        self.registered.add(field)
        print("registered", field.id, flush=True)
        if field is self.focused:
            field.move_focus("Focus")

    def moved(self, *_):
        # None if no window of this application is active.
        widget = QApplication.focusWidget() if self.window.isActiveWindow() else None
        now = next((field for field in self.fields if field.widget is widget), None)
        before, self.focused = self.focused, now
        if now is not before:
            # From one field to another, Focus is enough.
            field, method = (now, "Focus") if now else (before, "Blur")
            if field in self.registered:
                field.move_focus(method)


application = QApplication(sys.argv)
# PyQt knows D-Bus's own types from the first dictionary on.
QDBusArgument({}, QMetaType.Type.QVariantMap.value)
window = QWidget(windowTitle="Qt 6")
entry, slider = QLineEdit("good morning"), QSlider(Qt.Orientation.Horizontal, maximum=100, value=50, singleStep=10)
layout = QVBoxLayout(window)
for widget in (entry, slider):
    layout.addWidget(widget)
fields = [Field("note", "textbox", "org.focusd.Text", TextAdaptor, entry),
          Field("volume", "slider", "org.focusd.Range", RangeAdaptor, slider)]
focus = Focus(window, fields)
window.show()
sys.exit(application.exec())
