"""One window in the toolkit that the command line names."""


def run(toolkit, title, gtk_widgets, qt_widgets):
    """Shows a window of TOOLKIT with the widgets, in a column, that gtk_widgets(Gtk) or qt_widgets(QtWidgets) makes."""
    if toolkit == "qt5":
        from PyQt5 import QtWidgets

        _qt(QtWidgets, title, qt_widgets)
    elif toolkit == "qt6":
        from PyQt6 import QtWidgets

        _qt(QtWidgets, title, qt_widgets)
    else:
        _gtk({"gtk3": "3.0", "gtk4": "4.0"}[toolkit], title, gtk_widgets)


def _gtk(version, title, widgets):
    import gi

    gi.require_version("Gtk", version)
    from gi.repository import Gtk

    def show(application):
        window = Gtk.ApplicationWindow(application=application, title=title)
        box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
        for widget in widgets(Gtk):
            box.append(widget) if version == "4.0" else box.add(widget)
        if version == "4.0":
            window.set_child(box)
            window.present()
        else:
            window.add(box)
            window.show_all()

    application = Gtk.Application(application_id="org.focusd." + title)
    application.connect("activate", show)
    application.run([])


def _qt(widgets, title, make):
    application = widgets.QApplication([title])
    window = widgets.QWidget()
    window.setWindowTitle(title)
    layout = widgets.QVBoxLayout(window)
    for widget in make(widgets):
        layout.addWidget(widget)
    window.show()
    application.exec_() if hasattr(application, "exec_") else application.exec()
